"""Joint states and trajectories. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array


@dataclass(frozen=True)
class JointState:
    """Measured joints; ``effort`` may be empty where the arm does not report it."""

    names: tuple[str, ...]
    positions: Array
    velocities: Array
    efforts: Array
    stamp: float

    def of(self, names: Sequence[str]) -> Array:
        """Positions [rad or m] in the order of ``names``.

        Raises:
            DeskhandError: ``invalid_input`` when a name is unknown.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise DeskhandError("invalid_input", f"no joint {missing}; the robot has {list(self.names)}.")
        return self.positions[[self.names.index(name) for name in names]]


@dataclass(frozen=True)
class Trajectory:
    """Timed joint path: ``times`` (T,) [s] from 0, ``positions``, ``velocities``, ``accelerations`` (T, n)."""

    joint_names: tuple[str, ...]
    times: Array
    positions: Array
    velocities: Array
    accelerations: Array

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.times[-1]) if len(self.times) else 0.0

    def sample(self, time: float) -> Array:
        """Joint positions (n,) at ``time`` [s], linear between points, clamped to the ends."""
        return np.array([np.interp(time, self.times, column) for column in self.positions.T])
