"""Detectors with a fixed list of labels, from an ONNX file: SSD (as `deskhand detectors import` makes it) and YOLO (as its exporters make it)."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.perception.detectors.base import Detection, Pixels, Vocabulary, non_maximum_suppression
from deskhand.perception.detectors.onnx_model import Floats, OnnxModel, letterboxed, stretched
from deskhand.types import Frame, Image

FORMATS = ("ssd", "yolo")


class ClosedSetDetector:
    """One model.

    ``form``: one of :data:`FORMATS`, or empty: what the file says. Boxes that overlap by more than half are one object.

    - ``ssd``: outputs ``boxes`` (1, N, 4), (left, top, right, bottom) as shares of the picture, and ``scores`` (1, N, C).
    - ``yolo``: output (1, 4 + C, N), (centre x, centre y, width, height) [px of the input] and scores; labels in the metadata ``names``.
    """

    def __init__(
        self,
        name: str,
        weights: str | Path,
        *,
        form: str = "",
        labels: Sequence[str] = (),
        vocabulary: Vocabulary | None = None,
        min_score: float = 0.4,
        weight: float = 0.6,
    ) -> None:
        self.name, self.weight = f"onnx:{name}", weight
        self.model = OnnxModel(weights, f"file of weights for the detector {name}")
        self._form, self._labels, self._min_score = form, tuple(labels), min_score
        self._vocabulary = vocabulary or Vocabulary()
        if form and form not in FORMATS:
            raise DeskhandError("config_error", f"the detector {name} has the unknown format {form!r}; valid: {', '.join(FORMATS)}.")

    def detect(self, frame: Frame, objects: Sequence[Pixels] = ()) -> list[Detection]:
        """See Detector."""
        form, labels = self._about()
        boxes, scores = (_ssd if form == "ssd" else _yolo)(self.model, frame.color)
        if scores.shape[1] != len(labels):
            raise DeskhandError("config_error", f"{self.model.file} tells {scores.shape[1]} classes apart, but {len(labels)} labels are given.")
        return named(boxes, scores, labels, self.name, self._min_score, self._vocabulary)

    def _about(self) -> tuple[str, tuple[str, ...]]:
        """Format and labels: as configured, else as the file says."""
        metadata = self.model.metadata()
        form = self._form or metadata.get("format", "yolo" if "names" in metadata else "")
        labels = self._labels or labels_in(metadata)
        if form not in FORMATS or not labels:
            raise DeskhandError(
                "config_error", f"{self.model.file} does not say what it is.", hint=f"Set format ({', '.join(FORMATS)}) and labels in config/detectors.yaml."
            )
        return form, labels


def labels_in(metadata: dict[str, str]) -> tuple[str, ...]:
    """Labels from a model's metadata: ``labels`` (JSON list) or ``names`` (Python mapping of numbers to names, as YOLO's exporters write it)."""
    try:
        if "labels" in metadata:
            return tuple(map(str, json.loads(metadata["labels"])))
        names: Any = ast.literal_eval(metadata.get("names", "[]"))
        return tuple(str(names[key]) for key in sorted(names)) if isinstance(names, dict) else tuple(map(str, names))
    except (ValueError, SyntaxError, TypeError):
        return ()


def named(boxes: Floats, scores: Floats, labels: Sequence[str], source: str, min_score: float, vocabulary: Vocabulary) -> list[Detection]:
    """Boxes (N, 4) [px] with scores (N, C) as detections, best first; a label that the vocabulary leaves out competes with no other."""
    kinds = [vocabulary.kind(label) for label in labels]
    scores = scores * np.array([bool(kind) for kind in kinds], np.float32)
    best = scores.argmax(axis=1)
    score = scores[np.arange(len(scores)), best]
    chosen = np.nonzero((score >= min_score) & (score > 0))[0]
    found: list[Detection] = []
    for kept in non_maximum_suppression(boxes[chosen], score[chosen]):
        index = int(chosen[kept])
        left, top, right, bottom = map(float, boxes[index])
        found.append(Detection(kinds[int(best[index])], float(score[index]), source, (left, top, right, bottom)))
    return found


def _ssd(model: OnnxModel, color: Image) -> tuple[Floats, Floats]:
    (name, shape), *_ = model.inputs()
    picture, _ = stretched(color, int(shape[3]), int(shape[2]))
    boxes, scores = model.run({name: picture})[:2]
    return (boxes[0] * np.tile([color.shape[1], color.shape[0]], 2)).astype(np.float32), scores[0].astype(np.float32)


def _yolo(model: OnnxModel, color: Image) -> tuple[Floats, Floats]:
    (name, shape), *_ = model.inputs()
    picture, scale, offset = letterboxed(color, side(shape[3]), side(shape[2]))
    output = model.run({name: picture})[0]
    return from_letterbox(output[0, :4].T, scale, offset), np.ascontiguousarray(output[0, 4:].T, dtype=np.float32)


def from_letterbox(boxes: npt.NDArray[Any], scale: float, offset: npt.NDArray[np.float64]) -> Floats:
    """(centre x, centre y, width, height) (N, 4) in the letterboxed picture as (left, top, right, bottom) in the whole one [px]."""
    centre, half = boxes[:, :2], boxes[:, 2:] / 2
    corners = np.hstack([centre - half, centre + half])
    return np.asarray((corners - np.tile(offset, 2)) / scale, dtype=np.float32)


def side(dimension: Any) -> int:
    """Side of the picture [px] that an input takes; 640 where it takes any."""
    return int(dimension) if isinstance(dimension, int) and dimension > 0 else 640
