"""Arms with fewer than 6 joints: what is left to turn about the approach axis, and the joint that turns the hand about it.

Such an arm meets the position and the approach axis of a pose. When its last joint turns about that very axis (JetArm, and most five-joint
arms), the roll can be met too, within that joint's limits: it is what decides along which direction a parallel gripper closes. What remains
constrained is the axis: it must lie in the vertical plane through the arm's base, see :func:`arm_axis`.
"""

from __future__ import annotations

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array

ALIGNED = 1e-6
AT_LIMIT = 1e-3  # [rad]
ROLL_MET = 0.02  # [rad]
"""A roll error below this counts as none: what a joint limit leaves is larger."""


def roll_error(wanted: Array, reached: Array) -> float:
    """Angle (-pi, pi] [rad] by which ``reached`` (4, 4) must turn about its z axis to be turned as ``wanted``, whose z axis is about the same."""
    relative = reached[:3, :3].T @ wanted[:3, :3]
    return float(np.arctan2(relative[1, 0] - relative[0, 1], relative[0, 0] + relative[1, 1]))


def roll_joint(model: RobotModel) -> int | None:
    """Index of the last joint of the arm when it turns the tcp about its own z axis, else None."""
    arm = model.arm
    last = arm.joints[-1]
    before, after = (model.tcp_pose({last: angle}) for angle in (0.0, 1.0))
    still = np.linalg.norm(after[:3, 3] - before[:3, 3]) < ALIGNED and np.linalg.norm(after[:3, 2] - before[:3, 2]) < ALIGNED
    return len(arm.joints) - 1 if still else None


class Roll:
    """Turns the last joint so that the roll fits, as far as its limits let it."""

    def __init__(self, model: RobotModel) -> None:
        self._index = roll_joint(model)
        if self._index is not None:
            last = model.arm.joints[-1]
            self._lower, self._upper = model.limits[last][:2]
            self._sense = 1.0 if roll_error(model.tcp_pose({last: 0.5}), model.tcp_pose({})) > 0 else -1.0

    def fitted(self, joints: Array, wanted: Array, reached: Array) -> Array:
        """``joints`` (n,), at which tcp is at ``reached``, with the last one turned towards the roll of ``wanted``; by less than a turn."""
        if self._index is None:
            return joints
        aim = float(joints[self._index]) + self._sense * roll_error(wanted, reached)
        turns = [aim, aim - 2 * np.pi, aim + 2 * np.pi]
        within = [angle for angle in turns if self._lower <= angle <= self._upper]
        result = np.array(joints, dtype=float)
        if within:
            result[self._index] = min(within, key=lambda angle: abs(angle - joints[self._index]))
        elif min(abs(joints[self._index] - limit) for limit in (self._lower, self._upper)) > AT_LIMIT:  # there it stays, rather than swing to the other
            misses = [(abs(angle - limit), limit) for angle in turns for limit in (self._lower, self._upper)]
            result[self._index] = min(misses)[1]
        return result


def arm_axis(model: RobotModel) -> Array | None:
    """A point (3,) on the base's vertical axis when the approach axis always lies in the vertical plane through that axis and the tcp; else None.

    Such an arm (turning base, then joints that bend in one plane, then a roll) can tilt its hand only towards and away from its base.
    """
    if not model.arm.free_roll:
        return None
    rng = np.random.default_rng(0)
    lower, upper = (np.array([model.limits[name][i] for name in model.arm.joints]) for i in (0, 1))
    base = model.arm.world_T_base[:3, 3]
    for _ in range(10):
        pose = model.tcp_pose(model.arm_joints(rng.uniform(lower, upper)))
        if out_of_plane(pose, base) > 1e-6:
            return None
    return np.asarray(base)


class BaseAngles:
    """Where the first joint of such an arm points when its hand is at a pose: towards it, or away from it with the arm bent over backwards."""

    def __init__(self, model: RobotModel) -> None:
        first = model.arm.joints[0]
        self._base = model.arm.world_T_base[:2, 3]
        self._lower, self._upper = model.limits[first][:2]
        joints = dict(zip(model.arm.joints, (self._lower + self._upper) / 2 + np.zeros(len(model.arm.joints)), strict=True))
        joints.update({name: float(np.mean(model.limits[name][:2])) + 0.3 for name in model.arm.joints[1:]})
        at, after = (self._azimuth(model.tcp_pose({**joints, first: angle})) for angle in (0.0, 0.1))
        self._zero, self._sense = at, 1.0 if np.sin(after - at) > 0 else -1.0

    def _azimuth(self, pose: Array) -> float:
        outward = pose[:2, 3] - self._base
        return float(np.arctan2(outward[1], outward[0]))

    def of(self, pose: Array) -> list[float]:
        """One or two angles [rad] within the joint's limits."""
        angle = self._sense * (self._azimuth(pose) - self._zero)
        angles = {round(float(np.mod(angle + turn + np.pi, 2 * np.pi) - np.pi), 9) for turn in (0.0, np.pi)}
        return sorted(value for value in angles if self._lower <= value <= self._upper)


def out_of_plane(pose: Array, base: Array) -> float:
    """Sine [0, 1] of the angle between the pose's approach axis (z) and the vertical plane through ``base`` and the pose's position."""
    outward = pose[:2, 3] - base[:2]
    length = float(np.linalg.norm(outward))
    if length < 1e-9:
        return 0.0
    return abs(float(pose[0, 2] * outward[1] - pose[1, 2] * outward[0])) / length
