"""Actions of seven discrete numbers, as in EB-Manipulation (Yang et al., "EmbodiedBench", 2025): positions in cubic cells, the middle of which is meant, angles
of 3 i - 180 degrees about the world's fixed axes, gripper 0 or 1. A cell is 6 mm here, 10 mm there: the arm is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, pose_from_xyz_rpy

CELL = 0.006
"""Edge of a cell [m]."""
CORNER = (-0.30, -0.30, 0.0)
"""Where cell 0, 0, 0 begins [m, world]: the cells fill a cube of 0.6 m over the desk."""
CELLS, TURNS = 100, 120
"""The greatest number of a position and of an angle."""


def cells_of(position: npt.ArrayLike) -> list[int]:
    """The cells that a position (3,) [m, world] lies in, cut to the cube."""
    parts = (np.asarray(position, dtype=float) - CORNER) / CELL
    return [min(CELLS, max(0, math.floor(part + 1e-9))) for part in parts]


def angle_of(degrees: float) -> int:
    """The number of an angle."""
    return round((degrees + 180.0) / 3.0) % TURNS


def pose_of(action: Sequence[int]) -> Array:
    """world_T_tcp (4, 4) of the first six numbers: middle of the cells; roll, pitch, yaw about the world's fixed axes.

    0, 60, yaw looks straight down: the tcp's z axis, out of the gripper, is turned over. With yaw 60 the fingers close along y.
    """
    xyz = [low + (value + 0.5) * CELL for value, low in zip(action[:3], CORNER, strict=True)]
    return pose_from_xyz_rpy(xyz, [math.radians(3.0 * value - 180.0) for value in action[3:6]])
