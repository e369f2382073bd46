"""An arm's description in MuJoCo, to compare with what deskhand makes of it."""

from __future__ import annotations

import mujoco
import numpy as np

from deskhand.arms.model import RobotModel


def compiled(robot: RobotModel) -> mujoco.MjModel:
    """The arm's URDF as MuJoCo reads it, contacts of neighbouring links included."""
    urdf = robot.urdf.replace('<link name="world"/>', '<mujoco><compiler fusestatic="false"/></mujoco><link name="world"/>')
    spec = mujoco.MjSpec.from_string(urdf)
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    return spec.compile()


def random_joints(robot: RobotModel, rng: np.random.Generator) -> dict[str, float]:
    """Within the limits, the fingers alike."""
    joints = {name: rng.uniform(low, high) for name, (low, high, _, _) in robot.limits.items()}
    return joints | {"right_finger": joints["left_finger"]}


def set_joints(model: mujoco.MjModel, data: mujoco.MjData, joints: dict[str, float]) -> None:
    """Put the arm there."""
    for name, position in joints.items():
        data.qpos[model.joint(name).qposadr[0]] = position


def touching(model: mujoco.MjModel, data: mujoco.MjData) -> set[frozenset[str]]:
    """Pairs of links that touch."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    return {frozenset(model.body(model.geom_bodyid[geom]).name for geom in contact.geom) for contact in data.contact if contact.dist < 0}


def check_forward_kinematics(robot: RobotModel, seed: int) -> None:
    """Assert that every link stands where MuJoCo puts it, in random states."""
    model, rng = compiled(robot), np.random.default_rng(seed)
    data = mujoco.MjData(model)
    for _ in range(100):
        joints = random_joints(robot, rng)
        set_joints(model, data, joints)
        mujoco.mj_kinematics(model, data)
        for link, pose in robot.forward(joints).items():
            assert np.abs(pose[:3, 3] - data.body(link).xpos).max() < 1e-6
            assert np.abs(pose[:3, :3] - data.body(link).xmat.reshape(3, 3)).max() < 1e-6
