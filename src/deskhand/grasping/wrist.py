"""What an arm certainly does not reach, told without inverse kinematics: its wrist would have to be farther from its shoulder than the arm is long.
For arms with five joints it is told exactly (planar.py).

Inverse kinematics finds a reachable pose in a millisecond, but gives an unreachable one up only after its whole time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, inverse, make_transform
from deskhand.grasping.planar import PlanarReach, is_planar
from deskhand.motion.roll import roll_joint

SAMPLES = 600
SLACK = 0.004  # [m] that random samples may miss of the arm's length
BACK = 0.05  # [m] where an approach begins
FULL_TURN = 2 * np.pi - 0.1


class WristReach:
    """Shoulder (the second joint's axis) and wrist (the last joint that bends) of an arm, and how far apart they can be.

    Attributes:
        turns_fully: the last joint rolls the gripper about its approach by a whole turn: half a turn more never helps.
    """

    def __init__(self, model: RobotModel) -> None:
        names = model.arm.joints
        self._planar = PlanarReach(model) if is_planar(model) else None
        rolls = roll_joint(model) is not None
        self.turns_fully = rolls and bool(np.ptp(model.limits[names[-1]][:2]) >= FULL_TURN)
        wrist, shoulder = model.joints[names[-2 if rolls else -1]].child, model.joints[names[1]].child
        rng = np.random.default_rng(0)
        lower, upper = (np.array([model.limits[name][i] for name in names]) for i in (0, 1))
        apart, behind = np.zeros(SAMPLES), np.zeros((SAMPLES, 3))
        for number in range(SAMPLES):
            joints = rng.uniform(lower, upper)
            if number % 3 == 0:  # the longest reach is at a stretched arm: bends of few joints
                joints[2:-1] = rng.normal(0.0, 0.2, len(joints[2:-1]))
                joints = np.clip(joints, lower, upper)
            links = model.forward(model.arm_joints(joints))
            apart[number] = np.linalg.norm(links[wrist][:3, 3] - links[shoulder][:3, 3])
            behind[number] = (inverse(links[model.arm.tcp]) @ links[wrist])[:3, 3]
        # where the wrist is, seen from the tcp: behind it along the approach; what bends between them is slack
        self._behind = float(behind[:, 2].mean())
        swing = float(np.linalg.norm(behind[:, :2], axis=1).max() + np.ptp(behind[:, 2]))
        at_zero = model.forward(model.arm_joints(np.zeros(len(names))))[shoulder][:3, 3]
        base = model.arm.world_T_base[:2, 3]
        self._shoulder = np.array([*base, at_zero[2]])
        self._farthest = float(apart.max()) + SLACK + swing + float(np.linalg.norm(at_zero[:2] - base))

    def within(self, poses: Array) -> npt.NDArray[np.bool_]:
        """Which of world_T_tcp (M, 4, 4), and of the starts of their approaches, may be reached."""
        good = np.ones(len(poses), bool)
        for back in (0.0, BACK):
            if self._planar is not None:
                good &= self._planar.within(poses @ make_transform(translation=[0.0, 0.0, -back]))
                continue
            start = poses @ make_transform(translation=[0.0, 0.0, self._behind - back])
            good &= np.linalg.norm(start[:, :3, 3] - self._shoulder, axis=1) <= self._farthest
        return good
