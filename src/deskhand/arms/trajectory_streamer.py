"""Feeds one trajectory to servos that take moves in time: pieces planned ahead, told late ones further; judged by what is measured.

What is measured is old when it is known, and servos do late what they are told. How late is learnt from the motions themselves (:class:`Lag`), and a joint is
held against where it should have been when it was read. At the last point what remains is trimmed away (arms/trim.py).
"""

from __future__ import annotations

import logging

import numpy as np

from deskhand.arms.driver_config import DriverConfig
from deskhand.arms.follower import INVALID_GOAL, PATH_TOLERANCE_VIOLATED, Follower, Tolerances
from deskhand.arms.joints import ArmJoints
from deskhand.arms.servo_watch import StallWatch
from deskhand.arms.trim import Trim
from deskhand.geometry import Array
from deskhand.types import Trajectory

log = logging.getLogger(__name__)

RESPONSE = 0.04  # [s] by which a shaft trails its servo's profile: a move from where it is measured takes so much longer, or it would be too fast
EXPECTED = 0.05  # [s] of lag beside the latency, before one is learnt
LONGEST = 0.4  # [s] of lag that is believed
MOVING = 0.2  # [rad/s] from which on a joint tells about the lag
BEFORE = 0.3  # [s] of the trajectory behind, whose speed counts as that thereabouts
SLOWEST = 0.1  # [rad/s] that a joint may always go
EVEN = 0.75  # of a joint's speed limit, that a trajectory is followed at: a servo begins each piece standing, and goes faster in between
MADE_UP = 0.85  # of a joint's speed limit, at which what was lost is made up for: readings 1.5 ticks off at both ends are 0.2 rad/s over 60 ms
BEHIND = (0.1, 0.3)  # [rad] off its trajectory, between which an arm is waited for more and more: it missed a piece, or cannot keep up
WAITING = 0.3  # of the speed, at least: what is held by something shall be noticed
AHEAD = 2.5  # of the latency, that pieces are planned further ahead: between two questions nothing is told
OVERLAP = 0.6  # of a piece that has passed when the next is told: told sooner a servo begins again from where gravity has it, and never gets there
STANDS = 0.08  # [s] after a servo should be there, for it to rest
REST_READINGS = 2  # of each joint, until what remains is trimmed
TRIMS = 4  # corrections at most
TRIM_TIME = 0.15  # [s] of each
LOST, OFF = 0.3, 0.12  # [s] after it should be there an arm that is off by more [rad] has not heard it
NEAR = 1  # [ticks] that a correction must exceed


class Lag:
    """By how much [s] the joints are measured to trail what they were told, beyond the age of the readings."""

    def __init__(self) -> None:
        self.start(0.0)

    def start(self, latency: float) -> None:
        """Nothing is learnt yet; ``latency`` [s] of a question and its answer."""
        self.value = EXPECTED + latency
        self._products, self._squares = 0.1 * self.value, 0.1

    def learn(self, behind: Array, speed: Array) -> None:
        """Joints that are ``behind`` (n,) [rad] while they should move at ``speed`` (n,) [rad/s]."""
        fast = np.abs(speed) > MOVING
        self._products = 0.98 * self._products + float(behind[fast] @ speed[fast])
        self._squares = 0.98 * self._squares + float(speed[fast] @ speed[fast])
        self.value = float(np.clip(self._products / max(self._squares, 1e-3), 0.0, LONGEST))


