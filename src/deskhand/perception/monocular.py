"""Depth from one colour picture by the plane that everything stands on: no depth sensor, no learned model.

As photo pop-up does it (Hoiem et al. 2005): where the picture shows the table, its depth follows from the camera's pose; what stands on it is taken as an
upright surface over the line where it meets the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.types import CameraIntrinsics, Depth, Image

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class MonocularSettings:
    """How the table is told from what stands on it; Lab units of OpenCV's 8-bit pictures, pixels as px. Chosen on simulated desks.

    Attributes:
        unlike: so many deviations from the table's colour around it a pixel is no table ..
        least: .. and by at least so much.
        rounds: of the robust fit of the table's colour.
        open, close: sides of the squares that take away specks and close gaps [px].
        area: smaller parts are specks [px].
        far: beyond is no table [m].
    """

    unlike: float = 4.0
    least: float = 9.0
    rounds: int = 6
    open: int = 3
    close: int = 7
    area: int = 60
    far: float = 3.0


SETTINGS = MonocularSettings()


def estimate_depth(image: Image, intrinsics: CameraIntrinsics, world_T_camera: Array, half: Array) -> tuple[Depth, Mask]:
    """Depth (H, W) [m] and which pixels are taken for objects that stand on the table (H, W).

    Args:
        image: (H, W, 3).
        intrinsics: of the camera that took it.
        world_T_camera: where it stood; the table is the plane z = 0.
        half: half the sides (x, y) of the table about the world's origin [m].

    Beyond the table depth is NaN.
    """
    plane, points = _plane_depth(intrinsics, world_T_camera)
    with np.errstate(invalid="ignore"):
        table = np.isfinite(plane) & (np.abs(points[..., :2]) <= half).all(axis=-1)
    standing = _standing(image, table)
    depth = np.where(table & ~standing, plane, np.nan).astype(np.float32)
    count, labels = cv2.connectedComponents(standing.astype(np.uint8), connectivity=8)
    for number in range(1, count):
        part = labels == number
        if part.sum() >= SETTINGS.area:
            depth[part] = _upright(part, points, intrinsics, world_T_camera)
    return depth, standing


def _rays(k: CameraIntrinsics, pose: Array) -> Array:
    v, u = np.mgrid[0 : k.height, 0 : k.width]
    return np.asarray(np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones(u.shape)], axis=-1) @ pose[:3, :3].T)


def _plane_depth(k: CameraIntrinsics, pose: Array) -> tuple[Array, Array]:
    """Depth (H, W) of the plane z = 0, NaN where it is behind or too far, and its points (H, W, 3)."""
    rays = _rays(k, pose)
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = -pose[2, 3] / rays[..., 2]
    depth = np.where((rays[..., 2] < -1e-6) & (depth > 0) & (depth < SETTINGS.far), depth, np.nan)
    return depth, pose[:3, 3] + rays * depth[..., None]


def _standing(image: Image, table: Mask) -> Mask:
    """Pixels within the table's outline whose colour is not the table's, which may change evenly over the picture."""
    lab = cv2.cvtColor(cv2.medianBlur(image, 5), cv2.COLOR_RGB2Lab).astype(np.float32)
    v, u = np.nonzero(table)
    if len(v) < 100:
        return np.zeros(table.shape, bool)
    height, width = table.shape
    columns = np.column_stack([np.ones(len(v)), u / width, v / height, (u / width) ** 2, (v / height) ** 2, u * v / (width * height)])
    values, kept = lab[v, u], np.ones(len(v), bool)
    step = max(1, len(v) // 20000)
    start = np.median(values[::step], axis=0)
    kept = np.linalg.norm(values - start, axis=1) < np.median(np.linalg.norm(values[::step] - start, axis=1)) * 2.5 + 3
    for _ in range(SETTINGS.rounds):
        some = np.flatnonzero(kept)[::step]
        even = columns @ np.linalg.lstsq(columns[some], values[some], rcond=None)[0]
        off = np.linalg.norm(values - even, axis=1)
        spread = 1.4826 * float(np.median(off[kept]))
        kept = off < max(SETTINGS.unlike * spread, SETTINGS.least)
    mask = np.zeros(table.shape, np.uint8)
    mask[v[~kept], u[~kept]] = 1
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((SETTINGS.open, SETTINGS.open), np.uint8))
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((SETTINGS.close, SETTINGS.close), np.uint8)) > 0)


def _upright(part: Mask, points: Array, k: CameraIntrinsics, pose: Array) -> npt.NDArray[np.float32]:
    """Depth of a part's pixels (N,): on a vertical surface over the points where each of its columns meets the table, seen from the camera."""
    rows, columns = np.nonzero(part)
    lowest = np.full(part.shape[1], -1)
    np.maximum.at(lowest, columns, rows)
    feet = points[lowest[columns], columns]  # (N, 3)
    smooth = np.isfinite(feet).all(axis=1)
    if not smooth.any():
        return np.full(len(rows), np.nan, np.float32)
    eye, rays = pose[:3, 3], _rays(k, pose)[rows, columns]
    level = feet[:, :2] - eye[:2]
    away = np.linalg.norm(level, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = away**2 / (rays[:, :2] * level).sum(axis=1)  # where the ray has gone as far, over the table, as the foot is away
    own = np.where(np.isfinite(depth) & (depth > 0), depth, np.nan)
    return np.asarray(np.minimum(own, np.linalg.norm(points[rows, columns] - eye, axis=1)), np.float32)
