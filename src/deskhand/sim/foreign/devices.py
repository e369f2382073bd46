"""A robot in a foreign simulator behind the same bases as real drivers: arm, gripper, camera, clock. Time passes there only while somebody waits here."""

from __future__ import annotations

import threading

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.follower import Followed, Follower, Tolerances, check_trajectory
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.foreign.control import GripperSteps, feed_forward, slowed
from deskhand.sim.foreign.link import Link
from deskhand.types import CameraIntrinsics, Frame, GripperReport, JointState, Trajectory

HAND_LINK = "hand_link"


class ForeignBody:
    """The simulated arm as its process serves it: steps whole periods, and knows what was measured after the last. Threads may share it."""

    def __init__(self, link: Link, arm: ArmConfig) -> None:
        self.arm, self.model, self._link = arm, RobotModel.load(arm), link
        told = link.ask("hello")[0]
        self.instruction, self.cameras = str(told["instruction"]), tuple(told["cameras"])
        self.period, self._kp = float(told["period"]), float(told["kp"])
        if tuple(told["joints"]) != arm.joints:
            raise DeskhandError("config_error", f"the foreign arm has the joints {', '.join(told['joints'])}, {arm.name} has {', '.join(arm.joints)}.")
        self.lock = threading.RLock()
        self.follower: Follower | None = None
        self._factor = 1.0  # by which the trajectory of ``follower`` was stretched
        self.gripper = GripperSteps(arm.gripper, target=0.0)
        self._measure(*link.ask("state"))
        self.gripper.goal = self.gripper.target
        self._hold = self.positions.copy()
        self._virtual = self.time

    def _measure(self, head: dict[str, object], arrays: dict[str, Array]) -> None:
        self.time, self.steps = float(str(head["time"])), int(str(head["steps"]))
        self.gripper.target = float(str(head["grip_target"]))
        self.positions, self.velocities = arrays["positions"], arrays["velocities"]
        self._fingers, self._finger_speeds, self._finger_forces = arrays["fingers"], arrays["finger_speeds"], arrays["finger_forces"]

    @property
    def width(self) -> float:
        """Distance of the pads [m]."""
        return self.arm.gripper.width_of(self.finger())

    def finger(self) -> float:
        """Position of the driven finger joint [m], the mean of both, of which the second counts inwards there."""
        return float(self._fingers[0] - self._fingers[1]) / 2

    def finger_force(self) -> float:
        """Of the pads by their drives [N], positive when they close."""
        return float(self._finger_forces[1] - self._finger_forces[0]) / 2

    def now(self) -> float:
        """[s] since the case was loaded; it goes on between periods, which the simulator then catches up with."""
        return self._virtual

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        with self.lock:
            self._virtual += max(0.0, seconds)
            while self.time + self.period <= self._virtual + 1e-9:
                self._period()

    def wait_beyond(self, stamp: float) -> None:
        """Let time pass until the simulator's own is later than ``stamp`` [s]."""
        with self.lock:
            while self.time <= stamp:
                self._period()
            self._virtual = max(self._virtual, self.time)

    def _period(self) -> None:
        """One period of control."""
        follower = self.follower
        if follower is not None:
            follower.step(self.time, self.positions)
            follower.behind = follower.elapsed * (1 - 1 / self._factor)
            self._hold = follower.hold if follower.code is not None else self._hold
        moving = follower is not None and follower.code is None
        goal = feed_forward(follower, self.time, self.period, self._kp) if moving and follower is not None else self._hold
        arrays = {"goals": np.asarray(goal, float)[None], "grip": np.array([self.gripper.sign()])}
        self._measure(*self._link.ask("step", arrays))
        self.gripper.watch(self.width, float(self._finger_speeds[0] - self._finger_speeds[1]))

    def joint_state(self) -> JointState:
        """Arm and fingers, these counted outwards."""
        with self.lock:
            gripper, finger, speed = self.arm.gripper, self.finger(), float(self._finger_speeds[0] - self._finger_speeds[1]) / 2
            names = (*self.arm.joints, gripper.joint, *((gripper.mimic,) if gripper.mimic else ()))
            count = len(names) - len(self.arm.joints)
            positions = np.concatenate([self.positions, np.full(count, finger)])
            velocities = np.concatenate([self.velocities, np.full(count, speed)])
            return JointState(names, positions, velocities, np.zeros(0), self._virtual)

    def follow(self, trajectory: Trajectory, tolerances: Tolerances | None = None) -> Follower:
        """Begin to follow, in place of what was running, at the speed that the simulator can keep: ``behind`` says how much longer it takes.
        Raises ``invalid_input``.
        """
        checked, factor = slowed(check_trajectory(trajectory, self.arm.joints), self.model)
        with self.lock:
            if self.follower is not None and self.follower.code is None:
                self.follower.replace(self.positions)
            self.follower = Follower(checked, self._hold.copy(), self.time, tolerances or Tolerances.default(len(self.arm.joints)))
            self._factor = factor
            return self.follower

    def cancel(self, follower: Follower) -> None:
        """Stop and hold."""
        with self.lock:
            follower.cancel(self.positions)

    def picture(self, camera: str, width: int, height: int) -> tuple[dict[str, object], dict[str, Array]]:
        """As served."""
        return self._link.ask("picture", camera=camera, width=width, height=height)


