"""The 6-D pose of an object of known shape, from picture to picture."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from deskhand.geometry import Array, transform_points
from deskhand.perception.neighbours import nearest
from deskhand.perception.registration import TRIM, icp, sampled
from deskhand.types import SceneObject

FEWEST = 20  # points that a pose is told from
MOST = 300  # points that are used
ROUNDS = 12
LOST = 0.006  # [m] of residual from which the shape does not lie on what is seen


class PoseTracker:
    """Lays an object's shape on what is seen of it.

    Attributes:
        pose: world_T_object (4, 4) of the centre of its oriented box.
    """

    def __init__(self, item: SceneObject) -> None:
        self.pose = item.pose.copy()
        self._surface, self._normals = surface_of(item)

    def update(self, seen: Array, eye: Array) -> float | None:
        """Take what a picture taken from ``eye`` (3,) shows of the object, (N, 3) [m]; the rms distance from the surface [m], None when that is too little."""
        if len(seen) < FEWEST:
            return None
        seen = seen[np.linspace(0, len(seen) - 1, min(len(seen), MOST)).astype(int)]
        middle = np.median(seen, axis=0)
        start = self.pose.copy()
        start[:3, 3] += middle - np.median(self._facing(eye), axis=0)  # as far as it has moved along
        ranked: list[tuple[float, int, Array]] = []
        for first in (self.pose, start):
            pose = icp(self._surface, self._normals, seen, first, eye, ROUNDS)
            distance, _ = nearest(transform_points(pose, self._surface), seen)
            ranked.append((float(np.sqrt(np.mean(np.sort(distance)[: int(TRIM * len(distance))] ** 2))), len(ranked), pose))
        residual, _, pose = min(ranked)
        if residual > LOST:
            return None
        self.pose = pose
        return residual

    def _facing(self, eye: Array) -> Array:
        points = transform_points(self.pose, self._surface)
        facing = ((self._normals @ self.pose[:3, :3].T) * (eye - points)).sum(axis=1) > 0
        return points[facing] if facing.any() else points


def surface_of(item: SceneObject) -> tuple[Array, Array]:
    """Points (N, 3) and outward normals (N, 3) of an object's surface, in the frame of its pose [m]: its box, cylinder or ball."""
    if item.shape == "sphere":
        random = np.random.default_rng(0).normal(size=(400, 3))
        corners = random / np.linalg.norm(random, axis=1)[:, None] * item.size / 2
    elif item.shape == "cylinder":
        angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        corners = np.array([[np.cos(a), np.sin(a), z] for a in angles for z in (-1, 1)]) * item.size / 2
    else:
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * item.size / 2
    hull = ConvexHull(corners)
    faces = [
        face if np.cross(corners[face[1]] - corners[face[0]], corners[face[2]] - corners[face[0]]) @ corners[face[0]] > 0 else face[::-1]
        for face in hull.simplices
    ]
    return sampled(corners, np.array(faces, np.int32))
