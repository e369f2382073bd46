"""A gripper command on a servo: there, or stalled on a thing, told by where it really stands."""

from __future__ import annotations

from dataclasses import dataclass, field

REACHED = 0.0015  # [m] of finger travel
STILL = 0.0004  # [m]
STALL_TIME = 0.3  # [s]


@dataclass
class GripCommand:
    """Fingers on their way to ``position`` [m] (of the driven finger joint) with ``force`` [N]; ``due`` [s] is when they should be there."""

    position: float
    force: float
    due: float
    done: bool = False
    stalled: bool = False
    reached: bool = False
    cancelled: bool = False
    _anchor: float = field(default=float("inf"), repr=False)
    _since: float = field(default=0.0, repr=False)

    def judge(self, now: float, measured: float) -> None:
        """Given where the fingers are at ``now`` [s]: whether they have arrived or stand still."""
        if self.done:
            return
        if abs(measured - self._anchor) > STILL:
            self._anchor, self._since = measured, now
        self.reached = abs(measured - self.position) < REACHED
        still = now - self._since > STALL_TIME
        self.stalled = still and not self.reached
        self.done = self.stalled or (self.reached and (still or now >= self.due))

    def cancel(self) -> None:
        """It is over."""
        if not self.done:
            self.done = self.cancelled = True
