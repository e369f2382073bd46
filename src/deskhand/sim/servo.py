"""Joint servos as bus servos behave: they take goals in ticks, late, and turn no faster than they can."""

from __future__ import annotations

from collections import deque

import numpy as np

from deskhand.geometry import Array

VELOCITY_TICK = 0.229 * 2 * np.pi / 60  # [rad/s] unit of their speed reading
PROFILE_ACCELERATION = 150.0  # [rad/s^2]
SMOOTHING = 0.8  # of the speed, a step
FEED_FORWARD = 0.8  # of the speed: the rest is the lag that real servos show on a ramp


class Servos:
    """Turns wished joint positions into what the actuators are told, one call a time step.

    Args:
        limits: (n, 2) joint range [rad].
        velocity: (n,) speed limit [rad/s].
        lag: (n,) [s] by which a servo without feed-forward trails a ramp.
        delay: steps between a goal being sent and being acted upon.
        tick: smallest step of their goals [rad].
    """

    def __init__(self, limits: Array, velocity: Array, lag: Array, timestep: float, delay: int, start: Array, tick: float) -> None:
        self._low, self._high = limits[:, 0], limits[:, 1]
        self._reach = velocity * timestep
        self._push = PROFILE_ACCELERATION * timestep**2
        self._gain = FEED_FORWARD * lag / timestep
        self._late: deque[Array] = deque([start.copy() for _ in range(delay)])
        self._tick = tick
        self.goal = start.copy()
        self._change = np.zeros_like(start)
        self._speed = np.zeros_like(start)

    def step(self, wished: Array, whole: bool = True) -> Array:
        """What to command now (n,) when ``wished`` (n,) [rad] is sent now; ``whole``: goals are whole ticks."""
        self._late.append(np.minimum(np.maximum(wished, self._low), self._high))
        late = self._late.popleft()
        wanted = (np.round(late / self._tick) * self._tick if whole else late) - self.goal
        # the servo's own trapezoidal profile: no faster than its limit, nor than it can still stop from
        fastest = np.minimum(self._reach, np.sqrt(2 * self._push * np.abs(wanted)))
        wanted = np.minimum(np.maximum(wanted, -fastest), fastest)
        self._change = np.minimum(np.maximum(wanted, self._change - self._push), self._change + self._push)
        self.goal = self.goal + self._change
        # goals in ticks would make the feed-forward rattle
        self._speed = SMOOTHING * self._speed + (1 - SMOOTHING) * self._change
        return np.asarray(self.goal + self._gain * self._speed)


def read_positions(positions: Array, tick: float) -> Array:
    """Positions [rad] as encoders with steps of ``tick`` [rad] give them."""
    return np.asarray(np.round(positions / tick) * tick)


def read_velocities(velocities: Array) -> Array:
    """Velocities [rad/s] as the servos report them."""
    return np.asarray(np.round(velocities / VELOCITY_TICK) * VELOCITY_TICK)
