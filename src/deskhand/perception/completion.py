"""What is not seen of a thing: its hidden surface, estimated from its solid; and how much still fits into a container."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.geometry import Array, transform_points
from deskhand.types import Scene, SceneObject

_SPACING = 0.004  # [m]
_NEW = 0.006  # [m] from the next seen point on, the surface counts as hidden


def completed_cloud(item: SceneObject, spacing: float = _SPACING) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Points (N, 3) [m] in ``world`` all round a thing, and which of them (N,) were seen; the others are estimated from its solid.

    Of a container only the walls and the floor are filled in, so that its inside stays free.
    """
    hidden = transform_points(item.pose, _surface(item, spacing))
    if len(item.points):
        distance, _ = cKDTree(item.points).query(hidden, distance_upper_bound=_NEW)
        hidden = hidden[~np.isfinite(distance)]
    seen = np.concatenate([np.ones(len(item.points), bool), np.zeros(len(hidden), bool)])
    return np.concatenate([item.points, hidden]).astype(np.float32), seen


def free_volume(scene: Scene, container: SceneObject) -> float:
    """[m3] left below the rim of a container, what lies in it taken as its boxes."""
    inner = np.maximum(container.size - np.array([2 * container.wall, 2 * container.wall, container.wall]), 0.0)
    whole = float(np.prod(inner)) * (np.pi / 4 if container.shape == "cylinder" else 1.0)
    taken = 0.0
    for item in scene.objects:
        if item.relation == "in" and item.support == container.id:
            below = np.clip((container.top - item.bottom) / max(1e-6, item.top - item.bottom), 0.0, 1.0)
            taken += _volume(item) * float(below)
    return max(0.0, whole - taken)


def _volume(item: SceneObject) -> float:
    share = {"sphere": np.pi / 6, "cylinder": np.pi / 4}.get(item.shape, 1.0)
    return float(np.prod(item.size)) * share


def _surface(item: SceneObject, spacing: float) -> Array:
    """Points (N, 3) on the solid, in the frame of its pose."""
    x, y, z = item.size / 2
    if item.shape == "sphere":
        count = max(24, int(4 * np.pi * (x / spacing) ** 2))
        height = 1 - 2 * (np.arange(count) + 0.5) / count
        angle = np.pi * (1 + np.sqrt(5)) * np.arange(count)
        ring = np.sqrt(1 - height**2)
        return np.asarray(x * np.column_stack([ring * np.cos(angle), ring * np.sin(angle), height]))
    if item.shape == "cylinder":
        lying = abs(item.size[1] - item.size[2]) < 1e-6 < abs(item.size[0] - item.size[2])
        return _cylinder(x, y, item.is_container, spacing)[:, [2, 0, 1]] if lying else _cylinder(z, x, item.is_container, spacing)
    faces = []
    for axis, sign in ((0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)):
        if axis == 2 and sign == 1 and item.is_container:
            continue
        others = [k for k in range(3) if k != axis]
        grids = [np.linspace(-item.size[k] / 2, item.size[k] / 2, max(2, int(item.size[k] / spacing) + 1)) for k in others]
        u, v = np.meshgrid(*grids)
        face = np.empty((u.size, 3))
        face[:, axis], face[:, others[0]], face[:, others[1]] = sign * item.size[axis] / 2, u.ravel(), v.ravel()
        faces.append(face)
    return np.concatenate(faces)


def _cylinder(half: float, radius: float, is_open: bool, spacing: float) -> Array:
    """About z."""
    angles = np.linspace(0, 2 * np.pi, max(12, int(2 * np.pi * radius / spacing)), endpoint=False)
    heights = np.linspace(-half, half, max(2, int(2 * half / spacing) + 1))
    side = [np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(len(angles), height)]) for height in heights]
    rings = [r * np.column_stack([np.cos(angles), np.sin(angles)]) for r in np.arange(spacing / 2, radius, spacing)]
    ends = [np.column_stack([ring, np.full(len(ring), end)]) for ring in rings for end in ((-half,) if is_open else (-half, half))]
    return np.concatenate(side + ends)
