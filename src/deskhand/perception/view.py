"""One frame, prepared: levelled points, heights, chromaticity, and which pixels belong to things."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import TableFit
from deskhand.types import Frame

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class View:
    """Per pixel data of a frame, all (H, W) or (H, W, 3), in the levelled world where the table is z = 0.

    Attributes:
        frame: with the levelled camera pose.
        points: world points from the smoothed depth, NaN where there is none.
        chroma: r, g, b over their sum.
        light: mean of r, g, b, 0..255.
        valid: has depth.
        things: above the table, within its extent, not the robot.
        robot: removed by the self-filter.
        noise: standard deviation of the depth on the table [m].
    """

    frame: Frame
    points: Floats
    chroma: Floats
    light: Floats
    valid: Mask
    things: Mask
    robot: Mask
    noise: float

    @property
    def height(self) -> Floats:
        """Above the table [m]."""
        return self.points[..., 2]

    @property
    def eye(self) -> Array:
        """Position (3,) of the camera."""
        return self.frame.world_T_camera[:3, 3]


def smooth_depth(depth: Floats) -> Floats:
    """Median of 3x3, NaN where the pixel itself has no depth."""
    hole = ~np.isfinite(depth)
    filled = cv2.medianBlur(np.where(hole, np.float32(0), depth).astype(np.float32), 3)
    filled[hole | (filled <= 0)] = np.nan
    return np.asarray(filled, dtype=np.float32)


def make_view(frame: Frame, fit: TableFit, settings: PerceptionSettings) -> View:
    """Prepare ``frame``; ``robot`` is empty."""
    smooth = smooth_depth(frame.depth)
    level = Frame(frame.color, smooth, frame.intrinsics, fit.world_T_camera, frame.stamp)
    points = level.points()
    valid = np.isfinite(smooth)
    color = cv2.medianBlur(np.ascontiguousarray(frame.color), 3).astype(np.float32)
    total = color.sum(axis=2)
    chroma = (color + 8.0) / (total + 24.0)[..., None]
    half = np.asarray(fit.table.size) / 2 + 0.02
    centre = fit.table.pose[:2, 3]
    with np.errstate(invalid="ignore"):
        z = points[..., 2]
        things = (z > settings.min_height) & (z < settings.max_height)
        for axis in (0, 1):
            things &= np.abs(points[..., axis] - np.float32(centre[axis])) < half[axis]
    return View(level, points, chroma.astype(np.float32), (total / 3).astype(np.float32), valid, things, np.zeros(valid.shape, bool), fit.noise)
