"""What a foreign joint controller is told in each of its periods, and the gripper's steps.

The controller of robosuite (JOINT_POSITION) pulls the joints to a goal as a critically damped spring, without feed-forward: acceleration =
kp (goal - q) - 2 sqrt(kp) velocity. So the goal that makes a joint follow q_d(t) is q_d + 2 / sqrt(kp) v_d + a_d / kp, best taken in the middle of the period.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deskhand.arms.follower import Follower
from deskhand.arms.gripper import GripperConfig
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.safety.kinematics import link_poses
from deskhand.types import Trajectory

DIFFERENCE = 0.01  # [s] over which velocity and acceleration of a trajectory are taken


def feed_forward(follower: Follower, now: float, period: float, kp: float) -> Array:
    """The goal (n,) [rad] for the period that begins at ``now`` [s]."""
    at = now + period / 2 - follower.begun
    before, here, after = (follower.sample(at + shift) for shift in (-DIFFERENCE, 0.0, DIFFERENCE))
    velocity, acceleration = (after - before) / (2 * DIFFERENCE), (after - 2 * here + before) / DIFFERENCE**2
    return np.asarray(here + 2 / math.sqrt(kp) * velocity + acceleration / kp)


MOST_TURN = 1.15  # [rad/s] of the hand about its approach axis: from 1.3 on the simulator's air, with which its gripper has a wing's drag, takes all of a
# wrist joint's 12 N m (6.8 N m at 1 rad/s, with the square of the speed; measured)


def slowed(trajectory: Trajectory, model: RobotModel) -> tuple[Trajectory, float]:
    """The trajectory, stretched in time so that the hand does not turn faster than :data:`MOST_TURN`, and by which factor."""
    if len(trajectory.times) < 2:
        return trajectory, 1.0
    poses = link_poses(model, trajectory.joint_names, trajectory.positions, {}, model.arm.tcp)[model.arm.tcp][:, :3, :3]
    along = np.einsum("tji,tj->ti", poses[:-1], poses[1:, :, 0])  # the next x axis in the frame of the one before
    turn = np.abs(np.arctan2(along[:, 1], along[:, 0])) / np.diff(trajectory.times)
    factor = max(1.0, float(turn.max()) / MOST_TURN)
    velocities, accelerations = trajectory.velocities / factor, trajectory.accelerations / factor**2
    return Trajectory(trajectory.joint_names, trajectory.times * factor, trajectory.positions, velocities, accelerations), factor


STEP = 0.010  # [m] of width by which a period of the gripper's command moves its target
OPEN_TARGET = 0.080  # [m] of width, where the target ends
STALL_SPEED = 0.004  # [m/s] of the width, below which the fingers stand
STALL_PERIODS = 4  # of standing fingers, after which they are stalled
WITHIN = 0.0015  # [m] of the target's width, nearer than which it is reached


@dataclass
class GripperSteps:
    """Brings the fingers' target to a width by whole steps: the least that is not below the width. 0 closes all the way, which squeezes what is between."""

    gripper: GripperConfig
    target: float
    """[m] where the target stands."""
    goal: float = 0.0
    done: bool = True
    stalled: bool = False
    reached: bool = False
    _still: int = 0

    def begin(self, width: float) -> None:
        """Start towards ``width`` [m]."""
        if width <= self.gripper.width_min + WITHIN:
            self.goal = 0.0
        else:
            self.goal = min(OPEN_TARGET, OPEN_TARGET - STEP * math.floor((OPEN_TARGET - width - 1e-9) / STEP + 1e-6))
        self.done = self.stalled = self.reached = False
        self._still = 0

    def stop(self) -> None:
        """Hold where the target stands."""
        self.goal, self.done = self.target, True

    def sign(self) -> float:
        """-1 opens, 1 closes, 0 stays: for the coming period; the target moves with it."""
        away = self.goal - self.target
        if abs(away) < STEP / 2:
            return 0.0
        self.target = min(OPEN_TARGET, max(0.0, self.target + math.copysign(STEP, away)))
        return -math.copysign(1.0, away)

    def watch(self, width: float, speed: float) -> None:
        """After a period: the measured width [m] and its speed [m/s]."""
        if self.done:
            return
        there = abs(self.goal - self.target) < STEP / 2
        expected = min(self.goal, self.gripper.width_max)
        self.reached = there and (abs(width - expected) < WITHIN or (self.goal >= OPEN_TARGET and width > self.gripper.width_max - 2 * WITHIN))
        standing = there and abs(speed) < STALL_SPEED
        self._still = self._still + 1 if standing else 0
        self.stalled = not self.reached and self._still >= STALL_PERIODS
        self.done = self.stalled or (self.reached and abs(speed) < 5 * STALL_SPEED)