class ForeignArm:
    """See deskhand.arms.base.Arm."""

    def __init__(self, body: ForeignBody) -> None:
        self._body = body

    def joint_state(self) -> JointState:
        """See Arm."""
        return self._body.joint_state()

    def follow(self, trajectory: Trajectory) -> Followed:
        """See Arm."""
        follower = self._body.follow(trajectory)
        return Followed(follower, lambda: self._body.cancel(follower))


class ForeignGripperMotion:
    """A gripper command on its way."""

    def __init__(self, body: ForeignBody) -> None:
        self._body = body

    def done(self) -> bool:
        """See GripperMotion."""
        return self._body.gripper.done

    def report(self) -> GripperReport:
        """See GripperMotion."""
        steps = self._body.gripper
        return GripperReport(self._body.width, steps.stalled, steps.reached, self._body.finger_force())

    def cancel(self) -> None:
        """See GripperMotion."""
        with self._body.lock:
            self._body.gripper.stop()


class ForeignGripper:
    """See deskhand.arms.gripper_base.Gripper. The fingers squeeze with what the simulator gives them: a force cannot be asked for."""

    def __init__(self, body: ForeignBody) -> None:
        self._body = body

    def move(self, width: float, force: float) -> ForeignGripperMotion:
        """See Gripper."""
        with self._body.lock:
            self._body.gripper.begin(width)
        return ForeignGripperMotion(self._body)


class ForeignClock:
    """See deskhand.arms.base.Clock."""

    def __init__(self, body: ForeignBody) -> None:
        self._body = body

    def now(self) -> float:
        """[s]"""
        return self._body.now()

    def sleep(self, seconds: float) -> None:
        """Let the physics run."""
        self._body.sleep(seconds)


class ForeignCamera:
    """One of the simulator's cameras, by its nominal mount: on the base, or carried by the hand, whose pose is by the measured joints."""

    def __init__(self, body: ForeignBody, model: RobotModel, name: str, size: tuple[int, int] = (640, 480)) -> None:
        if name not in body.cameras:
            raise DeskhandError("config_error", f"there is no camera {name!r}; the simulator has {', '.join(body.cameras)}.")
        self._body, self._model, self._name, self._size = body, model, name, size

    def capture(self, newer_than: float | None = None) -> Frame:
        """See Camera; simulated time goes on until there is a newer one."""
        with self._body.lock:
            if newer_than is not None:
                self._body.wait_beyond(newer_than)
            head, arrays = self._body.picture(self._name, *self._size)
            base = self._model.arm.world_T_base if head["on"] == "base" else self._hand()
            width, height = self._size
            focal = float(str(head["focal"]))
            intrinsics = CameraIntrinsics(width, height, focal, focal, (width - 1) / 2, (height - 1) / 2)
            color, depth = arrays["color"].astype(np.uint8, copy=False), arrays["depth"].astype(np.float32, copy=False)
            return Frame(color, depth, intrinsics, base @ arrays["pose"], self._body.time)

    def _hand(self) -> Array:
        state = self._body.joint_state()
        joints = dict(zip(state.names, map(float, state.positions), strict=True))
        return self._model.forward(joints)[HAND_LINK]
