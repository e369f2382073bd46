"""Open objects with walls between their parts: one rim with several holes, each of which is a place of its own to put objects into.

Seen from above at the height of the rim, a place of the plan shows the rim, is free (the camera sees past it, farther down), or is hidden by what stands
before it.
Free places that hang together, with rim or what is hidden all round, are a hole; holes that only a thin wall parts are compartments of one object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.containers.settings import COMPARTMENT, HOLLOW
from deskhand.perception.footprint import Rectangle, rectangle, tight_rectangle
from deskhand.perception.quantiles import median
from deskhand.perception.rows import highest, lowest, rows_of
from deskhand.perception.segment.segmentation import Segment, make_segment, part_of
from deskhand.perception.view import Mask, View


@dataclass(frozen=True)
class Hole:
    """Free places (N, 2) [m] of one hole, and the rectangle that they fill."""

    places: Array
    inner: Rectangle


def find_compartments(view: View, segments: list[Segment]) -> tuple[list[Hollow], list[Segment]]:
    """Compartments of what is divided, and the segments that are left; walls that two of them share belong to the first."""
    measured = [rows_of(item.points, item.measured) for item in segments]
    points = np.concatenate(measured) if measured else np.zeros((0, 3))
    for height in _levels(points[:, 2]):
        holes = holes_in(view, points[np.abs(points[:, 2] - height) < COMPARTMENT.band], height)
        hollows, left = [], segments
        for hole, wall in _divided(holes):
            rim = rectangle(hole.inner.centre, hole.inner.size + 2 * wall, hole.inner.yaw)
            own, left = _claimed(rim, height, wall, left)
            if own:
                segment = make_segment(view, np.concatenate([item.pixels for item in own]))
                hollows.append(Hollow(segment, rim, False, height, wall, _floor(view, hole, height), divided=True))
        if len(hollows) > 1:
            return hollows, left
    return [], segments


def _levels(heights: Array) -> list[float]:
    """Heights [m] at which level tops may be, the fullest first: walls spread over all heights, their tops do not."""
    step, lowest = COMPARTMENT.band, COMPARTMENT.low
    counts, edges = np.histogram(heights, np.arange(lowest, COMPARTMENT.high, step))
    fullest = [number for number in np.argsort(-counts)[: COMPARTMENT.levels] if counts[number] >= COMPARTMENT.least]
    return [median(heights[np.abs(heights - edges[number] - step / 2) < step]) for number in fullest]


def holes_in(view: View, rim: Array, height: float, narrowest: float = HOLLOW.sorting_side) -> list[Hole]:
    """Holes of what is ``height`` [m] high, within the outline of ``rim`` (N, 3), at least ``narrowest`` [m] wide."""
    cell, margin = COMPARTMENT.cell, 3 * COMPARTMENT.cell
    low, high = lowest(rim[:, :2]) - margin, highest(rim[:, :2]) + margin
    shape = np.ceil((high - low) / cell).astype(int)
    if shape.min() < 8 or shape.max() > COMPARTMENT.most_cells:
        return []
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    places = np.stack([rows, columns], axis=-1).reshape(-1, 2) * cell + low
    free = free_places(view, np.column_stack([places, np.full(len(places), height)])).reshape(rows.shape)
    free = cv2.erode(free.astype(np.uint8), np.ones((3, 3), np.uint8), borderValue=1)  # a crack in the rim, or a spot of noise on it, joins nothing
    count, labels = cv2.connectedComponents(free, connectivity=4)
    outside = set(np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])))
    holes = []
    for number in range(1, count):
        if number in outside:
            continue
        own = places[(labels == number).reshape(-1)]
        if len(own) < 9:
            continue
        box = tight_rectangle(own)
        grown = rectangle(box.centre, box.size + 3 * cell, box.yaw)  # centres of cells, without the outermost ones
        if grown.size.min() >= narrowest and len(own) * cell**2 > COMPARTMENT.filled * float(np.prod(box.size + cell)):
            holes.append(Hole(own, grown))
    return holes


def free_places(view: View, places: Array) -> Mask:
    """Which places (N, 3) the camera sees past, to what lies farther away."""
    depth = view.whole.depth
    pose, k = view.whole.world_T_camera, view.whole.intrinsics
    x, y, z = pose[:3, :3].T @ (places - pose[:3, 3]).T
    ahead = np.maximum(z, 1e-6)
    u, v = np.rint(k.fx * x / ahead + k.cx).astype(np.int64), np.rint(k.fy * y / ahead + k.cy).astype(np.int64)
    inside = (z > 1e-6) & (u >= 0) & (u < depth.shape[1]) & (v >= 0) & (v < depth.shape[0])
    with np.errstate(invalid="ignore"):
        return np.asarray(inside & (depth[np.where(inside, v, 0), np.where(inside, u, 0)] - z > COMPARTMENT.past))


def _divided(holes: Sequence[Hole]) -> list[tuple[Hole, float]]:
    """The holes that a thin wall parts from another, each with the thickness [m] of its half of that wall."""
    apart: dict[int, float] = {}
    trees = [cKDTree(hole.places) for hole in holes]
    for i, j in combinations(range(len(holes)), 2):
        turned = (holes[i].inner.yaw - holes[j].inner.yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4
        if abs(turned) > COMPARTMENT.turned:
            continue
        gaps = np.asarray(trees[i].query(holes[j].places, distance_upper_bound=COMPARTMENT.divider + 3 * COMPARTMENT.cell)[0])
        near = np.sort(gaps[np.isfinite(gaps)])
        side = min(float(holes[i].inner.size.min()), float(holes[j].inner.size.min()))
        if len(near) < COMPARTMENT.along * side / COMPARTMENT.cell:
            continue  # corner to corner
        thick = max(float(near[0]) - 3 * COMPARTMENT.cell, 0.0)
        for number in (i, j):
            apart[number] = min(apart.get(number, thick), thick)
    return [(holes[number], float(np.clip(thick / 2, *COMPARTMENT.wall))) for number, thick in sorted(apart.items())]


def _claimed(rim: Rectangle, height: float, wall: float, segments: list[Segment]) -> tuple[list[Segment], list[Segment]]:
    """What of the segments is its walls, both sides of them, and floor; and the rest."""
    own, left = [], []
    for item in segments:
        points = item.points
        shell = ~rim.inside(points[:, :2], wall + COMPARTMENT.margin) | (points[:, 2] < COMPARTMENT.margin)
        mine = rim.inside(points[:, :2], -wall - COMPARTMENT.margin) & (points[:, 2] < height + COMPARTMENT.band) & shell
        if (~rim.inside(points[:, :2], -wall)).mean() < COMPARTMENT.inside and points[:, 2].max() > height + 2 * COMPARTMENT.band:
            mine = np.zeros(len(points), bool)  # what stands in it and is higher is no wall
        if mine.sum() >= COMPARTMENT.scrap:
            own.append(part_of(item, mine))
        if (~mine).sum() >= COMPARTMENT.scrap:
            left.append(part_of(item, ~mine) if mine.any() else item)
    return own, left


def _floor(view: View, hole: Hole, height: float) -> float:
    """Height [m] of the floor, by what is seen of it."""
    low = view.points[view.valid & (view.height < height / 3)].astype(float)
    low = low[hole.inner.inside(low[:, :2], COMPARTMENT.margin), 2]
    return max(median(low), 0.0) if len(low) else 0.0
