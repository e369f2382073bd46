"""What a spare joint is good for: the postures of an arm with more joints than a pose takes, all with the hand where it is to be.

From one solution the null space of the Jacobian leads to the others (self-motion, as in Nakamura 1991, "Advanced Robotics: Redundancy and Optimization",
chapter 4).
"""

from __future__ import annotations

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.motion.numerical_ik import NumericalIk

POSE = 6  # coordinates that a pose takes
STEP = 0.25  # [rad] along the null space between two postures
STEPS = 6  # to either side
LIMIT = 0.15  # [rad] from where a joint ends, nearer than which the arm soon cannot go on: 10 cm of a straight line turn an arm of 0.7 m by as much


class Elbow:
    """The postures of an arm at one pose of its hand. Of arms without a spare joint there are none but the given one."""

    def __init__(self, model: RobotModel) -> None:
        self._ik = NumericalIk(model)
        self._lower, self._upper = (np.array([model.limits[name][i] for name in model.arm.joints]) for i in (0, 1))
        self.spare = len(model.arm.joints) > POSE

    def postures(self, pose: Array, joints: Array) -> Array:
        """Others (M, n) at ``pose`` than ``joints`` (n,), the nearest first, until a joint ends or the hand would leave."""
        if not self.spare:
            return np.zeros((0, len(joints)))
        ways = [self._along(pose, joints, sign) for sign in (1.0, -1.0)]
        found = [way[number] for number in range(STEPS) for way in ways if number < len(way)]
        return np.array(found).reshape(-1, len(joints))

    def at_limit(self, joints: Array) -> bool:
        """Whether a joint is near where it ends."""
        return bool(np.minimum(joints - self._lower, self._upper - joints).min() < LIMIT)

    def _along(self, pose: Array, joints: Array, sign: float) -> list[Array]:
        found: list[Array] = []
        now, before = joints, self._spare_motion(joints) * sign
        for _ in range(STEPS):
            direction = self._spare_motion(now)
            direction = direction if direction @ before > 0 else -direction
            following = self._ik.refine(pose, now + STEP * direction)
            if following is None or (following - now) @ direction < STEP / 2:
                break
            found.append(following)
            now, before = following, direction
        return found

    def _spare_motion(self, joints: Array) -> Array:
        """(n,) of length 1: how the joints move while the hand rests."""
        return np.asarray(np.linalg.svd(self._ik.jacobian(joints))[2][-1])
