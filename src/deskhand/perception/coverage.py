"""What of the space over the desk has been seen, what hides the rest, and how much of it another view would show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.arms.config import ArmConfig
from deskhand.geometry import Array
from deskhand.types import CameraIntrinsics, Frame

CELL = 0.02  # [m]
HEIGHT = 0.12  # [m] of the space over the desk that things stand in
BEYOND = 0.06  # [m] around where the arm grasps
NEAR, FAR = 0.12, 0.9  # [m] from the camera within which a view tells something
SURE = 0.5 * CELL  # [m] beyond a cell's middle that a picture must reach to show it free

Mask = npt.NDArray[np.bool_]


class Coverage:
    """Cells over the part of the desk that the arm reaches: each seen to be free or filled, or not seen yet.

    Attributes:
        seen: (X, Y, Z) whether a picture has shown the cell.
        filled: (X, Y, Z) whether something is in it that hides what is behind.
        wanted: (X, Y, Z) whether anybody wants to know; cells beyond the arm's reach are not wanted.
    """

    def __init__(self, arm: ArmConfig) -> None:
        base, most = arm.world_T_base[:2, 3], arm.work_radius[1] + BEYOND
        self._low = np.array([*(base - most), 0.0])
        count = np.ceil(np.array([2 * most, 2 * most, HEIGHT]) / CELL).astype(int)
        self._centres = self._low + (np.stack(np.meshgrid(*map(np.arange, count), indexing="ij"), axis=-1) + 0.5) * CELL
        away = np.linalg.norm(self._centres[..., :2] - base, axis=-1)
        ahead = self._centres[..., 0] > base[0] - 0.05  # behind the arm there is nothing to grasp
        self.wanted: Mask = (away > arm.work_radius[0] - BEYOND) & (away < most) & ahead
        self.seen: Mask = np.zeros(self.wanted.shape, bool)
        self.filled: Mask = np.zeros(self.wanted.shape, bool)

    def around(self, place: Array, radius: float) -> None:
        """Only cells within ``radius`` [m] of (x, y) are wanted from here on."""
        self.wanted &= np.linalg.norm(self._centres[..., :2] - np.asarray(place)[:2], axis=-1) < radius

    @property
    def unknown(self) -> float:
        """Share of what is wanted that no picture has shown."""
        return float((self.wanted & ~self.seen).sum() / max(1, self.wanted.sum()))

    def look(self, frame: Frame, cloud: npt.NDArray[np.float32]) -> None:
        """Take in a picture, and the points (N, 3) that stand on the desk in it, without the robot's own."""
        index = np.floor((np.asarray(cloud, dtype=float) - self._low) / CELL).astype(int)
        inside = ((index >= 0) & (index < self.filled.shape)).all(axis=1)
        self.filled[tuple(index[inside].T)] = True
        self.seen |= self.filled
        left = np.nonzero(~self.seen)
        points = self._centres[left]
        pixels, far = _project(frame.world_T_camera, frame.intrinsics, points)
        height, width = frame.depth.shape
        row, column = np.clip(pixels[:, 1], 0, height - 1), np.clip(pixels[:, 0], 0, width - 1)
        shown = (pixels == np.column_stack([column, row])).all(axis=1) & (far > 0)
        with np.errstate(invalid="ignore"):
            free = shown & (frame.depth[row, column] > far + np.where(points[:, 2] < CELL, -SURE, SURE))
        self.seen[tuple(axis[free] for axis in left)] = True

    def gain(self, world_T_camera: Array, intrinsics: CameraIntrinsics) -> float:
        """Share of what is wanted that a picture from there would show for the first time; what nobody has seen counts as empty."""
        points = self._centres[self.wanted & ~self.seen]
        pixels, far = _project(world_T_camera, intrinsics, points)
        inside = (pixels >= 0).all(axis=1) & (pixels[:, 0] < intrinsics.width) & (pixels[:, 1] < intrinsics.height) & (far > NEAR) & (far < FAR)
        points = points[inside]
        return float((~self._hidden(points, world_T_camera[:3, 3])).sum() / max(1, self.wanted.sum()))

    def _hidden(self, points: Array, eye: Array) -> Mask:
        """Which of the points (N, 3) have a filled cell before them."""
        way = eye - points
        way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
        hidden = np.zeros(len(points), bool)
        for step in np.arange(1.0, HEIGHT / CELL * 3):
            index = np.floor((points + step * CELL * way - self._low) / CELL).astype(int)
            within = ((index >= 0) & (index < self.filled.shape)).all(axis=1)
            if not within.any():
                break
            hidden[within] |= self.filled[tuple(index[within].T)]
        return hidden


def _project(world_T_camera: Array, k: CameraIntrinsics, points: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """Pixels (N, 2) as (column, row), and distance along the optical axis (N,) [m]."""
    camera = (points - world_T_camera[:3, 3]) @ world_T_camera[:3, :3]
    z = np.maximum(camera[:, 2], 1e-6)
    return np.rint(np.column_stack([k.fx * camera[:, 0] / z + k.cx, k.fy * camera[:, 1] / z + k.cy])).astype(np.int64), camera[:, 2]
