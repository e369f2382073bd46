"""A third opinion: plans looked at again by MuJoCo's collision detection, on the same scene, at steps of a milliradian."""

from __future__ import annotations

import mujoco
import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.bench.motion.tasks import Task
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, quaternion_from_matrix
from deskhand.safety.scene import table_object
from deskhand.types import CollisionObject, Trajectory

STEP = 0.001  # [rad]
OPEN = "<mujoco><compiler fusestatic='false' discardvisual='true'/></mujoco>"


class Recheck:
    """The arm, the table and one task's obstacles in MuJoCo, unpadded; links that the SRDF excuses are excused, nothing else."""

    def __init__(self, arm: ArmConfig, task: Task, finger: float) -> None:
        model = RobotModel.load(arm)
        self.arm = arm
        spec = mujoco.MjSpec.from_string(model.urdf.replace('<link name="world"/>', f'{OPEN}<link name="world"/>', 1))
        for item in (table_object(), *task.obstacles):
            _add(spec.worldbody, item, item.pose)
        if task.held is not None:
            held = spec.body(arm.tcp).add_body(name=task.held.id)
            _add(held, task.held, inverse(model.tcp_pose(model.arm_joints(task.start))) @ task.held.pose)
            for link in (*arm.gripper.links, arm.tcp):
                spec.add_exclude(bodyname1=task.held.id, bodyname2=link)
        for pair in model.allowed_collisions():
            first, second = sorted(pair)
            spec.add_exclude(bodyname1=first, bodyname2=second)
        spec.add_exclude(bodyname1="world", bodyname2=arm.base_link)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._joints = [int(self._model.joint(name).qposadr[0]) for name in arm.joints]
        for name, joint in model.joints.items():
            if name == arm.gripper.joint or (joint.mimic and joint.mimic[0] == arm.gripper.joint):
                _, multiplier, offset = joint.mimic or (name, 1.0, 0.0)
                self._data.qpos[int(self._model.joint(name).qposadr[0])] = multiplier * finger + offset

    def deepest(self, trajectory: Trajectory) -> tuple[float, str]:
        """Penetration [m] along the whole way, 0 for none, and of what in what."""
        depth, names = 0.0, ""
        for state in _fine(trajectory.positions):
            self._data.qpos[self._joints] = state
            mujoco.mj_kinematics(self._model, self._data)
            mujoco.mj_collision(self._model, self._data)
            for contact in self._data.contact:
                if -contact.dist > depth:
                    depth = -float(contact.dist)
                    names = " and ".join(self._named(int(geom)) for geom in (contact.geom1, contact.geom2))
        return depth, names

    def _named(self, geom: int) -> str:
        name = self._model.geom(geom).name
        return str(name or self._model.body(int(self._model.geom_bodyid[geom])).name)


def _fine(positions: Array) -> Array:
    """States (N, n) at most a milliradian apart in every joint."""
    steps = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(positions, axis=0)).max(axis=1) + 1e-12)])
    at = np.linspace(0, steps[-1], int(np.ceil(steps[-1] / STEP)) + 1)
    return np.column_stack([np.interp(at, steps, column) for column in positions.T])


def _add(body: mujoco.MjsBody, item: CollisionObject, pose: Array) -> None:
    kinds = {"box": mujoco.mjtGeom.mjGEOM_BOX, "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER, "sphere": mujoco.mjtGeom.mjGEOM_SPHERE}
    for index, shape in enumerate(item.shapes):
        if shape.kind not in kinds:
            raise DeskhandError("invalid_input", f"the recheck has no shapes of kind {shape.kind!r}.")
        placed = pose @ shape.pose
        x, y, z, w = quaternion_from_matrix(placed[:3, :3])
        size = {"box": lambda s: [v / 2 for v in s], "cylinder": lambda s: [s[0], s[1] / 2, 0.0], "sphere": lambda s: [s[0], 0.0, 0.0]}[shape.kind](shape.size)
        body.add_geom(name=f"{item.id}/{index}", type=kinds[shape.kind], size=size, pos=placed[:3, 3].tolist(), quat=[w, x, y, z])
