"""Moves along a plan and watches: tracking, stall, contact, silent joints, the safety stop, cancel. Any of them halts the controller at once.

What the arm does is judged at the times that its joint states are stamped with: they may come late, above all when a simulation runs faster than
real time on a busy machine, and then tell where the arm was, not where it is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deskhand.arms.base import Arm, Clock, Motion
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import Cancelled, ExecutionReport, JointState, Plan, Progress, SafetyStatus, Trajectory

log = logging.getLogger(__name__)

Safety = Callable[[], SafetyStatus]


CONTROLLER_GRACE = 0.1  # [s] wall time
UNKNOWN = 0.2  # [s] that new joint states are taken to be old before some have come
OLDER = 4.0  # times their usual age, that joint states may be old


@dataclass(frozen=True)
class Tolerances:
    """Times [s] are ROS time, angles [rad].

    Attributes:
        period: between two looks.
        lag, lead: the arm may be this late, or (when the start was reported late) early; tracking is measured against the nearest reference within.
        tracking: more than this for ``tracking_time`` ends the motion.
        contact: an arm that reports effort, and pushes a joint with more than this part of its limit while the joint is ``contact_error`` off its
            trajectory for ``contact_time``, has run into something.
        stall: less movement than this in ``stall_time``, while more than ``stall_gap`` is missing, is a stall.
        goal: close enough at the end; waited for at most ``settle``. Up to ``rest`` counts as arrived when the arm stands still by then.
        stale, stale_wall: oldest joint state, in ROS time, when at the same time none has come for ``stale_wall`` of wall time
            (a fast simulation outruns any network; 0 in one process). Those of a slow bus, which are old when they come, may be :data:`OLDER` times as old as
            they usually are, up to ``stale_slow``.
        halt: how long a halted arm is waited for.
    """

    period: float = 0.01
    lag: float = 0.3
    lead: float = 0.3
    tracking: float = 0.2
    tracking_time: float = 0.2
    contact: float = 0.9
    contact_error: float = 0.02
    contact_time: float = 0.1
    stall: float = 0.004
    stall_time: float = 0.5
    stall_gap: float = 0.06
    goal: float = 0.01
    settle: float = 2.5
    rest: float = 0.04
    stale: float = 0.5
    stale_wall: float = 0.0
    stale_slow: float = 1.0
    halt: float = 1.0


@dataclass
class _Watch:
    """What was seen so far."""

    started: float
    lead: float = 0.0
    judged: float = float("-inf")
    newest: float = float("-inf")
    newest_wall: float = 0.0
    last: float = 0.0
    worst: float = 0.0
    bad_since: float | None = None
    pushed_since: float | None = None
    still_since: float = 0.0
    still_at: Array | None = None


class Executor:
    """Executes plans on an arm, one at a time; the caller sees to that. ``tracking_error`` [rad] is the newest."""

    def __init__(self, arm: Arm, clock: Clock, model: RobotModel, safety: Safety | None = None, tolerances: Tolerances | None = None) -> None:
        """``safety``: asked before and all along; raising counts as a stop."""
        self._arm, self._clock, self._model = arm, clock, model
        self._safety = safety or (lambda: SafetyStatus(False))
        self._tolerances = tolerances or Tolerances()
        self._efforts = {name: limit[3] for name, limit in model.limits.items()}
        self.tracking_error = 0.0
        self._usual_age = UNKNOWN  # [s] of a joint state that has just come

    def execute(self, plan: Plan, progress: Progress | None = None, cancelled: Cancelled | None = None) -> ExecutionReport:
        """Move along ``plan``; returns when the arm is there or has been halted, and says which.

        Raises:
            DeskhandError: ``safety_stop`` (or the code of the stop), ``stale_data``, before anything moves.
        """
        stopped = self._stopped()
        if stopped:
            raise DeskhandError(stopped[0], f"the arm may not move: {stopped[1]}", hint="Remove the cause, then reset the stop.")
        watch = _Watch(self._clock.now())
        self._state(watch, first=True)
        if cancelled and cancelled():
            return ExecutionReport("cancelled", "cancelled before it began.", 0.0, 0.0, self._error_to(plan, 1.0), 0.0)
        asked = self._clock.now()
        motion = self._arm.follow(plan.trajectory)
        # The controller began at some time between the question and its answer.
        watch.started = watch.still_since = self._clock.now()
        watch.lead = self._tolerances.lead + watch.started - asked
        try:
            ended = self._watch(plan, motion, watch, progress, cancelled)
        except BaseException:
            motion.cancel()
            raise
        return self._report(plan, motion, watch, ended)

    def _watch(self, plan: Plan, motion: Motion, watch: _Watch, progress: Progress | None, cancelled: Cancelled | None) -> tuple[str, str]:
        """Until it ends: ("", "") when there, else code and reason."""
        duration, limits = plan.trajectory.duration, self._tolerances
        while True:
            try:
                self._clock.sleep(limits.period)
            except DeskhandError as error:  # the clock has gone or jumped: what was judged by it is worth nothing
                return error.code, error.message
            stopped = self._stopped()
            if stopped:
                return stopped
            if cancelled and cancelled():
                return "cancelled", "cancelled"
            try:
                state = self._state(watch)
            except DeskhandError as error:
                return error.code, error.message
            elapsed = state.stamp - watch.started - motion.behind()
            if state.stamp > watch.judged:
                watch.judged = state.stamp
                problem = self._problem(plan.trajectory, state, elapsed, watch)
                if problem:
                    return problem
            if motion.done() and motion.error():
                # A stop cancels at the controller too, and the word of it may come a moment later.
                time.sleep(CONTROLLER_GRACE)
                return self._stopped() or ("controller_failed", f"the controller gave up: {motion.error()}")
            self.tracking_error = watch.last
            if progress:
                progress(min(max(elapsed, 0.0) / duration, 1.0) if duration else 1.0, f"tracking error {watch.worst:.3f} rad")
            if elapsed >= duration:
                joints = state.of(plan.trajectory.joint_names)
                missing = float(np.abs(joints - plan.trajectory.positions[-1]).max())
                if missing <= limits.goal and motion.done():
                    return "", ""
                if elapsed >= duration + limits.settle:
                    return self._settled(plan.trajectory, joints, missing, motion)

    def _settled(self, trajectory: Trajectory, joints: Array, error: float, motion: Motion) -> tuple[str, str]:
        if error <= self._tolerances.rest:
            motion.cancel()  # holds here; the controller may still wait for its own, tighter tolerance
            return "", ""
        worst = trajectory.joint_names[int(np.abs(joints - trajectory.positions[-1]).argmax())]
        return "tracking_error", f"{worst} ended {error:.3f} rad from its goal"

    def _problem(self, trajectory: Trajectory, state: JointState, elapsed: float, watch: _Watch) -> tuple[str, str] | None:
        """Tracking error, contact or stall in a joint state of ``elapsed`` [s] after the start: code and reason."""
        limits, now, joints = self._tolerances, state.stamp, state.of(trajectory.joint_names)
        reference = np.array([trajectory.sample(t) for t in np.linspace(max(0.0, elapsed - limits.lag), max(0.0, elapsed + watch.lead), 13)])
        due = trajectory.sample(max(0.0, elapsed - limits.lag))
        # Each joint against the nearest value that it was told within the lag.
        off = np.maximum(0.0, np.maximum(reference.min(axis=0) - joints, joints - reference.max(axis=0)))
        error = float(off.max())
        watch.last, watch.worst = error, max(watch.worst, error)
        name = trajectory.joint_names[int(off.argmax())]
        if error <= limits.tracking:
            watch.bad_since = None
        elif watch.bad_since is None:
            watch.bad_since = now
        pushing = self._pushing(trajectory, state, np.where(reference.min(axis=0) > joints, off, -off))
        watch.pushed_since = None if not pushing else now if watch.pushed_since is None else watch.pushed_since
        if watch.pushed_since is not None and now - watch.pushed_since >= limits.contact_time:
            return "contact", f"{pushing} pushes with all its force and is {error:.3f} rad off its trajectory; the arm has run into something"
        missing = np.abs(due - joints)
        if watch.still_at is None or np.abs(joints - watch.still_at).max() > limits.stall or missing.max() <= limits.stall_gap:
            watch.still_at, watch.still_since = joints, now
        off_course = watch.bad_since is not None and now - watch.bad_since >= limits.tracking_time
        still = now - watch.still_since
        if still >= limits.stall_time or (off_course and still >= limits.tracking_time):
            return "stalled", f"{trajectory.joint_names[int(missing.argmax())]} stands still, {missing.max():.3f} rad short; something holds it"
        if off_course:
            return "tracking_error", f"{name} is {error:.3f} rad off its trajectory (allowed {limits.tracking:g})"
        return None

    def _stopped(self) -> tuple[str, str] | None:
        try:
            status = self._safety()
        except DeskhandError as error:
            return error.code, error.message
        return (status.code or "safety_stop", status.reason or "the safety stop is set") if status.stopped else None

    def _pushing(self, trajectory: Trajectory, state: JointState, off: Array) -> str:
        """A joint that is behind (``off`` (n,), signed) and pushes that way with about all it has; empty when none does, or efforts are not reported."""
        if len(state.efforts) != len(state.names):
            return ""
        effort = dict(zip(state.names, map(float, state.efforts), strict=True))
        for name, behind in zip(trajectory.joint_names, map(float, off), strict=True):
            limit = self._efforts[name]
            if abs(behind) > self._tolerances.contact_error and 0 < limit < np.inf and effort[name] * np.sign(behind) >= self._tolerances.contact * limit:
                return name
        return ""

    def _state(self, watch: _Watch, first: bool = False) -> JointState:
        """The newest joint state. Raises ``stale_data``; ``first``: when none comes that is new."""
        state = self._arm.joint_state()
        end = self._clock.now() + self._tolerances.stale_slow
        while first and self._clock.now() - state.stamp > self._oldest() and self._clock.now() < end:
            self._clock.sleep(self._tolerances.period)
            newer = self._arm.joint_state()
            state = newer if newer.stamp > state.stamp else state
        wall = time.monotonic()
        if state.stamp > watch.newest:
            if np.isfinite(watch.newest):  # when the first came nobody knows
                self._usual_age += 0.2 * (self._clock.now() - state.stamp - self._usual_age)
            watch.newest, watch.newest_wall = state.stamp, wall
        age = self._clock.now() - state.stamp
        if age > self._oldest() and (first or wall - watch.newest_wall >= self._tolerances.stale_wall):
            raise DeskhandError("stale_data", f"the newest joint state is {age:.2f} s old.", hint="Is the arm's driver running?")
        return state

    def _oldest(self) -> float:
        """[s] that a joint state may be old."""
        return max(self._tolerances.stale, min(OLDER * self._usual_age, self._tolerances.stale_slow))

    def _error_to(self, plan: Plan, fraction: float) -> float:
        goal = plan.trajectory.positions[int(fraction * (len(plan.trajectory.positions) - 1))]
        return float(np.abs(self._arm.joint_state().of(plan.trajectory.joint_names) - goal).max())

    def _report(self, plan: Plan, motion: Motion, watch: _Watch, ended: tuple[str, str]) -> ExecutionReport:
        code, reason = ended
        if code:
            motion.cancel()
            self._rest(plan.trajectory, watch)
        elapsed = self._clock.now() - watch.started
        joints = self._arm.joint_state().of(plan.trajectory.joint_names)
        final = float(np.abs(joints - plan.trajectory.positions[-1]).max())
        tcp = self._model.tcp_pose(dict(zip(plan.trajectory.joint_names, map(float, joints), strict=True)))
        if not code:
            return ExecutionReport("", "reached the goal.", 1.0, watch.worst, final, elapsed, tcp)
        progress = _nearest(plan.trajectory, joints)
        where = ", ".join(f"{value:.3f}" for value in tcp[:3, 3])
        message = f"{reason}; halted at {progress:.0%} of the path with the tcp at ({where})."
        log.warning("%s: %s: %s", plan.id, code, message)
        return ExecutionReport(code, message, progress, watch.worst, final, elapsed, tcp)

    def _rest(self, trajectory: Trajectory, watch: _Watch) -> None:
        """Wait until the halted arm stands, or the clock or the joints have gone."""
        end = self._clock.now() + self._tolerances.halt
        before = self._arm.joint_state().of(trajectory.joint_names)
        try:
            while self._clock.now() < end:
                self._clock.sleep(5 * self._tolerances.period)
                now = self._state(watch).of(trajectory.joint_names)
                if np.abs(now - before).max() < 1e-3:
                    return
                before = now
        except DeskhandError as error:
            log.warning("where the arm came to rest is not known: %s", error)


def _nearest(trajectory: Trajectory, joints: Array) -> float:
    """Fraction of the path, by length, of its point that is nearest to ``joints``."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(trajectory.positions, axis=0), axis=1))])
    index = int(np.linalg.norm(trajectory.positions - joints, axis=1).argmin())
    return float(length[index] / length[-1]) if length[-1] > 0 else 1.0
