"""What the camera says about points that are not seen: behind something, or in free space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.frame_settings import VISIBILITY
from deskhand.perception.view import Mask, View

HIDDEN, SEEN, FREE, UNKNOWN = 1, 0, -1, 2

States = npt.NDArray[np.int8]
Taken = Callable[[Array], Mask]
"""Which of points (N, 3) lie within other objects."""


def nowhere(points: Array) -> Mask:
    """There is nothing else."""
    return np.zeros(len(points), bool)


def states(view: View, points: Array, margin: float = VISIBILITY.margin) -> States:
    """For each world point (N, 3): HIDDEN by something nearer, SEEN at this depth, FREE (the camera looks through it) or UNKNOWN."""
    pose, k = view.frame.world_T_camera, view.frame.intrinsics
    x, y, z = np.ascontiguousarray(((points - pose[:3, 3]) @ pose[:3, :3]).T)
    z = np.maximum(z, 1e-6)
    u = np.rint(k.fx * x / z + k.cx).astype(np.int64)
    v = np.rint(k.fy * y / z + k.cy).astype(np.int64)
    height, width = view.valid.shape
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    depth = view.frame.depth[np.where(inside, v, 0), np.where(inside, u, 0)]
    with np.errstate(invalid="ignore"):
        nearer, farther = depth < z - margin, depth > z + margin
    result: States = nearer.view(np.int8) * np.int8(HIDDEN - SEEN) + farther.view(np.int8) * np.int8(FREE - SEEN) + np.int8(SEEN)
    result[~inside | ~np.isfinite(depth)] = UNKNOWN
    return result


def is_hidden(view: View, points: Array) -> bool:
    """True when most of what can be said of these points is that something stands before them."""
    found = states(view, points)
    said = found != UNKNOWN
    return bool(said.any() and (found[said] == HIDDEN).mean() > 0.5)


_FACE = np.stack(np.meshgrid(np.linspace(-0.8, 0.8, 4), np.linspace(-0.8, 0.8, 4)), axis=-1).reshape(-1, 2)


def free_share(view: View, pose: Array, size: Array) -> float:
    """Share of the faces of an upright box that turn to the camera (``pose`` (4, 4), ``size`` (3,) [m]) where the camera looks through.

    Each face is taken as far within the box as its place may be off: the camera sees past a body that ends a little before a face which is seen aslant.
    """
    half = size / 2
    within = np.maximum(half - VISIBILITY.inset, half / 2)
    toward = (view.eye - pose[:3, 3]) @ pose[:3, :3]
    faces = []
    for axis, (u, v) in ((0, (1, 2)), (1, (0, 2)), (2, (0, 1))):
        if abs(toward[axis]) < half[axis] + VISIBILITY.grazing * np.linalg.norm(toward):
            continue
        face = np.empty((len(_FACE), 3))
        face[:, axis], face[:, u], face[:, v] = np.sign(toward[axis]) * within[axis], _FACE[:, 0] * half[u], _FACE[:, 1] * half[v]
        faces.append(face)
    found = states(view, np.concatenate(faces) @ pose[:3, :3].T + pose[:3, 3])
    said = found[found != UNKNOWN]
    return float((said == FREE).mean()) if len(said) else 0.0
