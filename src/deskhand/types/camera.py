"""What a camera gives. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array

Image = npt.NDArray[np.uint8]
Depth = npt.NDArray[np.float32]


@dataclass(frozen=True)
class CameraIntrinsics:
    """Pinhole model of an already rectified camera; pixels."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    frame_id: str = "camera_color_optical_frame"


@dataclass(frozen=True)
class Frame:
    """One aligned colour + depth picture.

    Attributes:
        color: (H, W, 3) uint8, RGB.
        depth: (H, W) float32 [m], NaN where the sensor saw nothing.
        world_T_camera: pose of the optical frame (x right, y down, z forward).
        stamp: time of the exposure [s], ROS time.
    """

    color: Image
    depth: Depth
    intrinsics: CameraIntrinsics
    world_T_camera: Array
    stamp: float

    def points(self) -> npt.NDArray[np.float32]:
        """(H, W, 3) points in ``world`` [m]; NaN where depth is."""
        k = self.intrinsics
        v, u = np.mgrid[0 : k.height, 0 : k.width].astype(np.float32)
        camera = np.stack([(u - k.cx) / k.fx * self.depth, (v - k.cy) / k.fy * self.depth, self.depth], axis=-1)
        rotation = self.world_T_camera[:3, :3].astype(np.float32)
        return np.asarray(camera @ rotation.T + self.world_T_camera[:3, 3].astype(np.float32), dtype=np.float32)

    def project(self, points: npt.ArrayLike) -> Array:
        """Pixels (N, 2) as (u, v) of world points (N, 3); points behind the camera become NaN."""
        rotation, origin = self.world_T_camera[:3, :3], self.world_T_camera[:3, 3]
        camera = (np.asarray(points, dtype=float).reshape(-1, 3) - origin) @ rotation
        z = np.where(camera[:, 2] > 1e-6, camera[:, 2], np.nan)
        k = self.intrinsics
        return np.column_stack([k.fx * camera[:, 0] / z + k.cx, k.fy * camera[:, 1] / z + k.cy])