class TrajectoryStreamer:
    """The trajectory under way, if any; times are the driver's [s], ``scale`` the share of the speed at which it may run.

    ``worst`` [rad] is its largest tracking error so far.
    """

    def __init__(self, config: DriverConfig, joints: ArmJoints, move_delay: float, trim: Trim) -> None:
        self._config, self._joints, self._move_delay = config, joints, move_delay
        self.trim, self.lag = trim, Lag()
        self._latency = 0.0
        self.follower: Follower | None = None
        self.worst = 0.0
        self._reset(0.0)

    def _reset(self, now: float) -> None:
        count = len(self._joints.arm_servos)
        self._progress, self._progress_at = 0.0, now
        self._sent = float("-inf")
        self._squares, self._count, self.worst = 0.0, 0, 0.0
        self._stall, self._even = StallWatch(), 1.0
        self._last: dict[int, int] = {}
        self._path = (now, 1.0, np.zeros(count), np.zeros(count))
        self._there_at, self._trims, self._settled = float("inf"), 0, False
        self._beyond, self._read, self._read_at = np.zeros(count), np.zeros(count), np.full(count, float("-inf"))

    def taken(self, latency: float) -> None:
        """The arm was taken; ``latency`` [s] of a question and its answer. Nothing is known of how its servos yield and lag."""
        self._latency = latency
        self.trim.forget()
        self.lag.start(latency)

    @property
    def active(self) -> bool:
        """True while one is under way."""
        return self.follower is not None and self.follower.active

    @property
    def resting(self) -> bool:
        """True when the one under way is at its last point and only what remains is trimmed."""
        return self.follower is not None and self._progress >= self.follower.trajectory.duration

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
        self._path = (now, 1.0, measured, measured)
        self._even = self._evenly(self.follower.trajectory)
        return self.follower

    def _evenly(self, trajectory: Trajectory) -> float:
        """Share of its own speed at which its fastest joint goes at :data:`EVEN` of its limit; beyond 1 for slow ones."""
        speeds = np.abs(np.diff(trajectory.positions, axis=0)) / np.diff(trajectory.times)[:, None] / self._joints.fastest
        return EVEN / max(float(speeds.max(initial=0.0)), 1e-6)

    def _pace(self, scale: float) -> float:
        """Share of the trajectory's own speed at which it goes on now, where it may at ``scale``."""
        off = 0.0 if self.follower is None else float(np.abs(self.follower.error).max())
        return min(scale, self._even) * float(np.interp(off, BEHIND, (1.0, WAITING)))

    def fail(self, reason: str, measured: Array | None) -> None:
        """End what is under way; ``measured`` (n,), None when it is not known."""
        if self.follower is not None:
            self.follower.fail(INVALID_GOAL, reason, self.follower.wished if measured is None else measured)

    def piece(self, now: float, scale: float) -> tuple[dict[int, int], float]:
        """Where to send the servos now and in what time; nothing when it is not due."""
        follower, config, scale = self.follower, self._config, self._pace(scale)
        lookahead = config.lookahead + AHEAD * self._latency
        if follower is None or not follower.active or now - self._sent < max(config.period, OVERLAP * lookahead) - 1e-3:
            return {}, 0.0
        if self.resting and self._holds(now):
            return {}, 0.0
        progress, end = self._advance(now, scale), follower.trajectory.duration
        last = progress + lookahead * scale >= end
        self._sent = now
        # the last piece is told again until the arm is there: noise may have eaten it
        seconds = RESPONSE + (max(config.period, (end - progress) / scale) if last else lookahead)
        target = follower.sample(end if last else progress + lookahead * scale)
        self._joints.play.update(target, (target - follower.sample(progress)) / max(lookahead, 1e-3))
        goals, beyond = {}, self.trim.at(target)
        for index, servo in enumerate(self._joints.arm_servos):
            at = end if last else progress + (lookahead + index * self._move_delay) * scale
            goals[servo] = self._joints.ticks(index, float(follower.sample(at)[index] + beyond[index]))
        seconds = max(seconds, TRIM_TIME if self.resting else self._least_time(follower, now, progress, target, scale), self._catching_up(goals))
        self._last, self._there_at = goals, now + seconds
        self._path = (now, seconds, self._underway(now), target)
        return goals, seconds

    def _underway(self, now: float) -> Array:
        """Where (n,) [rad] the piece that was told last has the joints."""
        told, seconds, start, goal = self._path
        return np.asarray(start + (goal - start) * min(1.0, (now - told) / seconds))

    def _least_time(self, follower: Follower, now: float, progress: float, target: Array, scale: float) -> float:
        """[s] for the next piece, so that what a late one has lost is not made up faster than the trajectory itself goes thereabouts."""
        times = np.linspace(max(0.0, progress - BEFORE), progress + self._config.lookahead + AHEAD * self._latency, 8)
        places = np.array([follower.sample(float(time)) for time in times])
        fastest = np.abs(np.diff(places, axis=0)).max(axis=0) / max(float(times[1] - times[0]), 1e-3) * scale
        return float((np.abs(target - self._underway(now)) / np.maximum(fastest, SLOWEST)).max())

    def _catching_up(self, goals: dict[int, int]) -> float:
        """[s] for the next piece, so that no servo exceeds its joint's speed limit on its way from where it is: it may have missed a piece, or trail."""
        follower = self.follower
        assert follower is not None
        here = follower.sample(self._progress - self.lag.value) - follower.error
        told = np.array([self._joints.told(index, goals[servo]) for index, servo in enumerate(self._joints.arm_servos)])
        return RESPONSE + float((np.abs(told - here) / self._joints.fastest).max() / MADE_UP)

    def _holds(self, now: float) -> bool:
        """At the last point, with what was told last: told again it would only begin again from where gravity has it. It may have been lost, though."""
        assert self.follower is not None
        last = self.follower.trajectory.positions[-1]
        self._joints.play.update(last, np.zeros_like(last))
        goal = last + self.trim.at(last)
        same = self._last == {servo: self._joints.ticks(index, float(goal[index])) for index, servo in enumerate(self._joints.arm_servos)}
        lost = now > self._there_at + self.lag.value + LOST and float(np.abs(self.follower.error).max()) > OFF
        return same and not lost

    def judge(self, now: float, measured: Array, stamps: Array, scale: float) -> bool:
        """Given where the arm was (n,) when it was read, at ``stamps`` (n,) [s]; True when it must be stopped."""
        follower = self.follower
        if follower is None or not follower.active:
            return False
        scale = self._pace(scale)
        progress = self._advance(now, scale)
        fresh = stamps > self._read_at
        expected, speed = self._expected(follower, progress, (now - stamps) * scale)
        self.lag.learn(np.where(fresh, expected - measured, 0.0), np.where(fresh, speed, 0.0))
        expected, _ = self._expected(follower, progress, (now - stamps + self.lag.value) * scale)
        if self.resting and self._last:  # else the driver was held up from its beginning to its end, and no servo was told of it yet
            self._rest(follower, measured, stamps)
        self._read_at = np.maximum(stamps, self._read_at)
        follower.step(progress, measured, expected, self._settled)
        self._squares, self._count = self._squares + float(follower.error @ follower.error), self._count + len(follower.error)
        self.worst = max(self.worst, float(np.abs(follower.error).max()))
        stalled = self._stall.stalled(now, expected, measured) if follower.active else None
        if stalled is not None:
            joint = follower.trajectory.joint_names[stalled]
            follower.fail(PATH_TOLERANCE_VIOLATED, f"{joint} stalled, {follower.error[stalled]:.3f} rad short; something holds it", measured)
        if not follower.active:
            log.info("trajectory ended (%s): tracking error at most %.3f rad, rms %.3f rad", follower.message or "there", self.worst, self.rms)
        return follower.code == PATH_TOLERANCE_VIOLATED

    @staticmethod
    def _expected(follower: Follower, progress: float, ago: Array) -> tuple[Array, Array]:
        """Where each joint should have been ``ago`` (n,) [s] along the trajectory, and how fast [rad/s]."""
        step = 0.02
        rows = [(float(follower.sample(progress - past)[index]), float(follower.sample(progress - past - step)[index])) for index, past in enumerate(ago)]
        places = np.array(rows)
        return places[:, 0], (places[:, 0] - places[:, 1]) / step

    def _rest(self, follower: Follower, measured: Array, stamps: Array) -> None:
        """At the last point: what the servos were told beyond where they are measured, once they rest, is told beyond where they shall stand."""
        resting = (stamps > self._read_at) & (stamps >= self._there_at + self.lag.value + STANDS)
        told = np.array([self._joints.told(index, self._last[servo]) for index, servo in enumerate(self._joints.arm_servos)])
        self._beyond[resting] += (told - measured)[resting]
        self._read += resting
        if self._settled or self._read.min() < REST_READINGS:
            return
        goal = follower.trajectory.positions[-1]
        off = np.abs(goal - told + self._beyond / self._read)
        self._settled = bool(off.max() <= (NEAR + 0.5) * self._joints.tick_sizes().max()) or self._trims >= TRIMS
        if not self._settled or self._trims == 0:
            self.trim.learn(goal, self._beyond / self._read)
        self._beyond[:], self._read[:] = 0.0, 0.0
        self._trims += not self._settled

    def _advance(self, now: float, scale: float) -> float:
        """Along the trajectory's own time."""
        passed = max(0.0, now - self._progress_at)
        self._progress += passed * scale
        if self.follower is not None:
            self.follower.behind += passed * (1 - scale)
        self._progress_at = now
        return self._progress
