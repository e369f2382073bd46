"""Which of many messages to keep, so that there are so many a second of their own time."""

from __future__ import annotations


class Thinner:
    """Keeps ``rate`` [Hz] of what comes more often; everything of what comes less often."""

    def __init__(self, rate: float) -> None:
        self._period = 1 / rate
        self._last, self._due = float("-inf"), float("-inf")

    def keeps(self, stamp: float) -> bool:
        """Whether to keep what is stamped ``stamp`` [s]. A stamp that jumps back is another simulation, one far ahead comes after a gap: both begin again."""
        again = stamp < self._last or stamp > self._due + self._period
        if not again and stamp < self._due - 1e-3 * self._period:
            return False
        # Due times go on from each other, not from what came: of 15 Hz there would else be 7.5 left, not 10.
        self._last, self._due = stamp, (stamp if again else self._due) + self._period
        return True
