"""Which tool is meant, learned from what people say for each: multinomial logistic regression over the vectors of the tools' passages.

Nearest passages alone take a tool for meant whose passages are near to everything. The classifier knows what tells the passages of one tool from those of all
others.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

log = logging.getLogger(__name__)

_DECAY = 1e-5  # of the weights
_STEPS, _STEP = 200, 0.1  # of Adam (Kingma and Ba 2015)
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8  # its usual values

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class ToolClassifier:
    """``weights`` (D, N) of the tools ``names``: a column times a sentence's unit vector (D,) is the logit of a tool."""

    names: tuple[str, ...]
    weights: npt.NDArray[np.float32]

    def log_shares(self, vector: Floats, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """(len(names),) logarithm of how likely each is meant, of those of them that it knows; NaN for the others."""
        known = {name: index for index, name in enumerate(self.names)}
        columns = [known.get(name, -1) for name in names]
        logits = np.where(np.array(columns) < 0, np.nan, np.asarray(vector, float) @ self.weights[:, columns])
        if np.isnan(logits).all():
            return np.asarray(logits, float)
        logits = logits - np.nanmax(logits)
        return np.asarray(logits - np.log(np.nansum(np.exp(logits))), float)


def trained(vectors: Floats, tools: Sequence[str]) -> ToolClassifier:
    """From unit vectors (P, D) of passages and the tool of each; all tools count alike, however many passages they have. The same for the same data."""
    names = tuple(dict.fromkeys(tools))
    index = {name: number for number, name in enumerate(names)}
    labels = np.array([index[name] for name in tools])
    x = np.asarray(vectors, np.float64)
    share = (1.0 / np.bincount(labels))[labels] / len(names)
    wanted = np.zeros((len(labels), len(names)))
    wanted[np.arange(len(labels)), labels] = 1.0
    weights = np.zeros((x.shape[1], len(names)))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        logits = x @ weights
        likely = np.exp(logits - logits.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        slope = x.T @ ((likely - wanted) * share[:, None]) + _DECAY * weights
        first, second = _FIRST * first + (1 - _FIRST) * slope, _SECOND * second + (1 - _SECOND) * slope**2
        weights = weights - _STEP * (first / (1 - _FIRST**step)) / (np.sqrt(second / (1 - _SECOND**step)) + _TINY)
    return ToolClassifier(names, weights.astype(np.float32))


def save_classifier(file: Path, classifier: ToolClassifier, model: str) -> None:
    """Write it, for the sentence model of that name. Raises OSError."""
    np.savez_compressed(file, model=np.array(model), names=np.array(classifier.names), weights=classifier.weights.astype(np.float16))


def read_classifier(file: Path, model: str) -> ToolClassifier | None:
    """What :func:`save_classifier` wrote; None where there is none, or for another sentence model. A file that is broken is said."""
    if not file.exists():
        return None
    try:
        with np.load(file, allow_pickle=False) as data:
            if str(data["model"]) != model:
                return None
            return ToolClassifier(tuple(str(name) for name in data["names"]), np.asarray(data["weights"], np.float32))
    except (OSError, ValueError, KeyError, EOFError) as error:
        log.warning("%s does not hold the classifier of the search; it is left out: %s", file, error)
        return None
