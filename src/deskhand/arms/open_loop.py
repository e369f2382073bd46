"""Servos that obey and answer nothing: where they stand is only known as what they were told. Driven so only when the arm's file says from where on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SLOWER = 0.5  # of the speed, with a servo whose position is only assumed
BRINGING = 4.0  # [s] in which such a servo is brought to where it is taken to be


@dataclass
class _Profile:
    start: float
    goal: float
    begun: float
    seconds: float


class BlindServos:
    """Positions [ticks] that are assumed, by servo; times are the driver's [s]."""

    def __init__(self, starts: Mapping[int, float]) -> None:
        self._starts = dict(starts)
        self._profiles: dict[int, _Profile] = {}
        self.ready_at = float("-inf")
        """When all are where they are taken to be."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The servos."""
        return tuple(self._starts)

    def bring(self, now: float) -> dict[int, int]:
        """The arm is taken: goals for all of them, to be reached in :data:`BRINGING`; wherever they come from."""
        self.ready_at = now + BRINGING if self._starts else float("-inf")
        self._profiles = {number: _Profile(start, start, now, 0.0) for number, start in self._starts.items()}
        return {number: round(start) for number, start in self._starts.items()}

    def told(self, goals: Mapping[int, int], seconds: float, now: float) -> None:
        """A move was sent."""
        for number, profile in self._profiles.items():
            if number in goals:
                self._profiles[number] = _Profile(_at(profile, now), goals[number], now, seconds)

    def stop(self, now: float) -> None:
        """A stop was sent."""
        for number, profile in self._profiles.items():
            here = _at(profile, now)
            self._profiles[number] = _Profile(here, here, now, 0.0)

    def positions(self, now: float) -> dict[int, float]:
        """Where they are taken to be."""
        return {number: _at(profile, now) for number, profile in self._profiles.items()}


def _at(profile: _Profile, now: float) -> float:
    share = 1.0 if profile.seconds <= 0 else min(1.0, max(0.0, (now - profile.begun) / profile.seconds))
    return profile.start + (profile.goal - profile.start) * share
