"""Watches servos: warm ones slow the arm down; hot ones, a bad voltage, faults and stalls stop it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deskhand.arms.bus.base import Health
from deskhand.arms.driver_config import HealthLimits
from deskhand.geometry import Array

SLOWEST = 0.3  # of the speed, when a servo is about to be too hot
RELEASE = 2.0  # [degrees C] below `warm`, or
RELEASE_VOLTS = 0.2  # [V] inside the limits: then the arm may move again
HEALTH_PERIOD = 0.2  # [s] between two servos' health
HEALTH_ROUNDS = 3.0  # rounds of readings at least, between two servos' health
CONFIRM = 2  # readings in a row that must be bad
GRIPPER = "gripper"  # name of its servo


@dataclass
class _Servo:
    name: str
    health: Health
    bad: int = 0
    why: str = ""


class HealthWatch:
    """What is known of the servos' health; ``names`` of the joints by servo id."""

    def __init__(self, limits: HealthLimits, names: Mapping[int, str]) -> None:
        self._limits = limits
        self._servos = {servo: _Servo(name, Health()) for servo, name in names.items()}
        self._due, self._next = float("-inf"), 0

    def take(self, servo: int, health: Health) -> None:
        """A reading; what was not answered keeps its last value."""
        known = self._servos[servo]
        old = known.health
        known.health = replace(
            health,
            temperature=old.temperature if health.temperature is None else health.temperature,
            voltage=old.voltage if health.voltage is None else health.voltage,
        )
        why = self._complaint(known)
        known.bad = known.bad + 1 if why else 0
        if known.bad >= CONFIRM:
            known.why = why
        elif not why:
            known.why = ""

    def _complaint(self, servo: _Servo) -> str:
        """What is wrong; what already stops the arm must be clearly gone to be right again."""
        limits, health = self._limits, servo.health
        margin = RELEASE_VOLTS if servo.why else 0.0
        hot = limits.warm - RELEASE if servo.why else limits.hot
        if health.fault:
            return f"{servo.name} reports: {health.fault}"
        if health.strained and servo.name != GRIPPER:  # which holds what it has grasped with what is left
            return f"{servo.name} is overloaded"
        if health.temperature is not None and health.temperature >= hot:
            return f"{servo.name} has {health.temperature:.0f} degrees C (stops at {limits.hot:.0f})"
        if health.voltage is not None and not limits.low + margin <= health.voltage <= limits.high - margin:
            return f"{servo.name} has {health.voltage:.1f} V (allowed {limits.low:.1f} to {limits.high:.1f})"
        return ""

    def suspicious(self) -> int | None:
        """A servo whose bad reading is not confirmed yet."""
        return next((servo for servo, known in self._servos.items() if 0 < known.bad < CONFIRM), None)

    def due(self, now: float, servos: Sequence[int], round_time: float) -> int | None:
        """The servo whose health is to be read now [s], one after the other; a bad reading is confirmed at once. ``round_time``: of all positions [s]."""
        servo = self.suspicious()
        if servo is None and now < self._due:
            return None
        if servo is None:
            self._next = (self._next + 1) % len(servos)
            servo = servos[self._next]
        self._due = now + max(HEALTH_PERIOD, HEALTH_ROUNDS * round_time)
        return servo

    def fault(self) -> str:
        """Why the arm must not move; empty when it may."""
        return next((servo.why for servo in self._servos.values() if servo.why), "")

    def scale(self) -> float:
        """Share of the speed at which the arm may move."""
        limits = self._limits
        hottest = max((servo.health.temperature or 0.0 for servo in self._servos.values()), default=0.0)
        return float(np.clip(1 - (1 - SLOWEST) * (hottest - limits.warm) / (limits.hot - limits.warm), SLOWEST, 1.0))

    def health(self, servo: int) -> Health:
        """The newest known."""
        return self._servos[servo].health


@dataclass
class StallWatch:
    """A joint that stays more than ``error`` [rad] behind and has not moved by ``still`` [rad] for ``time`` [s] is held by something."""

    error: float = 0.12
    still: float = 0.012
    time: float = 0.4

    def __post_init__(self) -> None:
        self._at: Array | None = None
        self._since = np.zeros(0)

    def stalled(self, now: float, wished: Array, measured: Array) -> int | None:
        """Index of a joint that stalls at ``now`` [s]."""
        if self._at is None:
            self._at, self._since = measured.copy(), np.full(len(measured), now)
        moved = (np.abs(measured - self._at) > self.still) | (np.abs(wished - measured) < self.error)
        self._at[moved], self._since[moved] = measured[moved], now
        still = np.flatnonzero(now - self._since > self.time)
        return int(still[0]) if len(still) else None
