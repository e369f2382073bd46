"""Out of the way of a camera that stands still: whether the arm is, and the first pose on its way home where it is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.perception.self_filter import robot_points
from deskhand.skills.view_planning import hidden_by_arm
from deskhand.types import Frame

MORE = 0.002  # share of the desk that the arm may hide beyond what it does at home
BESIDE = 0.03  # [m] around the arm that counts as it: its shadow's edge, and what a picture that is off shows of it
STEPS = 10  # of the way home that are looked at


def robot_in(frame: Frame, arm: ArmConfig, joints: Mapping[str, float]) -> npt.NDArray[np.bool_]:
    """Pixels (H, W) of ``frame`` that show the robot, or what is so near to it that it may be it."""
    model = RobotModel.load(arm)
    return robot_points(frame.points().reshape(-1, 3), model, model.forward(joints), BESIDE, BESIDE).reshape(frame.depth.shape)


class OutOfView:
    """For the camera of ``frame``, which stands still; ``hand``: the joints that are not the arm's."""

    def __init__(self, arm: ArmConfig, frame: Frame, hand: Mapping[str, float]) -> None:
        self._model, self._frame, self._hand = RobotModel.load(arm), frame, dict(hand)
        self._joints = arm.joints
        self._home = np.asarray(arm.named_poses["home"], dtype=float)
        self._most = self._hidden(self._home) + MORE

    def hand(self, joints: Mapping[str, float]) -> Array:
        """Where the model puts the tool centre point (3,) [m]."""
        return self._model.tcp_pose(joints)[:3, 3]

    def clear(self, joints: Mapping[str, float]) -> bool:
        """Whether the arm hides no more of the desk than at home, up to :data:`MORE`."""
        return self._hidden(np.array([joints[name] for name in self._joints])) <= self._most

    def on_the_way_home(self, start: Mapping[str, float]) -> dict[str, float] | None:
        """The first joints on the straight line from ``start`` to home from which on the arm is clear; None: not before home."""
        begin = np.array([start[name] for name in self._joints])
        best: dict[str, float] | None = None
        for share in np.arange(STEPS - 1, 0, -1) / STEPS:
            stands = dict(zip(self._joints, map(float, begin + share * (self._home - begin)), strict=True))
            if not self.clear(stands):
                break
            best = stands
        return best

    def _hidden(self, joints: Array) -> float:
        stands = dict(zip(self._joints, map(float, joints), strict=True))
        return hidden_by_arm(self._model, {**self._hand, **stands}, self._frame, BESIDE)
