"""A camera that gives recorded frames: a recording (MCAP) or a folder of pictures, at the rate at which they were taken."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deskhand.cameras.base import Exposure, RgbdImage, StreamSettings
from deskhand.errors import DeskhandError
from deskhand.recording.frames import RecordedFrame, recorded_frames

LONGEST_GAP = 1.0  # [s]: the recording was interrupted; go on


class RecordedCamera:
    """See RgbdDriver. Frames are stamped with the time at which they are given, as if exposed now; the recording is played ``again`` and again."""

    def __init__(self, settings: StreamSettings, file: Path, again: bool = True) -> None:
        self._settings, self._file, self._again = settings, Path(file), again
        self._frames: Iterator[RecordedFrame] | None = None
        self._due, self._last, self._count = 0.0, float("-inf"), 0

    def connect(self) -> None:
        """See RgbdDriver."""
        self._frames = recorded_frames(self._file)
        self._last = float("-inf")

    def read(self, timeout: float) -> Exposure:
        """See RgbdDriver; ``timeout`` does not matter: what comes next is known."""
        frame = self._next()
        now = time.time()
        gap = min(frame.stamp - self._last, LONGEST_GAP) if frame.stamp > self._last else 1 / self._settings.rate
        self._due = max(self._due + gap, now - gap) if self._count else now
        self._last = frame.stamp
        time.sleep(max(0.0, self._due - now))
        self._count += 1
        intrinsics = replace(frame.intrinsics, frame_id=self._settings.frame_id)
        image = RgbdImage(frame.color, frame.depth, 0.001, intrinsics)
        return Exposure(time.time(), self._count, lambda: image)

    def _next(self) -> RecordedFrame:
        if self._frames is None:
            raise DeskhandError("no_frame", "the recording is not open.", retry=True)
        frame = next(self._frames, None)
        if frame is None and self._again and self._count:
            self.connect()
            frame = next(self._frames, None)
        if frame is None and self._count:
            raise DeskhandError("cancelled", f"the recording {self._file} is at its end.")
        if frame is None:
            raise DeskhandError("invalid_input", f"there is no aligned frame in {self._file}.", hint="It needs colour, aligned depth and camera_info.")
        return frame

    def recover(self) -> None:
        """See RgbdDriver."""
        self.connect()

    def close(self) -> None:
        """See RgbdDriver."""
        self._frames = None
