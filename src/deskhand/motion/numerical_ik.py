"""Inverse kinematics from the URDF alone, many starts at once: for backends whose own IK restarts at random, fails beside singularities, or cannot leave the
roll free.
"""

from __future__ import annotations

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.motion.roll import Roll

STEPS = 40
ARRIVED = (2e-5, 2e-4)  # [m], [rad]
LARGEST = 0.5  # [rad] of a joint in one step
DAMPING = 1e-6
INSIDE = 1e-6  # [rad] that joints stay within their limits


class NumericalIk:
    """Damped Newton steps with the geometric Jacobian; arms with fewer than 6 joints: position and approach axis, then the roll as far as it goes."""

    def __init__(self, model: RobotModel) -> None:
        self._model, self._arm = model, model.arm
        self._lower, self._upper = (np.array([model.limits[name][i] for name in model.arm.joints]) for i in (0, 1))
        self._roll = Roll(model) if model.arm.free_roll else None
        self._fixed, self._axes, self._last = _chain(model)

    def pose(self, joints: Array) -> Array:
        """world_T_tcp (4, 4)."""
        return np.asarray(self._forward(joints[None])[0][0])

    def jacobian(self, joints: Array) -> Array:
        """(6, n) of the tcp at joints (n,), in ``world``: linear, then angular."""
        return np.asarray(self._forward(joints[None])[1][0])

    def refine(self, pose: Array, seed: Array) -> Array | None:
        """Joints (n,) for ``pose`` near ``seed`` (n,), within the limits; None when the steps do not arrive within a fraction of a millimetre."""
        found = self.solve(pose, seed[None])
        return found[0] if len(found) else None

    def solve(self, pose: Array, seeds: Array) -> Array:
        """Where the steps from ``seeds`` (K, n) arrive: (M, n), in the order of the seeds, M from 0 to K."""
        joints = np.clip(seeds, self._lower + INSIDE, self._upper - INSIDE)
        there = np.zeros(len(joints), dtype=bool)
        for _ in range(STEPS):
            moving = np.flatnonzero(~there)
            now, jacobian = self._forward(joints[moving])
            error = np.concatenate([pose[:3, 3] - now[:, :3, 3], self._turn(now, pose)], axis=1)
            if self._roll is not None:
                across = np.eye(3) - np.outer(pose[:3, 2], pose[:3, 2])
                error[:, 3:] = error[:, 3:] @ across
                jacobian[:, 3:] = across @ jacobian[:, 3:]
            arrived = (np.linalg.norm(error[:, :3], axis=1) < ARRIVED[0]) & (np.linalg.norm(error[:, 3:], axis=1) < ARRIVED[1])
            there[moving[arrived]] = True
            if there.all():
                break
            turned = jacobian.transpose(0, 2, 1)
            step = (turned @ np.linalg.solve(jacobian @ turned + DAMPING * np.eye(6), error[..., None]))[..., 0]
            step *= np.minimum(1.0, LARGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-9))
            moved = np.clip(joints[moving] + step, self._lower + INSIDE, self._upper - INSIDE)
            joints[moving[~arrived]] = moved[~arrived]
        return self._rolled(joints[there], pose)

    def _rolled(self, joints: Array, pose: Array) -> Array:
        if self._roll is None or not len(joints):
            return joints
        now = self._forward(joints)[0]
        # Square to the axis also means square the wrong way round.
        right = now[:, :3, 2] @ pose[:3, 2] > 0
        fitted = [self._roll.fitted(row, pose, reached) for row, reached in zip(joints[right], now[right], strict=True)]
        return np.array(fitted).reshape(-1, joints.shape[1])

    def _turn(self, now: Array, pose: Array) -> Array:
        """(K, 3) axis times angle [rad] from the rotations of ``now`` to that of ``pose``; from axis to axis where the roll is free."""
        if self._roll is not None:
            return np.cross(now[:, :3, 2], pose[:3, 2])
        rotation = pose[:3, :3] @ now[:, :3, :3].transpose(0, 2, 1)
        vector = np.stack([rotation[:, 2, 1] - rotation[:, 1, 2], rotation[:, 0, 2] - rotation[:, 2, 0], rotation[:, 1, 0] - rotation[:, 0, 1]], axis=1) / 2
        sine, cosine = np.linalg.norm(vector, axis=1), (np.trace(rotation, axis1=1, axis2=2) - 1) / 2
        scale = np.where(sine < 1e-9, 1.0, np.arctan2(sine, cosine) / np.maximum(sine, 1e-9))
        return np.asarray(vector * scale[:, None])

    def _forward(self, joints: Array) -> tuple[Array, Array]:
        """world_T_tcp (K, 4, 4) and its Jacobian (K, 6, n): linear, then angular, in ``world``."""
        pose = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
        axes, points = [], []
        for fixed, axis, angle in zip(self._fixed, self._axes, joints.T, strict=True):
            pose = pose @ fixed
            axes.append(pose[:, :3, :3] @ axis)
            points.append(pose[:, :3, 3])
            pose = pose @ _about(axis, angle)
        pose = pose @ self._last
        linear = [np.cross(axis, pose[:, :3, 3] - point) for axis, point in zip(axes, points, strict=True)]
        return pose, np.concatenate([np.stack(linear, axis=2), np.stack(axes, axis=2)], axis=1)


def _chain(model: RobotModel) -> tuple[list[Array], list[Array], Array]:
    """From the root to the tcp: for each joint of the arm what is fixed before it (4, 4) and its axis (3,); then what is fixed after the last."""
    by_child = {joint.child: joint for joint in model.joints.values()}
    link, path = model.arm.tcp, []
    while link != model.root:
        path.append(by_child[link])
        link = by_child[link].parent
    fixed, axes, since = [], [], np.eye(4)
    for joint in reversed(path):
        since = since @ joint.origin
        if joint.name in model.arm.joints:
            fixed.append(since)
            axes.append(joint.axis)
            since = np.eye(4)
    return fixed, axes, since


def _about(axis: Array, angle: Array) -> Array:
    """(K, 4, 4) turned about ``axis`` (3,) by each of ``angle`` (K,)."""
    skew = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    result = np.tile(np.eye(4), (len(angle), 1, 1))
    result[:, :3, :3] += np.sin(angle)[:, None, None] * skew + (1 - np.cos(angle))[:, None, None] * (skew @ skew)
    return result
