"""Play between the encoders of servos and the links of an arm, as its owner measured it: no encoder sees it, but where in it the link stands is known.

Gravity leans a link against one side; a joint at which gravity does not pull trails by half of the play on the side that it comes from.
"""

from __future__ import annotations

import numpy as np

from deskhand.arms.gravity import GravityLoad
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array

LEANS = 0.12  # of the greatest torque of gravity on a joint, from which on the link surely leans against one side
STEP = 0.25  # of the play, that the lean changes by at most from one piece of a trajectory to the next: the arm shall not jump
MOVES = 0.02  # [rad/s] from which on a joint takes the play up


class Play:
    """Of the joints of ``model.arm``; ``whole`` (n,) [rad] is the play of each. ``lean`` (n,) [rad]: by how much the links stand beyond the encoders."""

    def __init__(self, model: RobotModel, whole: Array) -> None:
        self._half = np.asarray(whole, dtype=float) / 2
        self._gravity = GravityLoad(model) if self._half.any() else None
        self.lean: Array = np.zeros(len(self._half))

    def update(self, positions: Array, speeds: Array) -> None:
        """The arm is to be at ``positions`` (n,) [rad], moving at ``speeds`` (n,) [rad/s]."""
        if self._gravity is None:
            return
        shares = self._gravity.shares(positions)
        pulled = np.clip(shares / LEANS, -1.0, 1.0)
        trailing = np.where(np.abs(speeds) > MOVES, -np.sign(speeds) * self._half, self.lean)
        lean = pulled * self._half + (1.0 - np.abs(pulled)) * trailing
        self.lean = self.lean + np.clip(lean - self.lean, -2 * STEP * self._half, 2 * STEP * self._half)
