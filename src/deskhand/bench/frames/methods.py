"""What finds the objects of a frame: deskhand's own perception, and plain methods to compare it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from deskhand.bench.frames.lccp import Lccp
from deskhand.bench.frames.plane import Floats, Labels, Region
from deskhand.errors import DeskhandError
from deskhand.perception.corrected import corrected
from deskhand.perception.learned.config import GEOMETRY
from deskhand.perception.learned.segmenter import Segmenter
from deskhand.perception.pipeline import Perception
from deskhand.perception.segment.settings import SegmentSettings
from deskhand.perception.segment.shape import learned_parts
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.view import fill_edges, make_view
from deskhand.types import Frame

Method = Callable[[Frame, Region], Labels]
"""Numbers (H, W) of the objects of a frame, 0 for none; the frame's pose and the region are those of the table."""
METHODS = ("deskhand", "euclidean", "lccp", "network")


Maker = Callable[[], Method]
"""Makes a method for one frame: what it takes to load it is not measured, and nothing is remembered from frame to frame."""


def make_method(name: str, segmenter: Segmenter | None = None) -> Maker:
    """The method of a name; ``segmenter``: what ``deskhand`` hears beside shape, and what ``network`` is.

    Raises:
        DeskhandError: ``invalid_input`` for another name, ``missing_dependency`` for one that lacks its library, ``config_error`` for a wrong segmenter.
    """
    if segmenter is not None:
        segmenter.check()
    makers: dict[str, Maker] = {"deskhand": partial(Deskhand, segmenter), "euclidean": Euclidean, "lccp": Lccp, "network": partial(Network, segmenter)}
    if name not in makers:
        raise DeskhandError("invalid_input", f"there is no method {name!r}; valid: {', '.join(METHODS)}.")
    makers[name]()  # fails here rather than at every frame
    return makers[name]


class Deskhand:
    """Our own, without detectors."""

    def __init__(self, segmenter: Segmenter | None) -> None:
        self._perception = Perception(detectors=(), segmenter=segmenter or GEOMETRY)

    def __call__(self, frame: Frame, region: Region) -> Labels:
        """See Method."""
        self._perception.detect(frame)
        found = self._perception.pixels
        labels = np.zeros(frame.depth.size, np.int32)
        for i in sorted(range(len(found)), key=lambda i: -len(found[i])):  # smaller ones over larger ones
            labels[found[i]] = i + 1
        return np.asarray(labels.reshape(frame.depth.shape))


class Network:
    """A learned segmenter alone: patches of surface joined by what it says of their borders, nothing of their shape."""

    def __init__(self, segmenter: Segmenter | None) -> None:
        if segmenter is None:
            raise DeskhandError("invalid_input", "the method network needs a segmenter.", hint="Give --segmenter FILE.onnx.")
        self._segmenter = segmenter

    def __call__(self, frame: Frame, region: Region) -> Labels:
        """See Method."""
        settings, labels = PerceptionSettings(), np.zeros(frame.depth.shape, np.int32)
        level, fit = corrected(frame, settings)
        view = fill_edges(make_view(level, fit, settings), settings)
        found = learned_parts(view, SegmentSettings(), self._segmenter.say(view))
        top, left = view.origin
        labels[top : top + found.shape[0], left : left + found.shape[1]] = found
        return labels


@dataclass(frozen=True)
class Euclidean:
    """Voxels above the table that are near each other.

    Attributes:
        height: lower points are the table [m].
        top: higher ones do not count [m].
        join: voxels nearer than this belong together [m].
        voxel: edge [m].
        least: smaller clusters are noise [px].
    """

    height: float = 0.008
    top: float = 0.5
    join: float = 0.015
    voxel: float = 0.004
    least: int = 200

    def __call__(self, frame: Frame, region: Region) -> Labels:
        """See Method."""
        labels = np.zeros(frame.depth.shape, np.int32)
        points, v, u = above_table(frame, region, self.height, self.top)
        if not len(points):
            return labels
        _, inverse = np.unique(np.floor(points / self.voxel).astype(np.int64), axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        count = np.bincount(inverse)
        middle = np.stack([np.bincount(inverse, points[:, axis]) for axis in range(3)], axis=1) / count[:, None]
        pairs = cKDTree(middle).query_pairs(self.join, output_type="ndarray")
        _, cluster = connected_components(coo_matrix((np.ones(len(pairs)), pairs.T), (len(count), len(count))), directed=False)
        labels[v, u] = without_small(cluster[inverse] + 1, self.least)
        return labels


def above_table(frame: Frame, region: Region, low: float, high: float) -> tuple[Floats, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Points (N, 3), rows and columns (N,) of what is between two heights [m]."""
    with np.errstate(invalid="ignore"):
        v, u = np.nonzero(np.isfinite(frame.depth) & (region.points[..., 2] > low) & (region.points[..., 2] < high))
    return region.points[v, u], v, u


def without_small(labels: npt.NDArray[np.int32], least: int) -> npt.NDArray[np.int32]:
    """Labels (N,) with those that have fewer than ``least`` pixels as 0."""
    result: npt.NDArray[np.int32] = labels.copy()
    result[np.bincount(labels)[labels] < least] = 0
    return result
