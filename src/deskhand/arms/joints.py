"""Between joints [rad, m] and servos [ticks] of one arm."""

from __future__ import annotations

import numpy as np

from deskhand.arms.backlash import Play
from deskhand.arms.follower import INVALID_GOAL, BadTrajectory
from deskhand.arms.model import RobotModel
from deskhand.arms.position_filter import PositionFilter
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import JointState, Trajectory

BEYOND = 0.02  # [rad] by which a trajectory may leave the limits; it is clamped
JUMP = 0.15  # [rad] that the arm may be away from a trajectory's first point, if that is due at once
TOO_FAST = 1.2  # of the joint's speed limit, between two points


class ArmJoints:
    """The joints of ``model.arm`` and their servos, in the order of the configuration, the gripper's last.

    Raises:
        DeskhandError: ``config_error`` when the arm's configuration names no servos.
    """

    def __init__(self, model: RobotModel) -> None:
        self._model, self._arm = model, model.arm
        driver = model.arm.driver
        if set(driver.servos) != set(model.arm.joints):
            raise DeskhandError("config_error", f"{model.arm.name} has no servos for its joints (driver.servos in its file).")
        self._servos = [driver.servos[joint] for joint in model.arm.joints]
        self.gripper = driver.gripper
        self.arm_servos = tuple(servo.id for servo in self._servos)
        self.servos = self.arm_servos + ((self.gripper.id,) if self.gripper else ())
        self.blind = {servo.id: servo.pulse_of(servo.open_loop) for servo in self._servos if servo.open_loop is not None}
        self.asked = tuple(servo for servo in self.servos if servo not in self.blind)
        self.names = dict(zip(self.servos, (*model.arm.joints, "gripper"), strict=False))
        ends = np.array([[servo.angle_of(tick) for tick in driver.ticks] for servo in self._servos])
        limits = np.array([model.limits[joint][:2] for joint in model.arm.joints])
        # what the joint may do and the servo can
        self.low, self.high = np.maximum(limits[:, 0], ends.min(axis=1)), np.minimum(limits[:, 1], ends.max(axis=1))
        self.play = Play(model, np.array([servo.backlash for servo in self._servos]))
        self.fastest = np.asarray(model.arm.max_velocity, dtype=float)

    def ticks(self, index: int, angle: float) -> int:
        """For a joint, clamped to its limits; its play is allowed for."""
        return round(self._servos[index].pulse_of(min(max(angle, self.low[index]), self.high[index]) - self.play.lean[index]))

    def told(self, index: int, ticks: int) -> float:
        """[rad] that a joint is told by ``ticks``."""
        return float(self._servos[index].angle_of(ticks) + self.play.lean[index])

    def tick_sizes(self) -> Array:
        """(n,) [rad]"""
        return np.abs([servo.step for servo in self._servos])

    def angles(self, readings: PositionFilter) -> Array:
        """(n,) [rad], as measured, the links' lean in their play added."""
        return np.array([servo.angle_of(readings.position(servo.id)) for servo in self._servos]) + self.play.lean

    def rest_angles(self, readings: PositionFilter) -> Array:
        """(n,) [rad], as measured; averaged where a joint rests."""
        return np.array([servo.angle_of(readings.smooth(servo.id)) for servo in self._servos]) + self.play.lean

    def stamps(self, readings: PositionFilter) -> Array:
        """(n,) [s] when each joint was read."""
        return np.array([readings.stamp(servo.id) for servo in self._servos])

    def finger(self, readings: PositionFilter) -> float:
        """Position [m or rad] of the driven finger joint; that of the open gripper when it has no servo."""
        gripper = self._arm.gripper
        width = gripper.width_max if self.gripper is None else self.gripper.width_of(readings.position(self.gripper.id))
        return gripper.position_at(width)

    def finger_ticks(self, position: float) -> float:
        """Position [ticks] of the gripper's servo for a position of the driven finger joint [m or rad]."""
        return 0.0 if self.gripper is None else self.gripper.ticks_of(self._arm.gripper.width_of(position))

    def state(self, readings: PositionFilter) -> JointState:
        """All joints, as measured."""
        finger = self.finger(readings)
        fingers = []
        for name in self._model.fingers:
            mimic = self._model.joints[name].mimic
            fingers.append(finger if mimic is None else mimic[1] * finger + mimic[2])
        speeds = [servo.step * readings.speed(servo.id) for servo in self._servos]
        positions = np.concatenate([self.rest_angles(readings), fingers])
        velocities = np.concatenate([speeds, np.zeros(len(fingers))])
        stamp = min(readings.stamp(servo) for servo in self.servos)
        return JointState((*self._arm.joints, *self._model.fingers), positions, velocities, np.zeros(0), stamp)

    def check(self, trajectory: Trajectory, measured: Array) -> None:
        """See that the arm can follow (n,) from where it is.

        Raises:
            BadTrajectory: naming the joint.
        """
        for index, joint in enumerate(self._arm.joints):
            column = trajectory.positions[:, index]
            if column.min() < self.low[index] - BEYOND or column.max() > self.high[index] + BEYOND:
                raise BadTrajectory(
                    INVALID_GOAL,
                    f"{joint} would go to {column.min():.3f}..{column.max():.3f} rad; its limits are {self.low[index]:.3f}..{self.high[index]:.3f}.",
                )
        away = np.abs(trajectory.positions[0] - measured)
        if trajectory.times[0] <= 0 and away.max() > JUMP:
            joint = self._arm.joints[int(away.argmax())]
            raise BadTrajectory(INVALID_GOAL, f"{joint} is {away.max():.3f} rad away from the trajectory's first point, which is due at once.")
        times, positions = trajectory.times, trajectory.positions
        if times[0] > 0:
            times, positions = np.concatenate([[0.0], times]), np.vstack([measured, positions])
        if len(times) > 1:
            speed = np.abs(np.diff(positions, axis=0)) / np.diff(times)[:, None] / self.fastest
            worst = np.unravel_index(int(speed.argmax()), speed.shape)
            if speed[worst] > TOO_FAST:
                joint = self._arm.joints[int(worst[1])]
                raise BadTrajectory(INVALID_GOAL, f"{joint} would have to turn {speed[worst]:.1f} times as fast as it may.")
