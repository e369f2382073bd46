"""Hinged lids that stand open: an upright plate that leans away from the box it is on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, inverse, transform_points
from deskhand.types import SceneObject

NEAR = 0.06  # [m] about an object's box in which points may be its lid's
UPPER = 0.55  # share of the height of what is highest there, above which only the lid is
LEAST = 0.05  # [m] by which a lid stands above the table, and its least width
FLAT = 0.005  # [m] of the points off the plate, as a standard deviation
LEANS = np.sin(np.deg2rad(35.0))  # vertical part of the plate's normal: farther down it lies
LEAST_LEAN = np.deg2rad(4.0)  # beyond upright: what leans less is a wall
OFF = 0.012  # [m] that points lie off the plate which are not its own: those of a handle
FEWEST = 60  # points
ROUNDS = 4


@dataclass(frozen=True)
class OpenLid:
    """A plate that stands open, in the world frame.

    Attributes:
        edge: (3,) [m] middle of its upper edge.
        away: (3,) level unit vector, the way that it leans: from the box.
        width: [m] along its upper edge.
        lean: [rad] beyond upright.
    """

    edge: Array
    away: Array
    width: float
    lean: float


def find_open_lid(cloud: npt.NDArray[np.float32], item: SceneObject, floor: float = 0.0) -> OpenLid | None:
    """The lid that stands open on or beside ``item``; None where none is seen. ``cloud`` (N, 3) [m, world]; ``floor`` [m]: height of the table."""
    points = np.asarray(cloud, dtype=float)
    local = np.abs(transform_points(inverse(item.pose), points)) - np.asarray(item.size, dtype=float) / 2
    level = np.abs(item.pose[2, :3]) < 0.7
    near = points[(local[:, level] < NEAR).all(axis=1)]
    if len(near) < FEWEST:
        return None
    top = float(np.quantile(near[:, 2], 0.995))
    own = near[near[:, 2] > floor + max(LEAST, UPPER * (top - floor))]
    plate = _plate(own)
    if plate is None:
        return None
    middle, normal, own = plate
    away = normal * [1.0, 1.0, 0.0] / np.linalg.norm(normal[:2])
    lean = float(np.arcsin(-normal[2]))
    if lean < 0:
        away, lean = -away, -lean
    if lean < LEAST_LEAN:
        return None
    along = np.cross(away, [0.0, 0.0, 1.0])
    reach = (own - middle) @ along
    low, high = np.quantile(reach, 0.03), np.quantile(reach, 0.97)
    if high - low < LEAST:
        return None
    edge = middle + along * (low + high) / 2 + away * np.tan(lean) * (top - middle[2])
    edge[2] = top
    return OpenLid(edge, away, float(high - low), lean)


def _plate(points: Array) -> tuple[Array, Array, Array] | None:
    """Middle (3,), unit normal (3,) and points (N, 3) of the upright plate that most of the points are of; None where they are of none."""
    own = points
    for _ in range(ROUNDS):
        if len(own) < FEWEST:
            return None
        middle = np.median(own, axis=0)
        _, extents, axes = np.linalg.svd(own - own.mean(axis=0), full_matrices=False)
        normal = axes[2]
        off = np.abs((points - own.mean(axis=0)) @ normal)
        own = points[off < max(OFF, 1.5 * float(np.median(off)))] if extents[2] / np.sqrt(len(own)) > FLAT else points[off < OFF]
    deviation = float(np.std((own - own.mean(axis=0)) @ normal))
    if deviation > FLAT or abs(float(normal[2])) > LEANS or len(own) < 0.5 * len(points):
        return None
    return np.asarray(middle), np.asarray(normal), np.asarray(own)
