"""Where on an object another one can stand, and where the middle of an upper side is.

What is as high as its highest part somewhere else, as a hob beside its knob, carries nothing at that height.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.types import SceneObject
from deskhand.world.level import level

LEVEL = 0.008  # [m] that what carries an object may differ in height below it
STEP = 0.01  # [m] between places that are tried
LEAST = 12  # points of its cloud that must be seen below an object
APART = 0.03  # [m] between places where it may stand instead: a hand that reaches one reaches what is nearer, too
MOST = 12  # such places that are tried
CELL = 0.002  # [m] side of the cells by which an upper side is measured
RIM = 0.003  # [m] from the edge of an upper side, within which points may be of the sides
UPPER = 0.004  # [m] below the top of an object within which its points are of its upper side
FILLED = 0.5  # share of its box that seen cells of the upper side of a box take at least; its points are thinned out
SEEN = 0.3  # share of the cells within its hull that are seen, below which too little is
CELLS = 12  # of an upper side, below which its middle is not told


def cells_middle(item: SceneObject) -> Array | None:
    """The middle (2,) [m, world] of what is seen of its upper side, each of its cells once; None where too little is seen."""
    cells = _upper_cells(item)
    if len(cells) < CELLS or len(cells) < SEEN * cv2.contourArea(cv2.convexHull(cells.astype(np.int32))):
        return None
    return np.asarray((cells + 0.5).mean(axis=0) * CELL)


def upper_middle(item: SceneObject) -> Array | None:
    """As :func:`cells_middle`, where its upper side fills so little of the box about it that the middle of that tells less; else None."""
    filled = len(_upper_cells(item)) * CELL**2 / max(float(np.prod(item.size[:2])), 1e-9)
    return cells_middle(item) if filled < FILLED else None


def _upper_cells(item: SceneObject) -> npt.NDArray[np.int64]:
    points = np.asarray(item.points, dtype=float).reshape(-1, 3)
    upper = points[np.abs(points[:, 2] - item.top) < UPPER, :2]
    return np.unique(np.floor(upper / CELL).astype(np.int64), axis=0)


def standing_place(target: SceneObject, radius: float) -> tuple[Array, float]:
    """Where (2,) [m, world] an object of this ``radius`` [m] stands on ``target``, and at which height [m].

    Over its centre at its top, where its cloud does not say otherwise; else at the level place that is nearest to its centre, if there is one.
    """
    centre, top = np.asarray(target.position[:2], dtype=float), float(target.top)
    points = np.asarray(target.points, dtype=float).reshape(-1, 3)
    if len(points) < LEAST:
        return centre, top
    tree = cKDTree(points[:, :2])
    radius = min(radius, max(float(min(target.size[:2])) / 2 - RIM, LEVEL))  # what is seen of its sides says nothing of its top
    here = _height(points, tree, centre, radius)
    if here is None or here > top - LEVEL:
        return centre, top
    for place in _places(target):
        height = _height(points, tree, place, radius)
        if height is not None and np.isfinite(height):
            return place, height
    return centre, top


def standing_places(target: SceneObject, size: Array) -> Iterator[tuple[Array, float]]:
    """As :func:`standing_place` for an object of this ``size`` (3,) [m], and then other places at that height where it stands with all of its underside, the
    nearest to the centre first: for an arm that does not reach so far, or where something stands.
    """
    place, height = standing_place(target, float(min(size[:2])) / 2)
    yield place, height
    points, radius = np.asarray(target.points, dtype=float).reshape(-1, 3), float(max(size[:2])) / 2
    if len(points) < LEAST:
        return
    tree, found = cKDTree(points[:, :2]), [place]
    for other in _places(target, radius):
        if len(found) > MOST:
            return
        if min(float(np.linalg.norm(other - known)) for known in found) < APART:
            continue
        there = _height(points, tree, other, radius)
        if there is not None and abs(there - height) < LEVEL:
            found.append(other)
            yield other, height


def _places(target: SceneObject, inset: float = 0.0) -> Array:
    """Places (N, 2) [m, world] over its outline, ``inset`` [m] from its edge, the nearest to its centre first."""
    lies = level(target.pose, target.size)
    way = np.array([[np.cos(lies.yaw), np.sin(lies.yaw)], [-np.sin(lies.yaw), np.cos(lies.yaw)]])
    halves = [max(float(side) / 2 - inset, 0.0) for side in target.size[:2]]
    steps = [np.arange(-half, half + STEP / 2, STEP) for half in halves]
    away = np.stack(np.meshgrid(*steps), axis=-1).reshape(-1, 2)
    return np.asarray(target.position[:2] + away[np.argsort(np.linalg.norm(away, axis=1), kind="stable")] @ way, dtype=float)


def _height(points: Array, tree: cKDTree, place: Array, radius: float) -> float | None:
    """Height [m] of what is below an object at ``place``, -inf where that is not level; None where too little of it is seen, as under what hides it."""
    below = tree.query_ball_point(place, radius)
    if len(below) < LEAST:
        return None
    low, high = np.quantile(points[below, 2], [0.1, 0.98])
    return float(high) if high - low < LEVEL else -np.inf
