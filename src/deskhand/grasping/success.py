"""The probability that a pick succeeds: a logistic model of the grasp's features, fitted on simulated picks (config/grasping.yaml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.grasping.features import NAMES
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

CONFIG = "config/grasping.yaml"


@dataclass(frozen=True)
class SuccessModel:
    """Log odds = ``bias`` - ``weights`` (len(NAMES),) . features: every feature says what is not as it should be."""

    bias: float
    weights: Array

    def probability(self, features: Array) -> Array:
        """(M,) 0..1 of features (M, len(NAMES))."""
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(self.bias - features @ self.weights, -30.0, 30.0))))


@cache
def load_success_model(file: str | Path | None = None) -> SuccessModel:
    """The model of ``file``, default ``config/grasping.yaml``.

    Raises:
        DeskhandError: ``config_error`` naming what is wrong in the file.
    """
    path = Path(file) if file else resource_path(CONFIG)
    try:
        data = read_yaml(path)["success"]
        weights = {name: float(value) for name, value in data["weights"].items()}
        bias = float(data["bias"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DeskhandError("config_error", f"{path} is not a valid grasp success model: {error!r}.", hint="See docs/grasping.md.") from error
    if set(weights) != set(NAMES) or not np.all(np.isfinite([bias, *weights.values()])):
        raise DeskhandError("config_error", f"{path}: success.weights must have exactly these finite numbers: {', '.join(NAMES)}.")
    return SuccessModel(bias, np.array([weights[name] for name in NAMES]))
