"""Moves the simulated hand to poses, for tests of the physics."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, inverse, make_transform, rotation_about
from deskhand.sim.simulation import Simulation
from deskhand.types import Trajectory


def grasp_pose(x: float, y: float, z: float, yaw: float = 0.0) -> Array:
    """world_T_tcp of a hand that looks straight down and closes along y turned by ``yaw``."""
    return make_transform(rotation_about([0, 0, 1], yaw) @ np.diag([-1.0, 1.0, -1.0]), [x, y, z])


def solve_ik(robot: RobotModel, pose: Array, seed: Array) -> Array:
    """Joints (6,) that bring tcp to ``pose``, within their limits."""
    limits = np.array([robot.limits[name][:2] for name in robot.arm.joints])

    def error(joints: Array) -> Array:
        difference = inverse(pose) @ robot.tcp_pose(robot.arm_joints(joints))
        turn = difference[:3, :3]
        return np.concatenate([difference[:3, 3] * 10, [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]], [turn.trace() - 3]])

    solution = least_squares(error, np.clip(seed, limits[:, 0] + 1e-6, limits[:, 1] - 1e-6), bounds=limits.T, xtol=1e-12, ftol=1e-12)
    assert solution.cost < 1e-8, f"no inverse kinematics for {pose.tolist()}"
    return np.asarray(solution.x)


def smooth(joints: tuple[str, ...], start: Array, end: Array, duration: float, points: int = 30) -> Trajectory:
    """A quintic motion from rest to rest."""
    u = np.linspace(0, 1, points)[:, None]
    rise, speed = 10 * u**3 - 15 * u**4 + 6 * u**5, (30 * u**2 - 60 * u**3 + 30 * u**4) / duration
    return Trajectory(joints, u[:, 0] * duration, start + rise * (end - start), speed * (end - start), np.zeros((0, len(joints))))


class SimHand:
    """The arm of a simulation, moved to tcp poses and waited for."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.robot = simulation.built.robot

    def joints(self) -> Array:
        """Measured (6,)."""
        return self.simulation.joint_state().of(self.simulation.arm.joints)

    def move(self, pose: Array, duration: float = 1.5) -> None:
        """Bring tcp to ``pose`` along a smooth motion of the joints."""
        self.move_joints(solve_ik(self.robot, pose, np.array([0.0, 0.3, 0.3, 0.0, 1.0, 0.0]) if pose[2, 3] < 0.5 else self.joints()), duration)

    def move_joints(self, joints: Array, duration: float = 1.5) -> None:
        """Bring the arm to ``joints``."""
        follower = self.simulation.follow(smooth(self.simulation.arm.joints, self.joints(), joints, duration))
        while follower.active:
            self.simulation.step(0.02)
        assert follower.code == 0, follower.message

    def grip(self, width: float, force: float | None = None) -> float:
        """Bring the pads together; returns the width [m] reached."""
        gripper = self.simulation.arm.gripper
        command = self.simulation.grip(gripper.position_of(width), force)
        for _ in range(200):
            if command.done:
                break
            self.simulation.step(0.02)
        assert command.done
        return gripper.width_of(self.simulation.finger_position())

    def tcp_T_object(self, name: str) -> Array:
        """Where an object is in the hand."""
        state = self.simulation.data
        model = self.simulation.model
        tcp = model.body("tcp").id
        world_T_tcp = make_transform(state.xmat[tcp].reshape(3, 3), state.xpos[tcp])
        return inverse(world_T_tcp) @ self.simulation.truth().get(name).pose
