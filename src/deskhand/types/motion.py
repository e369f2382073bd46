"""What is asked of the motion of the arm, and plans. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from deskhand.geometry import Array
from deskhand.types.joints import Trajectory

Progress = Callable[[float, str], None]
"""Called with a fraction 0..1 and a line of text."""
Cancelled = Callable[[], bool]
"""Polled by every long step; True asks it to stop."""


@dataclass(frozen=True)
class MotionGoal:
    """Where to go: exactly one of joints, named pose, or tcp poses (any of them will do)."""

    joints: Mapping[str, float] | None = None
    named: str = ""
    poses: tuple[Array, ...] = ()


@dataclass(frozen=True)
class PlanOptions:
    """How to plan.

    Attributes:
        start: joints to start from, None for the measured ones.
        speed_scale: (0, 1] of the velocity and acceleration limits.
        allow: pairs of names that may touch in this plan only, for example ``("left_finger_link", "block_1")``.
            ``"gripper"`` stands for all links of the hand.
        max_planning_time: [s]
        max_deviation: Cartesian plans: from the straight line [m].
        min_fraction: Cartesian plans: error when less of the path can be followed.
        upright_tolerance: [rad] that the tcp's z axis may tilt from its start direction, None for free.
        after: id of a stored plan that this one goes on from, instead of ``start``: the new plan is both, and the arm does not stop between them.
        draft: only a way, for another plan to go on from, which is timed and checked as one with it: the trajectory has way-points, all at time 0, and
            cannot be executed.
    """

    start: Mapping[str, float] | None = None
    speed_scale: float = 1.0
    allow: tuple[tuple[str, str], ...] = ()
    max_planning_time: float = 2.0
    max_deviation: float = 0.002
    min_fraction: float = 1.0
    upright_tolerance: float | None = None
    after: str = ""
    draft: bool = False


@dataclass(frozen=True)
class Plan:
    """A checked, timed, stored motion; single use, by ``id``.

    ``length`` is the joint path length [rad], ``clearance`` the smallest distance [m] to obstacles that was seen,
    ``fraction`` how much of a Cartesian path is covered, ``preview`` tcp poses (K, 4, 4) along it, ``goal_index``
    which of several goal poses was taken, ``bounds`` for how long [s] of it each rule holds its speed back (deskhand.motion.run_timing.BOUNDS).
    """

    id: str
    trajectory: Trajectory
    length: float
    clearance: float = float("nan")
    fraction: float = 1.0
    goal_index: int = 0
    preview: Array = field(default_factory=lambda: np.zeros((0, 4, 4)))
    bounds: Mapping[str, float] = field(default_factory=dict)

    @property
    def end(self) -> dict[str, float]:
        """Joints at the end, as a start for the next plan."""
        return dict(zip(self.trajectory.joint_names, map(float, self.trajectory.positions[-1]), strict=True))


@dataclass(frozen=True)
class IkSolution:
    """Joints (n,) in the order of the arm's joints, and how well they meet the pose.

    For arms with fewer than 6 joints ``rotation_error`` is that of the approach axis, and ``roll_error`` (-pi, pi] says by how much the hand
    would still have to turn about it; 0 for the others.
    """

    joints: Array
    position_error: float
    rotation_error: float
    collision_free: bool
    roll_error: float = 0.0


@dataclass(frozen=True)
class StateCheck:
    """``collisions``: names that touch or overlap, with depth [m]; ``clearance`` [m] to the nearest obstacle.

    ``near``: the nearest pairs of names that do not touch, with their distance [m], nearest first.
    """

    valid: bool
    collisions: tuple[tuple[str, str, float], ...]
    clearance: float
    violations: tuple[str, ...] = ()
    near: tuple[tuple[str, str, float], ...] = ()
