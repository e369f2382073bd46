"""Inverse kinematics by roboplan, on a scene without shapes.

SimpleIk copies its whole scene at every call, which with shapes takes longer than the solving; here it has none, and contacts are
looked at afterwards. A solution is found to a millimetre with some damping, which helps from afar, then brought to a fiftieth of one with hardly any.
"""

from __future__ import annotations

import time
from typing import Any
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.motion.roboplan_scene import GROUP, standing_still
from deskhand.motion.roll import BaseAngles, Roll, arm_axis

ROUGH, FINE = 1e-3, 2e-5  # [m]
ROUGH_TURN, FINE_TURN = 3e-3, 2e-4  # [rad]
SLICE = 0.02  # [s] of one call with restarts


class RoboplanIk:
    """Solves for one arm; not safe to share between threads."""

    def __init__(self, core: Any, rrt: Any, simple_ik: Any, model: RobotModel) -> None:
        if model.arm.free_roll and tuple(model.arm.approach_axis) != (0, 0, 1):
            raise DeskhandError("config_error", f"the approach axis of {model.arm.name} must be the z axis of its tcp, got {model.arm.approach_axis}.")
        self._core, self._rrt, self.model, self.arm = core, rrt, model, model.arm
        self._names = list(self.arm.joints)
        self._lower, self._upper = (np.array([model.limits[name][i] for name in self._names]) for i in (0, 1))
        self._roll = Roll(model)
        self._base_angles = BaseAngles(model) if arm_axis(model) is not None else None
        self._random = np.random.default_rng(0)
        self._scene = core.Scene(self.arm.name, core.loadUrdfSceneDescriptionFromXml(_without_shapes(standing_still(model, {}))))
        self._scene.addGroup(GROUP, self._names)
        info = self._scene.getJointGroupInfo(GROUP)
        self._rows, self._columns = list(info.q_indices), list(info.v_indices)
        self._joints = {name: core.JointConfiguration(self._names, np.zeros(len(self._names))) for name in ("start", "found", "fine")}

        def solver(**options: Any) -> Any:
            made = simple_ik.SimpleIk(self._scene, simple_ik.SimpleIkOptions(GROUP, check_collisions=False, **options))
            made.setRngSeed(0)
            return made

        rough: dict[str, Any] = {"step_size": 0.5, "max_linear_error_norm": ROUGH, "max_angular_error_norm": ROUGH_TURN, "max_time": SLICE}
        self._near = solver(**rough, max_iters=30, max_restarts=0, damping=1e-3)
        self._far = solver(**rough, max_iters=30, max_restarts=0, damping=3e-4)
        self._any = solver(**rough, max_iters=20, max_restarts=10000, damping=3e-4)
        self._fine = solver(
            step_size=1.0, max_iters=12, max_restarts=0, damping=1e-5, max_time=SLICE, max_linear_error_norm=FINE, max_angular_error_norm=FINE_TURN
        )

    def seeded(self, pose: Array, seed: Array) -> Array | None:
        """What lies downhill from ``seed``, if that arrives."""
        return self._axis(pose, seed) if self.arm.free_roll else self._solve(self._near, pose, seed)

    def once(self, pose: Array) -> Array | None:
        """From a random start, if that arrives."""
        start = self._random.uniform(self._lower, self._upper)
        if self._base_angles and (angles := self._base_angles.of(pose)):
            start[0] = self._random.choice(angles)
        return self._axis(pose, start) if self.arm.free_roll else self._solve(self._far, pose, start)

    def restarted(self, pose: Array, max_time: float) -> Array | None:
        """From random starts until one arrives or ``max_time`` [s] of this thread's time is spent (at most ten times that of wall time)."""
        began, end = time.thread_time(), time.monotonic() + 10 * max_time
        while True:
            found = self.once(pose) if self.arm.free_roll else self._solve(self._any, pose, self._random.uniform(self._lower, self._upper))
            if found is not None:
                return found
            if time.thread_time() - began > max_time or time.monotonic() > end:
                return None

    def refine(self, pose: Array, seed: Array) -> Array | None:
        """The solution at ``seed``'s side, to a fiftieth of a millimetre; None when it is farther away or out of the limits."""
        if not self.arm.free_roll:
            start, found = self._joints["start"], self._joints["found"]
            start.positions = seed
            goal = self._core.CartesianConfiguration(self.model.root, self.arm.tcp, np.asfortranarray(pose))
            if self._fine.solveIk(goal, start, found):
                return np.array(found.positions)
        return self._newton(pose, seed)

    def reached(self, joints: Array) -> Array:
        """world_T_tcp (4, 4)."""
        return np.asarray(self._scene.forwardKinematics(self._full(joints), self.arm.tcp))

    def _solve(self, solver: Any, pose: Array, seed: Array) -> Array | None:
        start, found, fine = self._joints["start"], self._joints["found"], self._joints["fine"]
        start.positions = seed
        goal = self._core.CartesianConfiguration(self.model.root, self.arm.tcp, np.asfortranarray(pose))
        if not solver.solveIk(goal, start, found):
            return None
        # Near a singularity the fine steps may not arrive; what was found is good to a millimetre all the same.
        return np.array(fine.positions if self._fine.solveIk(goal, found, fine) else found.positions)

    def _axis(self, pose: Array, start: Array) -> Array | None:
        """Position and approach axis, and the roll about it as far as the last joint can turn."""
        free = np.array([0, 0, 0, 0, 0, np.pi])  # x, y, z, roll, pitch, yaw about the approach axis
        constraint = self._rrt.PoseConstraint(self._scene, GROUP, self.arm.tcp, -free, free, np.asfortranarray(pose), "", 1e-4, 1e-3)
        projector = self._rrt.ConstraintProjector(self._scene, GROUP, [constraint], self._rrt.ConstraintProjectorOptions(max_iters=60))
        full = projector.project(self._full(start))
        if full is None:
            return None
        joints = self._rolled(np.asarray(full)[self._rows], pose)
        return joints if (joints >= self._lower).all() and (joints <= self._upper).all() else None

    def _rolled(self, joints: Array, pose: Array) -> Array:
        return self._roll.fitted(joints, pose, self.reached(joints))

    def _newton(self, pose: Array, joints: Array) -> Array | None:
        """Steps with the geometric Jacobian, which keep to the limits: to the pose, or to its position and approach axis."""
        axis = pose[:3, 2]
        tilt = np.eye(3) - np.outer(axis, axis) if self.arm.free_roll else np.eye(3)
        for _ in range(20):
            full = self._full(joints)
            now = self._scene.forwardKinematics(full, self.arm.tcp)
            turn = now[:3, :3]
            off = tilt @ np.cross(turn[:, 2], axis) if self.arm.free_roll else _rotation_vector(pose[:3, :3] @ turn.T)
            error = np.concatenate([pose[:3, 3] - now[:3, 3], off])
            if np.linalg.norm(error[:3]) < FINE and np.linalg.norm(error[3:]) < FINE_TURN:
                return self._rolled(joints, pose) if self.arm.free_roll else joints
            jacobian = self._scene.computeFrameJacobian(full, self.arm.tcp, True)[:, self._columns]
            jacobian = np.vstack([turn @ jacobian[:3], tilt @ (turn @ jacobian[3:])])
            joints = np.clip(joints + jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error), self._lower + 1e-6, self._upper - 1e-6)
        return None

    def _full(self, joints: Array) -> Array:
        return np.asarray(self._scene.toFullJointPositions(GROUP, np.ascontiguousarray(joints)))


def _without_shapes(urdf: str) -> str:
    root = ElementTree.fromstring(urdf)
    for link in root.findall("link"):
        for element in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(element)
    return ElementTree.tostring(root, encoding="unicode")


def _rotation_vector(rotation: Array) -> Array:
    """Axis times angle (3,) of a rotation (3, 3)."""
    vector = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(vector)), float((np.trace(rotation) - 1) / 2)
    return vector if sine < 1e-9 else vector / sine * float(np.arctan2(sine, cosine))
