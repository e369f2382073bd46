"""Finds frames in a stream of bytes that may be damaged: whatever is no valid frame costs one byte, so that the next whole one is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Format(Protocol):
    """A wire format."""

    header: bytes
    shortest: int

    def size(self, data: bytes) -> int:
        """Bytes of the frame that begins ``data`` (at least ``shortest`` bytes); 0 when it cannot be one."""
        ...

    def valid(self, frame: bytes) -> bool:
        """Whether the check sum is right."""
        ...


@dataclass
class Framer:
    """Takes bytes as they come, gives whole valid frames; ``rejected`` counts those whose check sum was wrong."""

    format: Format
    rejected: int = 0

    def __post_init__(self) -> None:
        self._data = bytearray()

    def reset(self) -> None:
        """Forget a frame that has only begun."""
        self._data.clear()

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that ``data`` completes."""
        self._data += data
        frames = []
        while (frame := self._next()) is not None:
            frames.append(frame)
        return frames

    def _next(self) -> bytes | None:
        header, shortest = self.format.header, self.format.shortest
        while True:
            start = self._data.find(header)
            if start < 0:
                # its first byte may be the last that has come
                keep = 1 if self._data and self._data[-1] == header[0] else 0
                del self._data[: len(self._data) - keep]
                return None
            del self._data[:start]
            if len(self._data) < shortest:
                return None
            size = self.format.size(bytes(self._data[:shortest]))
            if size == 0:
                del self._data[0]
                continue
            if len(self._data) < size:
                return None
            frame = bytes(self._data[:size])
            if self.format.valid(frame):
                del self._data[:size]
                return frame
            self.rejected += 1
            del self._data[0]
