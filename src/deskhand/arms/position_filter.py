"""Measured positions of servos, as far as they can be believed.

Check sums of these buses have 8 bits: of the frames that lost a byte or have one too many about 1 in 256 passes. A position is therefore believed only
when the servo can have got there since the last one, or when a second reading says the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SLACK = 8.0  # [ticks at 1000 a range]
SMOOTHING = 0.6  # of the speed, a reading
OUTSIDE = 0.06  # of the range, by which a position may lie outside of it
SHAKE = 4.0  # [ticks at 1000 a range] that readings of a servo at rest may differ: by less they are averaged
AVERAGED = 0.3  # share of a new reading in that


@dataclass
class _Reading:
    position: float
    stamp: float
    speed: float = 0.0
    smooth: float = 0.0
    doubted: float | None = None
    doubted_at: float = 0.0


class PositionFilter:
    """Positions [ticks], speeds [ticks/s] and their times [s] by servo.

    Args:
        ticks: range of the positions.
        fastest: [ticks/s] that no servo exceeds.
    """

    def __init__(self, ticks: tuple[int, int], fastest: float) -> None:
        span = ticks[1] - ticks[0]
        self._low, self._high = ticks[0] - OUTSIDE * span, ticks[1] + OUTSIDE * span
        self._fastest, self._slack, self._shake = fastest, max(SLACK * span / 1000, 2.0), max(SHAKE * span / 1000, 1.0)
        self._readings: dict[int, _Reading] = {}
        self.doubted = 0

    def take(self, servo: int, position: float, now: float) -> bool:
        """A reading at ``now``; whether it is believed."""
        if not self._low <= position <= self._high:
            self.doubted += 1
            return False
        last = self._readings.get(servo)
        if last is None:
            self._readings[servo] = _Reading(position, now, smooth=position)
            return True
        since = now - last.stamp
        if abs(position - last.position) > self._fastest * since + self._slack and not self._confirmed(last, position, now):
            self.doubted += 1
            last.doubted, last.doubted_at = position, now
            return False
        speed = (position - last.position) / since if since > 0 else last.speed
        off = position - last.smooth
        smooth = last.smooth + AVERAGED * off if abs(off) <= self._shake else position
        self._readings[servo] = _Reading(position, now, SMOOTHING * last.speed + (1 - SMOOTHING) * speed, smooth)
        return True

    def believable(self, position: float) -> bool:
        """Whether a servo can stand there."""
        return self._low <= position <= self._high

    def agree(self, positions: Iterable[float]) -> bool:
        """Whether these are readings of a servo at rest."""
        values = list(positions)
        return max(values) - min(values) <= self._shake

    def assume(self, servo: int, position: float, now: float) -> None:
        """Of a servo that answers nothing."""
        self._readings[servo] = _Reading(position, now, smooth=position)

    def _confirmed(self, last: _Reading, position: float, now: float) -> bool:
        return last.doubted is not None and abs(position - last.doubted) <= self._fastest * (now - last.doubted_at) + self._slack

    def position(self, servo: int) -> float:
        """The newest one; KeyError before the first."""
        return self._readings[servo].position

    def smooth(self, servo: int) -> float:
        """Averaged while the servo rests, the newest one while it moves."""
        return self._readings[servo].smooth

    def speed(self, servo: int) -> float:
        """Smoothed."""
        return self._readings[servo].speed

    def stamp(self, servo: int) -> float:
        """When it was read; minus infinity before the first."""
        reading = self._readings.get(servo)
        return float("-inf") if reading is None else reading.stamp

    def forget(self) -> None:
        """After the connection was lost: the servos may stand anywhere."""
        self._readings.clear()
