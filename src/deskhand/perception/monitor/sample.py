"""A picture thinned for watching: levelled world points, colours, and what is the robot's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.monitor.settings import SAMPLE
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import TableFit, fit_table
from deskhand.perception.view import smooth_depth
from deskhand.types import Frame

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
IsRobot = Callable[[Floats], Mask]
"""Which of world points (N, 3) are the robot's own."""


@dataclass(frozen=True)
class ThinnedPicture:
    """Every ``SAMPLE.stride``-th pixel of a picture, all (h, w) or (h, w, 3).

    Attributes:
        depth: along the optical axis [m], NaN for none.
        points: in the levelled world [m], where the table is z = 0; NaN where depth is.
        chroma: r, g, b over their sum; ``light``: their mean, 0..255.
        robot: the robot's own, with a margin.
        pixel_area: of a surface that faces the camera, per pixel [m2]; NaN where depth is.
        stamp: of the exposure [s].
    """

    depth: Floats
    points: Floats
    chroma: Floats
    light: Floats
    robot: Mask
    pixel_area: Floats
    stamp: float


class PictureThinner:
    """Thins pictures of a camera, levelled once by the table of the first.

    Raises:
        DeskhandError: ``no_table`` when no table is where it should be.
    """

    def __init__(self, first: Frame) -> None:
        self.fit: TableFit = fit_table(first, PerceptionSettings())
        self._pose = first.world_T_camera.copy()

    def same_view(self, frame: Frame) -> bool:
        """Whether the camera stands where it stood for the first picture."""
        return bool(np.allclose(frame.world_T_camera, self._pose, atol=1e-3))

    def take(self, frame: Frame, is_robot: IsRobot | None = None) -> ThinnedPicture:
        """A picture, thinned."""
        level = self.fit.levelled(frame)
        stride = slice(SAMPLE.stride // 2, None, SAMPLE.stride)
        depth = np.ascontiguousarray(smooth_depth(level.depth)[stride, stride])
        k = level.intrinsics
        v, u = np.mgrid[0 : k.height, 0 : k.width].astype(np.float32)
        right, down = (u[stride, stride] - k.cx) / k.fx, (v[stride, stride] - k.cy) / k.fy
        pose: Array = level.world_T_camera.astype(np.float32)
        points = np.stack([(pose[axis, 0] * right + pose[axis, 1] * down + pose[axis, 2]) * depth + pose[axis, 3] for axis in range(3)], axis=-1)
        color = cv2.blur(frame.color, (3, 3))[stride, stride].astype(np.float32)
        total = color.sum(axis=-1)
        chroma = (color + 8.0) / (total + 24.0)[..., None]
        area = (depth * SAMPLE.stride) ** 2 / np.float32(k.fx * k.fy)
        return ThinnedPicture(depth, points, chroma, total / 3, self._robot(points, is_robot), area, frame.stamp)

    def _robot(self, points: Floats, is_robot: IsRobot | None) -> Mask:
        own = np.zeros(points.shape[:2], bool)
        if is_robot is None:
            return own
        with np.errstate(invalid="ignore"):
            above = points[..., 2] > 0.005
        own[above] = is_robot(points[above])
        side = 2 * SAMPLE.robot_margin + 1
        return np.asarray(cv2.dilate(own.astype(np.uint8), np.ones((side, side), np.uint8)) > 0)
