"""What goes wrong on a wire: bytes are changed, lost or doubled."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class WireFaults:
    """Damages a share of the frames, one byte each, by a seeded generator.

    Attributes:
        corrupt, drop, double: share of the frames to which this happens.
        damaged: how many were.
    """

    corrupt: float = 0.0
    drop: float = 0.0
    double: float = 0.0
    seed: int = 0
    damaged: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    @classmethod
    def share(cls, total: float, seed: int = 0) -> WireFaults:
        """``total`` of all frames, each kind alike."""
        return cls(total / 3, total / 3, total / 3, seed)

    def apply(self, frame: bytes) -> bytes:
        """The frame as it arrives."""
        kind = self._random.random()
        if not frame or kind >= self.corrupt + self.drop + self.double:
            return frame
        self.damaged += 1
        at = self._random.randrange(len(frame))
        if kind < self.corrupt:
            return frame[:at] + bytes((frame[at] ^ self._random.randrange(1, 256),)) + frame[at + 1 :]
        if kind < self.corrupt + self.drop:
            return frame[:at] + frame[at + 1 :]
        return frame[: at + 1] + frame[at:]
