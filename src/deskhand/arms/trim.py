"""What servos are told beyond where they shall stand, so that they stand there: they yield to gravity and leave small errors alone.

Where an arm rests, the difference between what its servos were told and what they then measure is their error, whatever was told. How they yield is learnt
from that, joint by joint, as so many radians for the greatest torque of gravity, so that the next motion goes right from its start; what is left over (what
is held, the dead band) is added as it is. The measured joints keep to the trajectory; only what is told is beyond it, by at most :data:`MOST`.
"""

from __future__ import annotations

import numpy as np

from deskhand.arms.gravity import GravityLoad
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array

MOST = np.radians(6.0)  # that a servo is told beyond where it shall stand
SOFTEST = np.radians(5.0)  # by which a servo yields to the greatest torque
MEMORY = 0.9  # of what was learnt, at each rest
DOUBT = 0.1  # weight of not yielding at all, in rests


class Trim:
    """Of all joints of an arm."""

    def __init__(self, model: RobotModel) -> None:
        self._gravity = GravityLoad(model)
        self.forget()

    def forget(self) -> None:
        """Nothing is known: the arm was just taken."""
        count = len(self._gravity.greatest)
        self._moments, self._weights = np.zeros(count), np.full(count, DOUBT)
        self.softness: Array = np.zeros(count)
        """(n,) [rad] by which each servo is found to yield to its greatest torque."""
        self._rest: Array = np.zeros(count)

    def at(self, positions: Array) -> Array:
        """(n,) [rad] to be told beyond ``positions`` (n,) [rad]."""
        return np.asarray(np.clip(self._rest - self.softness * self._gravity.shares(positions), -MOST, MOST))

    def learn(self, positions: Array, beyond: Array) -> None:
        """At ``positions`` (n,) [rad] the arm rests when it is told ``beyond`` (n,) [rad] beyond them."""
        shares = self._gravity.shares(positions)
        self._moments = MEMORY * self._moments - beyond * shares
        self._weights = MEMORY * (self._weights - DOUBT) + shares**2 + DOUBT
        self.softness = np.clip(self._moments / self._weights, 0.0, SOFTEST)
        self._rest = np.clip(beyond, -MOST, MOST) + self.softness * shares
