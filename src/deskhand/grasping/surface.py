"""What an object's surface looks like on all sides: the seen part completed from its shape and oriented box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from deskhand.geometry import Array, transform_points
from deskhand.types import SceneObject

MAX_POINTS = 320


@dataclass(frozen=True)
class Surface:
    """Samples of a closed surface: ``points`` and outward unit ``normals``, both (N, 3) in ``world``."""

    points: Array
    normals: Array


def complete_surface(item: SceneObject, spacing: float = 0.005) -> Surface:
    """The whole surface of ``item``, hidden side included, about ``spacing`` [m] between the samples."""
    size = np.maximum(np.asarray(item.size, dtype=float), 0.002)
    if item.shape == "sphere":
        points, normals = _sphere(float(np.mean(size)) / 2)
    elif item.shape == "cylinder":
        points, normals = _cylinder(size, spacing, item.wall)
    elif item.shape == "box" or len(item.points) < 40:
        points, normals = _box(size, spacing)
    else:
        return _prism(item, spacing)
    return Surface(transform_points(item.pose, points), normals @ item.pose[:3, :3].T)


def cylinder_axis(size: Array) -> int:
    """Index of the axis of a cylinder with these extents: z when it may stand, else the one that differs from two alike."""
    if abs(size[0] - size[1]) <= 0.15 * max(size[0], size[1]):
        return 2
    return min(range(3), key=lambda k: abs(size[(k + 1) % 3] - size[(k + 2) % 3]))


def box_points(size: Array, spacing: float) -> Array:
    """Samples (N, 3) of the faces of a cuboid around the origin."""
    return _box(np.asarray(size, dtype=float), spacing, limit=4000)[0]


def _steps(length: float, spacing: float) -> Array:
    count = max(2, int(np.ceil(length / spacing)))
    return (np.arange(count) + 0.5) / count * length - length / 2


def _box(size: Array, spacing: float, limit: int = MAX_POINTS) -> tuple[Array, Array]:
    area = 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0])
    spacing = max(spacing, float(np.sqrt(area / limit)))
    points, normals = [], []
    for axis in range(3):
        u, v = np.meshgrid(_steps(size[(axis + 1) % 3], spacing), _steps(size[(axis + 2) % 3], spacing))
        for sign in (1.0, -1.0):
            face = np.empty((u.size, 3))
            face[:, axis], face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = sign * size[axis] / 2, u.ravel(), v.ravel()
            points.append(face)
            normals.append(np.tile(sign * np.eye(3)[axis], (u.size, 1)))
    return np.vstack(points), np.vstack(normals)


def _sphere(radius: float, count: int = 120) -> tuple[Array, Array]:
    index = np.arange(count) + 0.5
    z, angle = 1 - index / count, np.pi * (1 + 5**0.5) * index
    ring = np.sqrt(1 - z**2)
    half = np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])
    normals = np.vstack([half, -half])  # each sample has its antipode
    return radius * normals, normals


def _cylinder(size: Array, spacing: float, wall: float) -> tuple[Array, Array]:
    axis = cylinder_axis(size)
    diameter, height = float(np.mean(np.delete(size, axis))), float(size[axis])
    spacing = max(spacing, float(np.sqrt((np.pi * diameter * height + np.pi * diameter**2 / 2) / MAX_POINTS)))
    around = 2 * max(6, int(np.ceil(np.pi * diameter / spacing / 2)))
    angle = np.arange(around) * 2 * np.pi / around
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    levels = _steps(height, spacing)
    side_n = np.column_stack([np.tile(ring, (len(levels), 1)), np.zeros(around * len(levels))])
    side = np.column_stack([np.tile(ring * diameter / 2, (len(levels), 1)), np.repeat(levels, around)])
    points, normals = [side], [side_n]
    if wall > 0:  # hollow, open at the top
        inner = np.column_stack([np.tile(ring * (diameter / 2 - wall), (len(levels), 1)), np.repeat(levels, around)])
        points.append(inner)
        normals.append(-side_n)
    for sign in (-1.0,) if wall > 0 else (1.0, -1.0):
        for radius in np.arange(spacing / 2, diameter / 2, spacing):
            disc = ring[:: max(1, int(around * (1 - 2 * radius / diameter)))] * radius
            points.append(np.column_stack([disc, np.full(len(disc), sign * height / 2)]))
            normals.append(np.tile([0.0, 0.0, sign], (len(disc), 1)))
    order = [(axis + 1) % 3, (axis + 2) % 3, axis]
    unturn = np.argsort(order)
    return np.vstack(points)[:, unturn], np.vstack(normals)[:, unturn]


def _prism(item: SceneObject, spacing: float) -> Surface:
    """The outline of the seen points, from above, drawn down to where the oriented box ends."""
    seen = np.asarray(item.points, dtype=float)
    try:
        hull = ConvexHull(seen[:, :2])
    except QhullError:
        points, normals = _box(np.asarray(item.size, dtype=float), spacing)
        return Surface(transform_points(item.pose, points), normals @ item.pose[:3, :3].T)
    corners = seen[hull.vertices, :2]
    ends = np.roll(corners, -1, axis=0)
    lengths = np.linalg.norm(ends - corners, axis=1)
    low, high = item.bottom, max(item.top, item.bottom + 0.004)
    spacing = max(spacing, float(np.sqrt(lengths.sum() * (high - low) / MAX_POINTS)))
    levels = (low + high) / 2 + _steps(high - low, spacing)
    at = (np.arange(max(8, int(lengths.sum() / spacing))) + 0.5) / max(8, int(lengths.sum() / spacing)) * lengths.sum()
    starts = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    edge = np.clip(np.searchsorted(starts, at, side="right") - 1, 0, len(corners) - 1)
    share = ((at - starts[edge]) / np.maximum(lengths[edge], 1e-9))[:, None]
    outline = corners[edge] * (1 - share) + ends[edge] * share
    tangent = (ends - corners)[edge] / np.maximum(lengths[edge], 1e-9)[:, None]
    normal = np.column_stack([tangent[:, 1], -tangent[:, 0], np.zeros(len(edge))])  # the hull runs counter-clockwise
    side = np.column_stack([np.tile(outline, (len(levels), 1)), np.repeat(levels, len(outline))])
    top = np.column_stack([outline * 0.5 + outline.mean(axis=0) * 0.5, np.full(len(outline), high)])
    points = np.vstack([side, top])
    return Surface(points, np.vstack([np.tile(normal, (len(levels), 1)), np.tile([0.0, 0.0, 1.0], (len(top), 1))]))
