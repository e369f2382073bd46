"""Where on an object another one can stand: what is as high as its highest part somewhere else, as a hob beside its knob, carries nothing at that height."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.types import SceneObject
from deskhand.world.level import level

LEVEL = 0.008  # [m] that what carries an object may differ in height below it
STEP = 0.01  # [m] between places that are tried
LEAST = 12  # points of its cloud that must be seen below an object


def standing_place(target: SceneObject, radius: float) -> tuple[Array, float]:
    """Where (2,) [m, world] an object of this ``radius`` [m] stands on ``target``, and at which height [m].

    Over its centre at its top, where its cloud does not say otherwise; else at the level place that is nearest to its centre, if there is one.
    """
    centre, top = np.asarray(target.position[:2], dtype=float), float(target.top)
    points = np.asarray(target.points, dtype=float).reshape(-1, 3)
    if len(points) < LEAST:
        return centre, top
    tree = cKDTree(points[:, :2])
    here = _height(points, tree, centre, radius)
    if here is None or here > top - LEVEL:
        return centre, top
    lies = level(target.pose, target.size)
    way = np.array([[np.cos(lies.yaw), np.sin(lies.yaw)], [-np.sin(lies.yaw), np.cos(lies.yaw)]])
    steps = [np.arange(-side / 2, side / 2 + STEP / 2, STEP) for side in (float(target.size[0]), float(target.size[1]))]
    places = centre + np.stack(np.meshgrid(*steps), axis=-1).reshape(-1, 2) @ way
    for place in places[np.argsort(np.linalg.norm(places - centre, axis=1), kind="stable")]:
        height = _height(points, tree, place, radius)
        if height is not None and np.isfinite(height):
            return place, height
    return centre, top


def _height(points: Array, tree: cKDTree, place: Array, radius: float) -> float | None:
    """Height [m] of what is below an object at ``place``, -inf where that is not level; None where too little of it is seen, as under what hides it."""
    below = tree.query_ball_point(place, radius)
    if len(below) < LEAST:
        return None
    low, high = np.quantile(points[below, 2], [0.1, 0.98])
    return float(high) if high - low < LEVEL else -np.inf
