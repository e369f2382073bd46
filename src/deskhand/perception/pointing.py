"""What a ray in space meets first: an object, the robot or the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deskhand.geometry import Array
from deskhand.types import Scene, SceneObject

WIDE = 0.008  # [m] from a point that was seen of a surface, within which a ray meets it
FAR = 5.0  # [m] beyond which nothing is met


@dataclass(frozen=True)
class RayHit:
    """What a ray meets at ``place`` (3,) [m]; ``near``: all objects with their distance from the ray [m], nearest first."""

    object_id: str
    on: Literal["object", "table", "robot", "nothing"]
    place: Array
    near: tuple[tuple[str, float], ...]


def first_hit(origin: Array, way: Array, scene: Scene, robot: Array) -> RayHit:
    """Follow a ray from ``origin`` (3,) along the unit vector ``way`` (3,); ``robot`` (N, 3): points of the robot that are seen."""
    near = sorted(((item.id, _distance(item, origin, way)) for item in scene.objects), key=lambda pair: pair[1])
    hits: list[tuple[float, Literal["object", "table", "robot", "nothing"], str]] = []
    for item in scene.objects:
        along = _enters(item, origin, way)
        if along is not None:
            hits.append((along, "object", item.id))
    if (along := _first_near(robot, origin, way)) is not None:
        hits.append((along, "robot", ""))
    if way[2] < -1e-6 and 0 < -origin[2] / way[2] < FAR:
        place = origin - origin[2] / way[2] * way
        if (np.abs(place[:2] - scene.table.pose[:2, 3]) <= np.asarray(scene.table.size) / 2).all():
            inside = next((item.id for item in scene.objects if item.is_container and _over(item, place)), "")
            hits.append((float(-origin[2] / way[2]), "object" if inside else "table", inside))
    if not hits:
        return RayHit("", "nothing", origin + FAR * way, tuple(near))
    along, on, name = min(hits)
    return RayHit(name, on, origin + along * way, tuple(near))


def _over(item: SceneObject, place: Array) -> bool:
    """Whether a place on the table is under an object's box: the floor of a container lies there."""
    local = np.abs((place + np.array([0.0, 0.0, item.size[2] / 2]) - item.position) @ item.pose[:3, :3])
    return bool((local <= item.size / 2 + 0.01).all())


def _enters(item: SceneObject, origin: Array, way: Array) -> float | None:
    """How far along the ray it enters the object's oriented box (for containers: what was seen of it) [m]; None where it misses."""
    if item.is_container and len(item.points):
        return _first_near(np.asarray(item.points, float), origin, way)
    start, turned = (origin - item.position) @ item.pose[:3, :3], way @ item.pose[:3, :3]
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (-item.size / 2 - start) / turned, (item.size / 2 - start) / turned
    low, high = np.nanmax(np.minimum(a, b)), np.nanmin(np.maximum(a, b))
    return float(max(low, 0.0)) if low <= high and high >= 0 else None


def _first_near(points: Array, origin: Array, way: Array) -> float | None:
    if not len(points):
        return None
    along = (points - origin) @ way
    off = np.linalg.norm(points - origin - along[:, None] * way, axis=1)
    met = along[(off < WIDE) & (along > 0)]
    return float(met.min()) if len(met) else None


def _distance(item: SceneObject, origin: Array, way: Array) -> float:
    """Of what was seen of an object, or its centre, from the ray [m]."""
    points = np.asarray(item.points, float) if len(item.points) else item.position[None]
    along = np.maximum((points - origin) @ way, 0.0)
    return float(np.linalg.norm(points - origin - along[:, None] * way, axis=1).min())
