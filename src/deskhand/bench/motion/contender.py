"""What is measured: one stack for inverse kinematics, planning and collision checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deskhand.bench.motion.tasks import Task
from deskhand.geometry import Array
from deskhand.types import Trajectory


@dataclass(frozen=True)
class Outcome:
    """``length`` [rad] of the joint path; ``trajectory`` keeps the limits."""

    length: float
    trajectory: Trajectory


class Contender(Protocol):
    """One stack. Calls are timed from outside; ``load`` is not."""

    name: str

    def load(self, task: Task) -> None:
        """See the task's scene, stand at its start."""
        ...

    def ik(self, pose: Array, seed: Array) -> Array | None:
        """Joints at ``pose``, whatever they touch; the library alone."""
        ...

    def free(self, states: Array) -> int:
        """How many of the states (N, n) touch nothing in the loaded scene."""
        ...

    def plan(self, pose: Array, max_time: float) -> Outcome | None:
        """From the loaded start to ``pose``: inverse kinematics, a path, its shortening, its timing; None when it was not found in time."""
        ...

    def approach(self, pose: Array) -> Outcome | None:
        """From the loaded start in a straight line to ``pose``."""
        ...

    def close(self) -> None:
        """Free it."""
        ...


def lengths(path: Array) -> float:
    """Length [rad] of a joint path (K, n)."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
