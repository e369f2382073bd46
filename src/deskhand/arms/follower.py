"""Follows joint trajectories as joint_trajectory_controller does: interpolates, watches tolerances, settles, reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import Trajectory

# error codes of control_msgs/FollowJointTrajectory
SUCCESSFUL = 0
INVALID_GOAL = -1
INVALID_JOINTS = -2
PATH_TOLERANCE_VIOLATED = -4
GOAL_TOLERANCE_VIOLATED = -5


class BadTrajectory(DeskhandError):
    """A trajectory that cannot be followed; ``number`` of FollowJointTrajectory in ``result_code``."""

    def __init__(self, result_code: int, message: str) -> None:
        super().__init__("invalid_input", message)
        self.result_code = result_code


@dataclass(frozen=True)
class Tolerances:
    """Position tolerances by joint (n,) [rad], 0 for none; ``goal_time`` [s] to settle after the last point."""

    path: Array
    goal: Array
    goal_time: float = 1.0

    @classmethod
    def default(cls, count: int) -> Tolerances:
        """0.2 rad on the way, 0.02 rad at the goal."""
        return cls(np.full(count, 0.2), np.full(count, 0.02))


def check_trajectory(trajectory: Trajectory, joints: tuple[str, ...]) -> Trajectory:
    """The trajectory in the order of ``joints``.

    Raises:
        BadTrajectory: naming what is wrong with joints, times or values.
    """
    names = trajectory.joint_names
    if sorted(names) != sorted(joints):
        unknown, missing = sorted(set(names) - set(joints)), sorted(set(joints) - set(names))
        said = "".join(
            [f" unknown: {unknown}." if unknown else "", f" missing: {missing}." if missing else "", " some are given twice." * (len(set(names)) < len(names))]
        )
        raise BadTrajectory(INVALID_JOINTS, f"the trajectory must name the joints {list(joints)};{said}")
    times = np.asarray(trajectory.times, dtype=float)
    count = len(times)
    if not count:
        raise BadTrajectory(INVALID_GOAL, "the trajectory has no points.")
    if not np.all(np.isfinite(times)) or times[0] < 0 or np.any(np.diff(times) <= 0):
        raise BadTrajectory(INVALID_GOAL, "the times of the points must be finite, not negative, and strictly increasing.")
    order = [names.index(name) for name in joints]
    arrays = []
    for what in ("positions", "velocities", "accelerations"):
        values = np.asarray(getattr(trajectory, what), dtype=float)
        if values.size == 0 and what != "positions":
            arrays.append(np.zeros((0, len(joints))))
            continue
        if values.shape != (count, len(joints)):
            raise BadTrajectory(INVALID_GOAL, f"{what} must be {count} points of {len(joints)} joints, not of shape {values.shape}.")
        if not np.all(np.isfinite(values)):
            raise BadTrajectory(INVALID_GOAL, f"{what} hold values that are not finite.")
        arrays.append(values[:, order])
    return Trajectory(joints, times, *arrays)


@dataclass
class Follower:
    """One trajectory on its way, from ``start`` (n,) at time ``begun`` [s].

    ``code`` is None while it runs, then one of the codes above; ``hold`` (n,) is where to stay afterwards; ``elapsed`` [s] is how far along it is,
    ``behind`` [s] how much longer it has taken, where it may not go as fast.
    """

    trajectory: Trajectory
    start: Array
    begun: float
    tolerances: Tolerances
    code: int | None = None
    message: str = ""
    cancelled: bool = False
    elapsed: float = 0.0
    behind: float = 0.0
    hold: Array = field(init=False)
    wished: Array = field(init=False)
    error: Array = field(init=False)

    def __post_init__(self) -> None:
        points = self.trajectory
        if points.times[0] > 0:  # the way from where the arm is to the first point
            zero = np.zeros((1, points.positions.shape[1]))
            self._times = np.concatenate([[0.0], points.times])
            self._positions = np.vstack([self.start, points.positions])
            self._velocities = np.vstack([zero, points.velocities]) if len(points.velocities) else points.velocities
        else:
            self._times, self._positions, self._velocities = points.times, points.positions, points.velocities
        self.hold = self.wished = self.start.copy()
        self.error = np.zeros_like(self.start)
        self._segment = 0

    def done(self) -> bool:
        """True when it has ended, whatever the outcome."""
        return self.code is not None

    @property
    def active(self) -> bool:
        """True until it has ended."""
        return self.code is None

    def sample(self, time: float) -> Array:
        """Wished positions (n,) at ``time`` [s] since the start: cubic where velocities are given, else linear."""
        times, positions = self._times, self._positions
        if time <= times[0] or len(times) == 1:
            return np.asarray(positions[0])
        if time >= times[-1]:
            return np.asarray(positions[-1])
        while times[self._segment + 1] <= time:
            self._segment += 1
        while times[self._segment] > time:
            self._segment -= 1
        k = self._segment
        span = times[k + 1] - times[k]
        s = (time - times[k]) / span
        if not len(self._velocities):
            return np.asarray(positions[k] + s * (positions[k + 1] - positions[k]))
        s2, s3 = s * s, s * s * s
        return np.asarray(
            (2 * s3 - 3 * s2 + 1) * positions[k]
            + (s3 - 2 * s2 + s) * span * self._velocities[k]
            + (3 * s2 - 2 * s3) * positions[k + 1]
            + (s3 - s2) * span * self._velocities[k + 1]
        )

    def step(self, now: float, measured: Array, expected: Array | None = None, settled: bool = True) -> Array:
        """Wished positions (n,) at ``now`` [s], given the measured ones (n,); ends the trajectory when it is time.

        ``expected`` (n,): where the joints should have been when they were measured, when that is not now; ``settled``: nothing more is done to bring
        them nearer to the goal.
        """
        if self.code is not None:
            return self.hold
        elapsed = self.elapsed = now - self.begun
        self.wished = self.sample(elapsed)
        self.error = (self.wished if expected is None else expected) - measured
        late = elapsed - self._times[-1]
        if late < 0:
            self._watch_path(measured)
        else:
            self._watch_goal(late, settled)
        return self.hold if self.code is not None else self.wished

    def cancel(self, measured: Array) -> None:
        """Stop and stay where the arm is."""
        if self.code is None:
            self.cancelled = True
            self._end(SUCCESSFUL, "cancelled", measured)

    def fail(self, code: int, message: str, measured: Array) -> None:
        """End with one of the codes above and stay at ``measured`` (n,)."""
        if self.code is None:
            self._end(code, message, measured)

    def replace(self, wished: Array) -> None:
        """Another trajectory takes over from here."""
        if self.code is None:
            self.cancelled = True
            self._end(INVALID_GOAL, "a newer trajectory took its place", wished)

    def _watch_path(self, measured: Array) -> None:
        tolerance = self.tolerances.path
        wrong = (tolerance > 0) & (np.abs(self.error) > tolerance)
        if np.any(wrong):
            self._end(PATH_TOLERANCE_VIOLATED, f"the arm lags behind: {self._described(wrong, tolerance)}", measured)

    def _watch_goal(self, late: float, settled: bool) -> None:
        tolerance = self.tolerances.goal
        wrong = (tolerance > 0) & (np.abs(self.error) > tolerance)
        if not np.any(wrong) and (settled or late > self.tolerances.goal_time):
            self._end(SUCCESSFUL, "", self._positions[-1])
        elif np.any(wrong) and late > self.tolerances.goal_time:
            self._end(GOAL_TOLERANCE_VIOLATED, f"the goal was not reached in time: {self._described(wrong, tolerance)}", self._positions[-1])

    def _described(self, wrong: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], tolerance: Array) -> str:
        return ", ".join(
            f"{self.trajectory.joint_names[i]} is off by {abs(self.error[i]):.3f} rad (tolerance {tolerance[i]:.3f})" for i in np.flatnonzero(wrong)
        )

    def _end(self, code: int, message: str, hold: Array) -> None:
        self.code, self.message, self.hold = code, message, hold.copy()


class Followed:
    """A :class:`Follower` as a motion on its way, see deskhand.arms.base.Motion; ``cancel`` stops it where whoever steps it holds."""

    def __init__(self, follower: Follower, cancel: Callable[[], None]) -> None:
        self._follower, self._cancel = follower, cancel

    def done(self) -> bool:
        """See Motion: ended, whatever the outcome."""
        return not self._follower.active

    def error(self) -> str:
        """See Motion: empty while it runs and after success."""
        return self._follower.message

    def behind(self) -> float:
        """See Motion: what is slowed down takes longer from its beginning on."""
        return self._follower.behind

    def cancel(self) -> None:
        """See Motion."""
        self._cancel()


def straight(joints: tuple[str, ...], start: Array, end: Array, seconds: float = 1.6, count: int = 30) -> Trajectory:
    """From rest to rest on a straight line in joint space."""
    s = np.linspace(0, 1, count + 1)[1:]
    way, speed = 10 * s**3 - 15 * s**4 + 6 * s**5, (30 * s**2 - 60 * s**3 + 30 * s**4) / seconds
    return Trajectory(joints, s * seconds, start + np.outer(way, end - start), np.outer(speed, end - start), np.zeros((0, len(joints))))
