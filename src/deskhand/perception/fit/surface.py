"""What an object's surface looks like on all sides: the seen part completed from its shape and oriented box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array, cylinder_axis, inverse, transform_points
from deskhand.perception.fit.heightmap_completion import column_body, column_sides, columns_of, rounded
from deskhand.perception.fit.revolution_completion import Turned, turned, turning_axis
from deskhand.perception.fit.surface_settings import SURFACE
from deskhand.types import SceneObject


@dataclass(frozen=True)
class Surface:
    """Samples of a closed surface: ``points`` and outward unit ``normals``, both (N, 3) in ``world``; pads may take hold there.

    ``body`` (K, 3): more samples, for tests of contact only. ``simple``: a solid explains all that was seen; else columns do.
    """

    points: Array
    normals: Array
    body: Array
    simple: bool = True


def complete_surface(item: SceneObject, spacing: float = 0.005) -> Surface:
    """The whole surface of ``item``, hidden side included, about ``spacing`` [m] between the samples.

    That of its box, cylinder or sphere when this explains the seen points; else columns under the seen top (columns.py).
    """
    seen = np.asarray(item.points, dtype=float)
    if item.shape != "other" or len(seen) < SURFACE.min_seen:
        points, normals = _solid(item, spacing)
        surface = Surface(points, normals, points)
        if len(seen) < SURFACE.min_seen or explains(item, surface, seen):
            return surface
    return column_surface(item)


def column_surface(item: SceneObject, parts: Sequence[SceneObject] = ()) -> Surface:
    """Columns under all that was seen of ``item``, and of other ``parts`` of the same object."""
    seen = np.vstack([np.asarray(part.points, dtype=float) for part in (item, *parts)])
    field = columns_of(seen, min(item.bottom, float(seen[:, 2].min())))
    wall = None if parts else _wall(item, seen, field.floor)
    if wall is not None:
        field = rounded(field, wall.centre, float(wall.radius.max()) + 0.002)
    points, normals = column_sides(field)
    body = column_body(field)
    if wall is not None:
        points, normals, body = _with_wall(points, normals, body, wall)
        if item.wall > 0:
            inside, inward = _inside(item, wall)
            points, normals = np.vstack([points, inside]), np.vstack([normals, inward])
    if parts:  # take hold of this one, not of its neighbour
        low, high = np.asarray(item.points).min(axis=0) - SURFACE.part_edge, np.asarray(item.points).max(axis=0) + SURFACE.part_edge
        near = np.all((points[:, :2] > low[:2]) & (points[:, :2] < high[:2]), axis=1) & (points[:, 2] > item.bottom)
        points, normals = points[near], normals[near]
    return Surface(points, normals, body, simple=False)


def _wall(item: SceneObject, seen: Array, floor: float) -> Turned | None:
    """The outside of what stands and goes round an axis: where all that is seen tells that to be, else that of its solid."""
    if item.shape == "other" or abs(item.pose[2, 2]) < 0.95:
        return None
    axis = turning_axis(seen, floor)
    if axis is not None and (wall := turned(seen, axis, floor)) is not None:
        return wall
    return turned(seen, item.position[:2], floor) if item.shape == "sphere" or (item.shape == "cylinder" and cylinder_axis(item.size) == 2) else None


def _with_wall(points: Array, normals: Array, body: Array, wall: Turned) -> tuple[Array, Array, Array]:
    """Columns whose outside is replaced by the wall that was seen; what lies inside or sticks out stays."""
    beside = np.linalg.norm(points[:, :2] - wall.centre, axis=1) - wall.radius_at(points[:, 2])
    highest = wall.radius.max()
    outside = (np.abs(beside) < SURFACE.wall_band) | ((beside > 0) & (np.linalg.norm(points[:, :2] - wall.centre, axis=1) < highest + SURFACE.wall_band))
    sides, outward = wall.sides(0.007)
    reaches = np.linalg.norm(body[:, :2] - wall.centre, axis=1) - wall.radius_at(body[:, 2])
    hangs = (reaches > SURFACE.wall_band) & (np.linalg.norm(body[:, :2] - wall.centre, axis=1) < highest + SURFACE.wall_band)
    return np.vstack([points[~outside], sides]), np.vstack([normals[~outside], outward]), np.vstack([body[~hangs], sides])


def _inside(item: SceneObject, wall: Turned) -> tuple[Array, Array]:
    """Samples (N, 3) of the inside of an open object's ``wall`` and their normals, each opposite one of the outside: a wall is thinner than samples are apart,
    and two sides that are sampled on their own face each other by chance only.
    """
    sides, outward = wall.sides(0.007)
    thick = item.wall if item.is_container else max(item.wall, 2 * SURFACE.cup_wall * float(np.median(wall.radius)))
    high = sides[:, 2] > item.bottom + 2 * thick
    return sides[high] - thick * outward[high], -outward[high]


class Surfaces:
    """Completed surfaces of one scene's objects, each made once: objects are obstacles of each other."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[SceneObject, Surface]] = {}

    def of(self, item: SceneObject) -> Surface:
        """See :func:`complete_surface`."""
        if id(item) not in self._known:
            self._known[id(item)] = item, complete_surface(item)  # the item is kept, so that its id stays its own
        return self._known[id(item)][1]


