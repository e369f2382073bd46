"""How much room is left in a container: between its walls, above what is seen or known to lie in it, below its rim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import grey_closing

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.fit.surface import complete_surface
from deskhand.types import Scene, SceneObject

CELL = 0.004  # [m]
GAP = 3  # cells: narrower gaps between samples, and between objects, are no room
OFF_WALL = 0.004  # [m] within which points are the wall's own
ON_FLOOR = 0.006  # [m] above the floor below which points are the floor's own


@dataclass(frozen=True)
class Room:
    """``volume`` [m3] that is free, ``share`` of all that the empty container holds, ``highest`` [m]: from the highest of the contents up to the rim."""

    volume: float
    share: float
    highest: float


def room_in(scene: Scene, container: SceneObject) -> Room:
    """The room in a container. What lies in it counts with everything below its top: nothing can be put there from above.

    ``scene`` should hold what is known to be hidden in it too (Belief.everything). Objects that hang out over the walls count up to the walls only.
    """
    size = np.asarray(container.size, dtype=float)
    inner, floor, rim = size[:2] / 2 - max(container.wall, 0.002), -size[2] / 2 + container.wall, size[2] / 2
    half = np.maximum(inner - OFF_WALL, CELL)  # what is seen nearer to a wall may be the wall: there it is taken to be as elsewhere
    count = np.maximum(1, np.floor(2 * half / CELL).astype(int))
    edges = 2 * half / count
    x, y = ((np.arange(n) + 0.5) * edge - h for n, edge, h in zip(count, edges, half, strict=True))
    inside = np.ones(tuple(count), bool)
    if container.shape == "cylinder":
        inside = np.hypot(x[:, None] / half[0], y[None, :] / half[1]) <= 1.0
    heights = np.full(tuple(count), floor)
    for points in _contents(scene, container):
        local = transform_points(inverse(container.pose), points)
        keep = np.all(np.abs(local[:, :2]) < half, axis=1) & (local[:, 2] > floor + ON_FLOOR)
        index = np.clip(np.floor((local[keep, :2] + half) / edges).astype(int), 0, count - 1)
        np.maximum.at(heights, (index[:, 0], index[:, 1]), np.minimum(local[keep, 2], rim))
    heights = grey_closing(heights, size=(GAP, GAP))
    free = np.where(inside, rim - heights, 0.0)
    share = float(free.sum() / max(1e-9, inside.sum() * (rim - floor)))
    whole = float(np.prod(2 * inner)) * float(rim - floor) * (np.pi / 4 if container.shape == "cylinder" else 1.0)
    return Room(share * whole, share, float(free[inside].min()))


def _contents(scene: Scene, container: SceneObject) -> list[Array]:
    """Points (N, 3) of what may lie in the container: the surfaces of other objects, and all that the camera saw there."""
    reach = float(np.linalg.norm(container.size[:2])) / 2
    parts = [np.asarray(scene.cloud, dtype=float).reshape(-1, 3)]
    for item in scene.objects:
        near = float(np.linalg.norm(item.position[:2] - container.position[:2])) < reach
        if item.id != container.id and not item.is_container and item.relation != "held" and near:
            parts.append(complete_surface(item, CELL * 0.8).body)
    return parts
