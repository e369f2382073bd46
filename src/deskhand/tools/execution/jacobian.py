"""What follows from joint angles: the Jacobian, how well the gripper can move there, how near a limit is."""

from __future__ import annotations

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array


def jacobian(model: RobotModel, joints: Array) -> Array:
    """(6, n) of the tcp in ``world``: linear [m/rad] over angular [rad/rad], at ``joints`` (n,) in the order of the arm, from joint axes."""
    poses = model.forward(model.arm_joints(joints))
    tip = poses[model.arm.tcp][:3, 3]
    columns = []
    for name in model.arm.joints:
        joint = model.joints[name]
        frame = poses[joint.child]
        axis = frame[:3, :3] @ joint.axis
        columns.append(np.concatenate([axis, np.zeros(3)] if joint.kind == "prismatic" else [np.cross(axis, tip - frame[:3, 3]), axis]))
    result: Array = np.column_stack(columns)
    return result


def manipulability(model: RobotModel, joints: Array) -> float:
    """How far the gripper is from where it cannot move some way: smallest over largest singular value of the linear Jacobian, 0 (singular) to 1."""
    values = np.linalg.svd(jacobian(model, joints)[:3], compute_uv=False)
    return float(values[-1] / values[0])


def nearest_limit(model: RobotModel, joints: Array) -> tuple[str, float]:
    """The joint that is nearest to a limit of its own, and how far [rad] it may still turn; negative when it is beyond."""
    rows = [(name, min(value - model.limits[name][0], model.limits[name][1] - value)) for name, value in zip(model.arm.joints, map(float, joints), strict=True)]
    return min(rows, key=lambda row: row[1])


def force_at_tcp(model: RobotModel, joints: Array, torques: Array) -> Array:
    """Force (3,) [N] in ``world`` on the tcp that explains joint ``torques`` (n,) [Nm] best, moments taken as none."""
    return np.asarray(np.linalg.lstsq(jacobian(model, joints)[:3].T, torques, rcond=None)[0])
