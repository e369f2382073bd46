"""Feeds one trajectory to servos that take moves in time: pieces planned ahead, told late ones further; judged by what is measured."""

from __future__ import annotations

import logging

import numpy as np

from deskhand.arms.driver_config import DriverConfig
from deskhand.arms.follower import INVALID_GOAL, PATH_TOLERANCE_VIOLATED, Follower, Tolerances
from deskhand.arms.joints import ArmJoints
from deskhand.arms.watch import StallWatch
from deskhand.geometry import Array
from deskhand.types import Trajectory

log = logging.getLogger(__name__)


class TrajectoryFeed:
    """The trajectory under way, if any; times are the driver's [s], ``scale`` the share of the speed at which it may run.

    ``worst`` [rad] is its largest tracking error so far.
    """

    def __init__(self, config: DriverConfig, joints: ArmJoints, move_delay: float) -> None:
        self._config, self._joints, self._move_delay = config, joints, move_delay
        self.follower: Follower | None = None
        self.worst = 0.0
        self._reset(0.0)

    def _reset(self, now: float) -> None:
        self._progress, self._progress_at = 0.0, now
        self._sent = float("-inf")
        self._squares, self._count, self.worst = 0.0, 0, 0.0
        self._stall = StallWatch()

    @property
    def active(self) -> bool:
        """True while one is under way."""
        return self.follower is not None and self.follower.active

    @property
    def rms(self) -> float:
        """[rad] of the tracking errors of all joints so far."""
        return float(np.sqrt(self._squares / self._count)) if self._count else 0.0

    def begin(self, trajectory: Trajectory, measured: Array, tolerances: Tolerances, now: float) -> Follower:
        """Follow, from ``measured`` (n,), in place of what was under way."""
        if self.follower is not None:
            self.follower.replace(measured)
        self.follower = Follower(trajectory, measured, 0.0, tolerances)
        self._reset(now)
        return self.follower

    def fail(self, reason: str, measured: Array | None) -> None:
        """End what is under way; ``measured`` (n,), None when it is not known."""
        if self.follower is not None:
            self.follower.fail(INVALID_GOAL, reason, self.follower.wished if measured is None else measured)

    def piece(self, now: float, scale: float) -> tuple[dict[int, int], float]:
        """Where to send the servos now and in what time; nothing when it is not due."""
        follower, config = self.follower, self._config
        if follower is None or not follower.active or now - self._sent < config.period - 1e-3:
            return {}, 0.0
        progress, end = self._advance(now, scale), follower.trajectory.duration
        last = progress + config.lookahead * scale >= end
        self._sent = now
        # the last piece is told again until the arm is there: noise may have eaten it
        seconds = max(config.period, (end - progress) / scale) if last else config.lookahead
        goals = {}
        for index, servo in enumerate(self._joints.arm_servos):
            at = end if last else progress + (config.lookahead + index * self._move_delay) * scale
            goals[servo] = self._joints.ticks(index, float(follower.sample(at)[index]))
        return goals, seconds

    def judge(self, now: float, measured: Array, scale: float) -> bool:
        """Given where the arm is (n,); True when it must be stopped."""
        follower = self.follower
        if follower is None or not follower.active:
            return False
        follower.step(self._advance(now, scale), measured)
        self._squares, self._count = self._squares + float(follower.error @ follower.error), self._count + len(follower.error)
        self.worst = max(self.worst, float(np.abs(follower.error).max()))
        stalled = self._stall.stalled(now, follower.wished, measured) if follower.active else None
        if stalled is not None:
            joint = follower.trajectory.joint_names[stalled]
            follower.fail(PATH_TOLERANCE_VIOLATED, f"{joint} stalled, {follower.error[stalled]:.3f} rad short; something holds it", measured)
        if not follower.active:
            log.info("trajectory ended (%s): tracking error at most %.3f rad, rms %.3f rad", follower.message or "there", self.worst, self.rms)
        return follower.code == PATH_TOLERANCE_VIOLATED

    def _advance(self, now: float, scale: float) -> float:
        """Along the trajectory's own time."""
        passed = max(0.0, now - self._progress_at)
        self._progress += passed * scale
        if self.follower is not None:
            self.follower.behind += passed * (1 - scale)
        self._progress_at = now
        return self._progress
