"""Inverse kinematics near a seed, from the URDF alone: for backends whose own IK restarts at random, or cannot leave the roll free."""

from __future__ import annotations

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.motion.roll import Roll

STEPS = 30
ARRIVED = (2e-5, 2e-4)  # [m], [rad]
INSIDE = 1e-6  # [rad] that joints stay within their limits


class Newton:
    """Damped Newton steps with the geometric Jacobian; arms with fewer than 6 joints: position and approach axis, then the roll as far as it goes."""

    def __init__(self, model: RobotModel) -> None:
        self._model, self._arm = model, model.arm
        self._lower, self._upper = (np.array([model.limits[name][i] for name in model.arm.joints]) for i in (0, 1))
        self._roll = Roll(model) if model.arm.free_roll else None

    def pose(self, joints: Array) -> Array:
        """world_T_tcp (4, 4)."""
        return self._model.tcp_pose(self._model.arm_joints(joints))

    def refine(self, pose: Array, seed: Array) -> Array | None:
        """Joints (n,) for ``pose`` near ``seed`` (n,), within the limits; None when the steps do not arrive within a fraction of a millimetre."""
        joints = np.clip(seed, self._lower + INSIDE, self._upper - INSIDE)
        for _ in range(STEPS):
            frames = self._model.forward(self._model.arm_joints(joints))
            now = frames[self._arm.tcp]
            error = np.concatenate([pose[:3, 3] - now[:3, 3], _turn(now, pose)])
            jacobian = self._jacobian(frames, now[:3, 3])
            if self._roll is not None:
                across = np.eye(3) - np.outer(pose[:3, 2], pose[:3, 2])
                error[3:] = across @ np.cross(now[:3, 2], pose[:3, 2])
                jacobian[3:] = across @ jacobian[3:]
            if np.linalg.norm(error[:3]) < ARRIVED[0] and np.linalg.norm(error[3:]) < ARRIVED[1]:
                # Square to the axis also means square the wrong way round.
                if self._roll is None:
                    return joints
                return self._roll.fitted(joints, pose, now) if now[:3, 2] @ pose[:3, 2] > 0 else None
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error)
            joints = np.clip(joints + step * min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-9)), self._lower + INSIDE, self._upper - INSIDE)
        return None

    def _jacobian(self, frames: dict[str, Array], point: Array) -> Array:
        """(6, n) of ``point`` on the tcp: linear, then angular."""
        columns = []
        for name in self._arm.joints:
            joint = self._model.joints[name]
            frame = frames[joint.child]
            axis = frame[:3, :3] @ joint.axis
            columns.append(np.concatenate([np.cross(axis, point - frame[:3, 3]), axis]))
        return np.stack(columns, axis=1)


def _turn(now: Array, pose: Array) -> Array:
    """Axis times angle (3,) from the rotation of ``now`` to that of ``pose``."""
    rotation = pose[:3, :3] @ now[:3, :3].T
    vector = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(vector)), float((np.trace(rotation) - 1) / 2)
    return np.asarray(vector if sine < 1e-9 else vector / sine * float(np.arctan2(sine, cosine)))
