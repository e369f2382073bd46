"""The shapes that objects are taken to be, and how far points are from their surface."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from deskhand.geometry import Array, make_transform
from deskhand.perception.rows import lengths


@dataclass(frozen=True)
class Solid:
    """An oriented box with a shape in it.

    Attributes:
        shape: ``box``, ``cylinder``, ``sphere`` or ``other``.
        pose: centre; x along the longest horizontal side, z up.
        size: extents (3,) [m] along the axes of ``pose``.
        error: rms distance [m] of the points from the shape's surface.
        lying: a cylinder whose axis is the pose's x.
        flat_top: share of the footprint that is at the height of the top.
        guessed: axes of ``pose`` (0, 1, 2) along which its size is not seen but estimated.
    """

    shape: str
    pose: Array
    size: Array
    error: float
    lying: bool = False
    flat_top: float = 0.0
    guessed: tuple[int, ...] = ()


def surface_distance(solid: Solid, points: Array) -> Array:
    """Signed distance (N,) [m] of world points from the surface, negative inside."""
    local = (points - solid.pose[:3, 3]) @ solid.pose[:3, :3]
    half = solid.size / 2
    if solid.shape == "sphere":
        return np.asarray(lengths(local) - half[0])
    if solid.shape == "cylinder":
        axis, across = (0, (1, 2)) if solid.lying else (2, (0, 1))
        gaps = [np.hypot(local[:, across[0]], local[:, across[1]]) - half[across[0]], np.abs(local[:, axis]) - half[axis]]
    else:
        gaps = [np.abs(local[:, axis]) - half[axis] for axis in range(3)]
    outside = np.sqrt(reduce(np.add, [np.maximum(gap, 0.0) ** 2 for gap in gaps]))
    return np.asarray(np.where(outside > 0, outside, reduce(np.maximum, gaps)))


def rms(distance: Array) -> float:
    """Root of the mean square [m] of distances from a surface; none counts as more than 1 cm."""
    return float(np.sqrt(np.mean(np.minimum(np.abs(distance), 0.01) ** 2)))


def standing_pose(x: float, y: float, z: float, yaw: float) -> Array:
    """(4, 4): z up, x axis at ``yaw`` [rad]."""
    c, s = np.cos(yaw), np.sin(yaw)
    return make_transform([[c, -s, 0], [s, c, 0], [0, 0, 1]], [x, y, z])
