"""From a camera's own clock to system time."""

from __future__ import annotations

from collections import deque

WINDOW = 300  # frames: slow enough for the jitter of USB, quick enough for a clock that drifts
JUMP = 1.0  # [s] the camera's clock was set anew


class DeviceClock:
    """Maps a camera's clock by the smallest delay seen lately: what arrives fastest was delayed least."""

    def __init__(self) -> None:
        self._offsets: deque[float] = deque(maxlen=WINDOW)

    def system(self, device: float, arrival: float) -> float:
        """System time [s] of an exposure at ``device`` [s] on the camera's clock that arrived at ``arrival`` [s] system time; never after it."""
        offset = arrival - device
        if self._offsets and abs(offset - min(self._offsets)) > JUMP:
            self._offsets.clear()
        self._offsets.append(offset)
        return device + min(self._offsets)