def _solid(item: SceneObject, spacing: float) -> tuple[Array, Array]:
    size = np.maximum(np.asarray(item.size, dtype=float), 0.002)
    if item.shape == "sphere":
        points, normals = _sphere(float(np.mean(size)) / 2)
    elif item.shape == "cylinder":
        points, normals = _cylinder(size, spacing, item.wall if item.is_container else 0.0)
    else:
        points, normals = _box(size, spacing)
    return transform_points(item.pose, points), normals @ item.pose[:3, :3].T


def explains(item: SceneObject, surface: Surface, seen: Array) -> bool:
    """Whether the solid of ``item`` is what was seen: no seen point (N, 3) far from it, no part of its top unseen."""
    off = np.abs(_distance(item, seen))
    if np.quantile(off, 0.9) > SURFACE.fits or (off > SURFACE.far_off).mean() > 0.03:
        return False
    top = surface.points[(surface.normals[:, 2] > 0.6) & (surface.points[:, 2] > item.bottom + 0.6 * (item.top - item.bottom))]
    if len(top) < 8:
        return True
    nearest = np.asarray(cKDTree(seen).query(top)[0])
    return bool(np.mean(nearest > SURFACE.covered) < SURFACE.unseen)


def _distance(item: SceneObject, points: Array) -> Array:
    """Signed distance (N,) [m] of points (N, 3) from the solid of ``item``, negative inside."""
    local, half = transform_points(inverse(item.pose), points), np.asarray(item.size, dtype=float) / 2
    if item.shape == "sphere":
        return np.asarray(np.linalg.norm(local, axis=1) - half.mean())
    if item.shape == "cylinder":
        axis = cylinder_axis(2 * half)
        across = np.delete(local, axis, axis=1)
        gap = np.column_stack([np.linalg.norm(across, axis=1) - np.delete(half, axis).mean(), np.abs(local[:, axis]) - half[axis]])
    else:
        gap = np.abs(local) - half
    outside = np.linalg.norm(np.maximum(gap, 0.0), axis=1)
    return np.asarray(np.where(outside > 0, outside, gap.max(axis=1)))


def box_points(size: Array, spacing: float) -> Array:
    """Samples (N, 3) of the faces of a cuboid around the origin."""
    return _box(np.asarray(size, dtype=float), spacing, limit=4000)[0]


def _steps(length: float, spacing: float) -> Array:
    count = max(2, int(np.ceil(length / spacing)))
    return (np.arange(count) + 0.5) / count * length - length / 2


def _box(size: Array, spacing: float, limit: int = SURFACE.max_points) -> tuple[Array, Array]:
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
    spacing = max(spacing, float(np.sqrt((np.pi * diameter * height + np.pi * diameter**2 / 2) / SURFACE.max_points)))
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
