"""Pictures without lens distortion: everything above the drivers takes a camera to be a pinhole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from deskhand.cameras.base import RgbdImage
from deskhand.geometry import Array
from deskhand.types import CameraIntrinsics

NEGLIGIBLE = 0.3  # [px] that a corner may be off
ITERATIONS = 15


class Rectifier:
    """Takes the distortion out of colour and of the depth aligned to it.

    Args:
        intrinsics: of the distorted picture; those of the rectified one are the same.
        distortion: k1, k2, p1, p2, k3[, k4, k5, k6], as in OpenCV ("plumb bob", "rational polynomial").
        inverse: the model goes from the picture to the ray (librealsense's ``inverse_brown_conrady``).
    """

    def __init__(self, intrinsics: CameraIntrinsics, distortion: Sequence[float], inverse: bool = False) -> None:
        self.intrinsics = intrinsics
        coefficients = np.asarray(distortion, dtype=float)
        k = intrinsics
        v, u = np.mgrid[0 : k.height, 0 : k.width].astype(float)
        rays = np.column_stack([((u - k.cx) / k.fx).ravel(), ((v - k.cy) / k.fy).ravel()])
        seen = _undistorted(rays, coefficients) if inverse else _distorted(rays, coefficients)
        x, y = (seen[:, 0] * k.fx + k.cx).reshape(u.shape), (seen[:, 1] * k.fy + k.cy).reshape(u.shape)
        self.shift = float(np.hypot(x - u, y - v).max())
        self._coarse, self._fine = cv2.convertMaps(x.astype(np.float32), y.astype(np.float32), cv2.CV_16SC2)
        self._nearest, _ = cv2.convertMaps(x.astype(np.float32), y.astype(np.float32), cv2.CV_16SC2, nninterpolation=True)

    @property
    def needed(self) -> bool:
        """False where the lens bends the picture by less than :data:`NEGLIGIBLE`."""
        return self.shift > NEGLIGIBLE

    def apply(self, image: RgbdImage) -> RgbdImage:
        """The same exposure without distortion; depth is never mixed between pixels."""
        color = cv2.remap(image.color, self._coarse, self._fine, cv2.INTER_LINEAR)
        depth = cv2.remap(image.depth, self._nearest, None, cv2.INTER_NEAREST)
        return replace(image, color=color, depth=depth, intrinsics=self.intrinsics)


def _distorted(rays: Array, coefficients: Array) -> Array:
    points, _ = cv2.projectPoints(np.column_stack([rays, np.ones(len(rays))]), np.zeros(3), np.zeros(3), np.eye(3), coefficients)
    return np.asarray(points.reshape(-1, 2), float)


def _undistorted(rays: Array, coefficients: Array) -> Array:
    """What is distorted into ``rays``, by fixed-point iteration, which converges for the mild distortion of such lenses."""
    points: Array = rays.copy()
    for _ in range(ITERATIONS):
        points -= _distorted(points, coefficients) - rays
    return points
