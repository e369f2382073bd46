"""What a detector is: it names what it sees in a frame; where that is on the desk is perception's matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from deskhand.types import Frame

Mask = npt.NDArray[np.bool_]
Pixels = npt.NDArray[np.int64]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Detection:
    """A named object in a picture.

    Attributes:
        label: kind, in the words of config/objects.yaml where it is one of these.
        score: 0..1.
        source: what says so, for example ``geometry``, ``onnx:objectron``.
        box: (left, top, right, bottom) [px].
        mask: (H, W) pixels of the object, where the detector knows them; else the box is all that is known.
        printed: the label is what is printed on the object: a name beside its kind.
    """

    label: str
    score: float
    source: str
    box: Box
    mask: Mask | None = None
    printed: bool = False


class Detector(Protocol):
    """Names objects in frames.

    Attributes:
        name: in ``source`` of what it finds.
        weight: 0..1, how much its word counts beside that of the others.
    """

    name: str
    weight: float

    def detect(self, frame: Frame, objects: Sequence[Pixels] = ()) -> list[Detection]:
        """What it sees, best first; ``objects``: flat indices (N,) of the pixels of each object that perception found, for those that look at each closely.

        Raises:
            DeskhandError: ``model_failed``, ``missing_dependency``, ``config_error`` when it cannot see at all.
        """
        ...


@dataclass(frozen=True)
class Vocabulary:
    """From a model's labels to kinds of objects: ``kinds`` maps some, ``ignore`` leaves some out; other labels stay, in lower case."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    ignore: frozenset[str] = frozenset()

    def kind(self, label: str) -> str:
        """The kind that a label means; empty to leave it out."""
        if label in self.ignore:
            return ""
        return self.kinds.get(label, label.strip().lower().replace(" ", "_"))


def non_maximum_suppression(boxes: npt.NDArray[np.float32], scores: npt.NDArray[np.float32], most_overlap: float = 0.5) -> list[int]:
    """Indices of the boxes (N, 4) to keep, best first: of those that overlap by more (intersection over union), the best alone."""
    order = list(np.argsort(-scores, kind="stable"))
    keep: list[int] = []
    while order:
        best = int(order.pop(0))
        keep.append(best)
        order = [other for other in order if overlap(boxes[best], boxes[other]) <= most_overlap]
    return keep


def overlap(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Intersection over union of two boxes (left, top, right, bottom)."""
    p, q = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    sides = np.minimum(p[2:], q[2:]) - np.maximum(p[:2], q[:2])
    if (sides <= 0).any():
        return 0.0
    shared = float(sides.prod())
    return shared / (float((p[2:] - p[:2]).prod()) + float((q[2:] - q[:2]).prod()) - shared)
