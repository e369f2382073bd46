"""Where on an object another one can stand: what is as high as its highest part somewhere else, as a hob beside its knob, carries nothing at that height."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.types import SceneObject
from deskhand.world.level import level

LEVEL = 0.008  # [m] that what carries an object may differ in height below it
STEP = 0.01  # [m] between places that are tried
LEAST = 12  # points of its cloud that must be seen below an object
APART = 0.03  # [m] between places where it may stand instead: a hand that reaches one reaches what is nearer, too
MOST = 12  # such places that are tried
STEEP = 0.65  # rise of a slope over its run up to which things lie on it: friction of wood on wood and on plastics is 0.25 to 0.7
ASIDE = 0.3  # share of its radius that what is seen below an object may lie to one side: more is an edge
ON_PLANE = 0.6  # share of what is seen below an object that lies in the plane of a slope: between boards there are gaps


def standing_place(target: SceneObject, radius: float) -> tuple[Array, float]:
    """Where (2,) [m, world] an object of this ``radius`` [m] stands on ``target``, and at which height [m].

    Over its centre at its top, where its cloud does not say otherwise; else at the level place that is nearest to its centre, if there is one, or where what
    is put on its slope would slide to.
    """
    centre, top = np.asarray(target.position[:2], dtype=float), float(target.top)
    points = np.asarray(target.points, dtype=float).reshape(-1, 3)
    if len(points) < LEAST:
        return centre, top
    tree = cKDTree(points[:, :2])
    here = _height(points, tree, centre, radius)
    if here is None or here > top - LEVEL:
        return centre, top
    for place in _places(target):
        height = _height(points, tree, place, radius)
        if height is not None and np.isfinite(height):
            return place, height
    return _foot_of_slope(points, tree, _places(target), radius) or (centre, top)


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


def _foot_of_slope(points: Array, tree: cKDTree, places: Array, radius: float) -> tuple[Array, float] | None:
    """The lowest place (2,) on the slope that reaches highest, and the height [m] of what is below an object there; None where nothing is a slope.

    From its highest place down over neighbours, as far as an object of this ``radius`` [m] lies on it with all of its underside.
    """
    heights = np.array([_sloping(points, tree, place, radius) for place in places])
    if not np.isfinite(heights).any():
        return None
    here = int(np.nanargmax(heights))
    while True:
        apart = np.linalg.norm(places - places[here], axis=1)
        drop = heights[here] - heights
        lower = np.flatnonzero((apart < 1.5 * STEP) & (drop > 0) & (drop < STEEP * apart + LEVEL / 2))
        if not len(lower):
            return places[here], float(heights[here])
        here = int(lower[np.argmax(drop[lower])])


def _sloping(points: Array, tree: cKDTree, place: Array, radius: float) -> float:
    """Height [m] at which an object at ``place`` touches the slope below it nowhere, a little uphill neither; NaN where there is none or an edge."""
    below = points[tree.query_ball_point(place, radius)]
    count = len(below)
    for _ in range(3):  # what is seen between boards lies deeper
        if len(below) < LEAST or len(below) < ON_PLANE * count:
            return float("nan")
        way = np.column_stack([below[:, :2] - place, np.ones(len(below))])
        plane = np.linalg.lstsq(way, below[:, 2], rcond=None)[0]
        off = below[:, 2] - way @ plane
        if (np.abs(off) < LEVEL / 2).all():
            break
        below = below[off > -LEVEL / 2]
    aside = np.linalg.norm(below[:, :2].mean(axis=0) - place)
    if (np.abs(off) > LEVEL).any() or np.hypot(*plane[:2]) > STEEP or aside > ASIDE * radius:
        return float("nan")
    return float(plane[2] + (radius + STEP) * np.hypot(*plane[:2]))
