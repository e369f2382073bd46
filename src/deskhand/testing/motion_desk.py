"""A desk for motion tests: an arm that follows exactly, in simulated time, and obstacles from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about, rotation_rpy
from deskhand.motion.base import Backend
from deskhand.motion.service import MotionService
from deskhand.types import CollisionObject, JointState, Plan, Shape, Trajectory

ARM: ArmConfig = load_arm("wx250s")
MODEL = RobotModel.load(ARM)
OPEN = 0.037
backend: Callable[[], Backend] | None = None  # set by the fixture ``planner``; None is the service's own default


class Clock:
    def __init__(self) -> None:
        self.time = 0.0
        self.listeners: list[object] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class FollowingArm:
    """Follows with a delay; can be held, pushed off, silenced or made to give up."""

    def __init__(self, clock: Clock, delay: float = 0.05) -> None:
        self.clock, self.delay = clock, delay
        self.joints = np.array(ARM.named_poses["home"], dtype=float)
        self.finger = OPEN
        self.trajectory: Trajectory | None = None
        self.started = 0.0
        self.held_from = float("inf")  # [s] of the motion: something holds the arm from then on
        self.offset_from = float("inf")  # the arm is 0.4 rad off from then on
        self.silent_from = float("inf")
        self.fails_at = float("inf")
        self.told_late = 0.0  # [s] that joint states are on their way
        self.pace = 1.0  # of the trajectory's speed
        self.tells_pace = True
        self.efforts = np.zeros(0)
        self.cancels = 0
        self.failure = ""

    def _elapsed(self) -> float:
        return self.clock.now() - self.started

    def _now(self, ago: float = 0.0) -> Array:
        if self.trajectory is None:
            return self.joints
        at = min(self.pace * (self._elapsed() - ago - self.delay), self.held_from)
        joints = self.trajectory.sample(max(at, 0.0))
        if self._elapsed() > self.offset_from:
            joints = joints + np.array([0.4, 0, 0, 0, 0, 0])
        return joints

    def joint_state(self) -> JointState:
        now = self.clock.now() - self.told_late
        stamp = now if self.trajectory is None else min(now, self.started + self.silent_from)
        positions = np.array([*self._now(self.told_late), self.finger, self.finger])
        return JointState((*ARM.joints, ARM.gripper.joint, ARM.gripper.mimic), positions, np.zeros(8), self.efforts, stamp)

    def follow(self, trajectory: Trajectory) -> FollowingArm:
        self.trajectory, self.started = trajectory, self.clock.now()
        return self

    def done(self) -> bool:
        if self.trajectory is None:
            return True
        if self._elapsed() > self.fails_at:
            self.failure = "path tolerance violated"
            return True
        return self.pace * (self._elapsed() - self.delay) >= self.trajectory.duration

    def behind(self) -> float:
        return (1 - self.pace) * self._elapsed() if self.tells_pace else 0.0

    def error(self) -> str:
        return self.failure

    def cancel(self) -> None:
        self.cancels += 1
        self.joints, self.trajectory = self._now(), None


@dataclass
class MotionDesk:
    clock: Clock
    arm: FollowingArm
    service: MotionService

    def move_to(self, plan: Plan) -> None:
        """As if the plan had been executed."""
        self.arm.joints = plan.trajectory.positions[-1].copy()


def make_desk() -> MotionDesk:
    clock = Clock()
    arm = FollowingArm(clock)
    return MotionDesk(clock, arm, MotionService(ARM, arm.joint_state, clock, backend and backend()))


def down(x: float, y: float, z: float, yaw: float = 0.0) -> Array:
    """Tcp pointing at the desk."""
    return make_transform(rotation_about((0, 0, 1), yaw) @ rotation_rpy(0, np.pi, 0), (x, y, z))


def box(name: str, x: float, y: float, z: float, size: tuple[float, float, float], yaw: float = 0.0) -> CollisionObject:
    return CollisionObject(name, (Shape("box", size),), make_transform(rotation_about((0, 0, 1), yaw), (x, y, z)))


def clutter(rng: np.random.Generator, count: int = 15) -> tuple[CollisionObject, ...]:
    """Boxes standing on the desk, clear of the arm's base, some of them tall."""
    items = []
    for index in range(count):
        height = float(rng.uniform(0.03, 0.12))
        x, y = rng.uniform(-0.12, 0.2), rng.uniform(-0.32, 0.32)
        items.append(box(f"box_{index}", x, y, height / 2, (float(rng.uniform(0.02, 0.05)), float(rng.uniform(0.02, 0.05)), height), float(rng.uniform(0, 3))))
    return tuple(items)


def code_of(call: object, *args: object, **kwargs: object) -> str:
    """The code of the error that a call raises, or an empty text."""
    try:
        call(*args, **kwargs)  # type: ignore[operator]
    except DeskhandError as error:
        assert str(error), "an error without a message"
        return error.code
    return ""
