"""How likely what a look takes for one object is one whole object of about the extent that it tells: a logistic model of what the look shows of it.

The weights (``config/whole_object.yaml``) are fitted to looks at objects of others, alone, among others and in heaps, and to labelled pictures, by
`deskhand bench foreign confide`; none of the objects that anything is judged with are among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.fit.pair_evidence import error_of
from deskhand.perception.fit.solid import surface_distance
from deskhand.perception.naming_settings import WHOLE
from deskhand.perception.support.support import Placed
from deskhand.perception.view import Mask, View
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FILE = "config/whole_object.yaml"
FEATURES = (
    "pixels",  # log10 of how many show it
    "error",  # of its solid, over the noise of the depth
    "outside",  # share of its points outside of its solid
    "hollow",
    "printed",
    "guessed",  # axes along which its size is estimated
    "cut",  # share of its outline behind something that is not in it, or beside a hole
    "touch",  # share of its outline where another object goes on at the same depth, which is not in it
    "alike",  # of that, how like its colour is
    "neighbours",
    "fill",  # of the convex outline in the picture
    "holes",  # share of the convex outline without depth
    "short",  # log10 of its shortest side
    "long",  # log10 of its longest side
    "above",  # 1 when it is borne by another object
    "loose",  # share of it in parts that do not hang together in the picture
)


@dataclass(frozen=True)
class WholeModel:
    """Weights (F,) and bias of the logistic model."""

    weights: Array
    bias: float

    def probability(self, features: Array) -> Array:
        """Of each row of features (N, F): (N,), within the bounds of what so few looks can tell."""
        chance = 1.0 / (1.0 + np.exp(-(np.asarray(features) @ self.weights + self.bias)))
        return np.asarray(np.clip(chance, WHOLE.least, WHOLE.most))


@lru_cache(maxsize=1)
def whole_model() -> WholeModel:
    """The model of :data:`FILE`; see :func:`load_whole_model`."""
    return load_whole_model(resource_path(FILE))


def load_whole_model(file: Path) -> WholeModel:
    """The model of a file.

    Raises:
        DeskhandError: ``config_error`` naming what is wrong in it.
    """
    try:
        data = read_yaml(file)
        return WholeModel(np.array([float(data["weights"][name]) for name in FEATURES]), float(data["bias"]))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DeskhandError("config_error", f"{file} is no model of whole objects: {error!r}.", hint="deskhand bench foreign confide") from error


def features_of(view: View, placed: Sequence[Placed], printed: Sequence[bool], hidden: Sequence[float]) -> Array:
    """What tells it of each object (N, len(FEATURES)); ``hidden``: the :func:`occluded_share` of each."""
    height, width = view.valid.shape
    owner = np.full(height * width, -1, np.int64)
    for number, item in enumerate(placed):
        owner[item.segment.pixels] = number
    owner = owner.reshape(height, width)
    told = enumerate(zip(placed, printed, hidden, strict=True))
    rows = [_features(view, owner, number, item, placed, many, share) for number, (item, many, share) in told]
    return np.array(rows).reshape(-1, len(FEATURES))


def _features(view: View, owner: Array, number: int, item: Placed, placed: Sequence[Placed], printed: bool, hidden: float) -> list[float]:
    window = _window(item, view.valid.shape)
    own = owner[window] == number
    touch, alike, neighbours = _touching(view, owner[window], own, number, window, placed)
    outline = np.zeros(own.shape, np.uint8)
    rows = np.flatnonzero(own.any(axis=1))
    if len(rows):
        ends = own[rows].argmax(axis=1), own.shape[1] - 1 - own[rows, ::-1].argmax(axis=1)  # of each row: all others are between
        cv2.fillConvexPoly(outline, cv2.convexHull(np.column_stack([np.concatenate(ends), np.tile(rows, 2)]).astype(np.int32)), 1)
    inside = outline.astype(bool) | own
    known = view.valid[window] & ~view.filled[window]
    _, _, stats, _ = cv2.connectedComponentsWithStats(own.astype(np.uint8), connectivity=8)
    largest = int(stats[1:, cv2.CC_STAT_AREA].max()) if len(stats) > 1 else 0
    sides = np.maximum(np.sort(item.solid.size), 1e-3)
    hollow = item.hollow is not None
    beyond = surface_distance(item.solid, item.segment.points) > WHOLE.outside * max(view.noise, 0.0008) if not hollow else np.zeros(1, bool)
    return [
        float(np.log10(max(1, len(item.segment)))),
        0.0 if hollow else error_of(view, item.solid),
        float(beyond.mean()),
        float(hollow),
        float(printed),
        float(len(item.solid.guessed)),
        0.0 if any(_in(placed, other, number) for other in range(len(placed))) else min(1.0, hidden),
        touch,
        alike,
        float(neighbours),
        float(own.sum() / max(1, inside.sum())),
        float((inside & ~known).sum() / max(1, inside.sum())),
        float(np.log10(sides[0])),
        float(np.log10(sides[2])),
        float(item.support >= 0 and item.relation != "in"),
        1.0 - largest / max(1, int(own.sum())),
    ]


def _in(placed: Sequence[Placed], one: int, other: int) -> bool:
    """Whether an object lies in another: then they touch, and one hides the other, and both are whole."""
    return placed[one].support == other and placed[one].relation == "in"


def _window(item: Placed, shape: tuple[int, ...]) -> tuple[slice, slice]:
    v, u = np.divmod(item.segment.pixels, shape[1])
    return slice(max(0, int(v.min()) - 3), int(v.max()) + 4), slice(max(0, int(u.min()) - 3), int(u.max()) + 4)


def _touching(view: View, owner: Array, own: Mask, number: int, window: tuple[slice, slice], placed: Sequence[Placed]) -> tuple[float, float, int]:
    """Share of the outline where another object goes on at the same depth, how like its colour is there, and how many such objects there are."""
    ring = cv2.dilate(own.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool) & ~own
    total = int(ring.sum())
    if not total:
        return 0.0, 0.0, 0
    depth = np.where(view.valid[window] | view.filled[window], view.frame.depth[window], np.nan).astype(np.float32)
    mine = np.where(own, depth, np.inf).astype(np.float32)
    seen = np.isfinite(mine)
    nearest = cv2.erode(np.where(seen, mine, np.float32(np.inf)), np.ones((3, 3), np.uint8))
    farthest = cv2.dilate(np.where(seen, mine, np.float32(-np.inf)), np.ones((3, 3), np.uint8))
    level = ring & (owner >= 0) & (depth > nearest - WHOLE.step) & (depth < farthest + WHOLE.step)
    beside = np.bincount(owner[level], minlength=len(placed))
    beside[[other for other in range(len(placed)) if _in(placed, other, number) or _in(placed, number, other)]] = 0
    touched = np.flatnonzero(beside)
    counts = beside[touched]
    chroma = placed[number].segment.chroma
    alike = sum(
        count * np.exp(-float(np.linalg.norm(placed[int(other)].segment.chroma - chroma)) / WHOLE.color)
        for other, count in zip(touched, counts, strict=True)
        if int(other) != number
    )
    return float(counts.sum() / total), float(alike / total), int((counts >= WHOLE.contact).sum())
