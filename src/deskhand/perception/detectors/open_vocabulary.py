"""Detectors that are told in words what to look for (YOLO-World and its like), from ONNX files that the user supplies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.perception.detectors.base import Detection, Pixels, Vocabulary
from deskhand.perception.detectors.closed_set import from_letterbox, named, side
from deskhand.perception.detectors.onnx_model import Floats, OnnxModel, letterboxed
from deskhand.types import Frame

CONTEXT = 77
"""Tokens that a CLIP text encoder reads."""


class TextEncoder:
    """Prompts to vectors of length 1: a CLIP text encoder as ONNX (token numbers (N, 77) -> (N, D)) and its ``tokenizer.json``."""

    def __init__(self, encoder: str | Path, tokenizer: str | Path) -> None:
        self._model, self._tokenizer_file = OnnxModel(encoder, "text encoder"), Path(tokenizer).expanduser()

    def embed(self, prompts: Sequence[str]) -> Floats:
        """(N, D). Raises ``missing_dependency`` without the package tokenizers, ``config_error``, ``model_failed``."""
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise DeskhandError("missing_dependency", "the package 'tokenizers' is not installed.", hint="pip install tokenizers") from error
        try:
            tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
        except Exception as error:  # tokenizers raises bare exceptions
            raise DeskhandError("config_error", f"{self._tokenizer_file} is no tokenizer: {error}.", hint="CLIP models come with a tokenizer.json.") from error
        tokenizer.enable_truncation(CONTEXT)
        tokenizer.enable_padding(length=CONTEXT)
        tokens = np.array([item.ids for item in tokenizer.encode_batch(list(prompts))], dtype=np.int64)
        (name, _), *others = self._model.inputs()
        feed: dict[str, npt.NDArray[Any]] = {name: tokens}
        feed |= {other: np.asarray(tokens != 0, dtype=np.int64) for other, _ in others}  # the attention mask, where it takes one
        outputs = self._model.run(feed)
        return unit(next((output for output in outputs if output.ndim == 2), outputs[0]))


class StoredEmbeddings:
    """Vectors made beforehand: an ``.npz`` file with one array (D,) a prompt, by the prompt's words."""

    def __init__(self, file: str | Path) -> None:
        self._file = Path(file).expanduser()

    def embed(self, prompts: Sequence[str]) -> Floats:
        """(N, D). Raises ``config_error`` when the file is missing, or lacks a prompt."""
        try:
            with np.load(self._file) as stored:
                return unit(np.stack([stored[prompt] for prompt in prompts]))
        except (OSError, KeyError, ValueError) as error:
            raise DeskhandError("config_error", f"{self._file} does not hold the vectors of the prompts: {error}.") from error


class OpenVocabularyDetector:
    """A model with two inputs: a picture (1, 3, H, W) and text vectors (1, N, D).

    It gives ``scores`` (1, M, N) and ``boxes`` (1, M, 4) (left, top, right, bottom) [px of the input], or one output (1, 4 + N, M) as YOLO does.
    ``prompts``: kind -> what to look for; every prompt is asked, the best of a kind counts.
    """

    def __init__(
        self,
        name: str,
        weights: str | Path,
        texts: TextEncoder | StoredEmbeddings,
        prompts: Mapping[str, Sequence[str]],
        *,
        min_score: float = 0.2,
        weight: float = 0.6,
    ) -> None:
        if not any(prompts.values()):
            raise DeskhandError("config_error", f"the detector {name} has no prompts.", hint="Set prompts in config/detectors.yaml: {cup: [a cup, a mug]}.")
        self.name, self.weight = f"onnx:{name}", weight
        self.model = OnnxModel(weights, f"file of weights for the detector {name}")
        self._texts, self._min_score = texts, min_score
        self._asked = [(kind, prompt) for kind, words in prompts.items() for prompt in words]
        self._vectors: Floats | None = None

    def detect(self, frame: Frame, objects: Sequence[Pixels] = ()) -> list[Detection]:
        """See Detector."""
        if self._vectors is None:
            self._vectors = self._texts.embed([prompt for _, prompt in self._asked])
        picture, text, size = self._inputs()
        image, scale, offset = letterboxed(frame.color, side(size[3]), side(size[2]))
        boxes, scores = self._read(self.model.run({picture: image, text: self._vectors[None]}))
        return named((boxes - np.tile(offset, 2)) / scale, scores, [kind for kind, _ in self._asked], self.name, self._min_score, Vocabulary())

    def _inputs(self) -> tuple[str, str, list[Any]]:
        """Names of the picture and the text input, and the shape of the picture's."""
        by_rank = {len(shape): (name, shape) for name, shape in self.model.inputs()}
        if set(by_rank) != {3, 4}:
            raise DeskhandError(
                "config_error",
                f"{self.model.file} takes {json.dumps([name for name, _ in self.model.inputs()])}, not a picture and text vectors.",
                hint="A model with the words built in is a closed set: configure it as such.",
            )
        return by_rank[4][0], by_rank[3][0], by_rank[4][1]

    def _read(self, outputs: Sequence[npt.NDArray[Any]]) -> tuple[Floats, Floats]:
        """Boxes (M, 4) in the letterboxed picture and scores (M, N)."""
        count = len(self._asked)
        if len(outputs) == 1 and outputs[0].ndim == 3 and outputs[0].shape[1] == 4 + count:
            return from_letterbox(outputs[0][0, :4].T, 1.0, np.zeros(2)), np.ascontiguousarray(outputs[0][0, 4:].T, dtype=np.float32)
        shaped = [output[0] for output in outputs if output.ndim == 3]
        scores = [output for output in shaped if output.shape[1] == count]
        boxes = [output for output in shaped if output.shape[1] == 4 and output is not (scores[0] if scores else None)]
        if not boxes or not scores:
            raise DeskhandError("config_error", f"{self.model.file} gives {[output.shape for output in outputs]}, not boxes and scores of {count} prompts.")
        return boxes[-1].astype(np.float32), scores[0].astype(np.float32)


def unit(vectors: npt.NDArray[Any]) -> Floats:
    """(N, D), each of length 1."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-9), dtype=np.float32)
