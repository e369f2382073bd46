"""Play, sag and dead band between the servos and the joints of a simulated arm.

The simulated joint is the link. Its servo's encoder stands before the play, so what is read is the joint less the play; and what the servo is wished at
is not where it goes. The load is that of gravity, held objects and contacts, smoothed; what is not gravity on the arm itself bears on all joints as on the
one that gravity loads most, for the servos are alike.
"""

from __future__ import annotations

import numpy as np

from deskhand.arms.emulate.reality import ServoReality, Slack
from deskhand.arms.gravity import GravityLoad
from deskhand.geometry import Array
from deskhand.sim.simulation import Simulation

SMOOTHING = 0.05  # [s] of the load


class ArmSlack:
    """Of all joints of ``simulation``'s arm. Asked once a time step, while the simulation's lock is held."""

    def __init__(self, simulation: Simulation, reality: ServoReality) -> None:
        self._simulation, self._reality = simulation, reality
        self._greatest = GravityLoad(simulation.built.robot).greatest
        self._joints = [
            Slack(reality.backlash_of(simulation.arm.driver.servos[joint].id), reality.sag, reality.dead_band, simulation.joint_position(index))
            for index, joint in enumerate(simulation.arm.joints)
        ]
        self._load = np.zeros(len(self._joints))
        self._time = simulation.time

    def drive(self, wished: Array) -> Array:
        """Where the joints are to be driven (n,) [rad], their servos being wished at ``wished`` (n,) [rad]."""
        now = self._simulation.time
        passed, self._time = max(0.0, now - self._time), now
        gravity, others = self._simulation.joint_loads()
        self._load += min(1.0, passed / SMOOTHING) * (gravity / self._greatest + others / self._greatest.max() - self._load)
        driven = np.empty_like(wished)
        for index, (slack, load) in enumerate(zip(self._joints, self._load, strict=True)):
            encoder = slack.drive(float(wished[index]), float(load))
            driven[index] = encoder + slack.follow(encoder, float(load), passed)
        return driven

    def encoder(self, index: int) -> float:
        """Where the encoder of a joint's servo stands [rad]."""
        return self._simulation.joint_position(index) - self._joints[index].play
