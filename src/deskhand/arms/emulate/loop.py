"""An emulator without a terminal, in a time of its own: what takes a minute on a bus takes a moment here, and is the same every time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from deskhand.arms.bus.port import Port
from deskhand.arms.emulate.faults import WireFaults
from deskhand.errors import DeskhandError


class LoopClock:
    """Time that passes only when something lets it."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        """[s]"""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._now += max(0.0, seconds)


class LoopPort(Port):
    """A port whose other end obeys at once; waiting for what does not come lets ``clock`` go on.

    Attributes:
        plugged: whether the cable is in.
        faults: what happens to the frames of either end.
        sent: frames of the emulator, before any damage.
        latency: [s] that the emulator's frames take to arrive.
    """

    def __init__(self, clock: LoopClock, faults: WireFaults | None = None, baud: int = 1_000_000) -> None:
        super().__init__("loop", baud)
        self._clock, self.faults = clock, faults or WireFaults()
        self.plugged, self._opened = True, False
        self.latency = 0.0
        self._coming: deque[tuple[float, bytes]] = deque()
        self.sent: list[bytes] = []
        self.receive: Callable[[bytes], None] = lambda _: None

    def plug(self) -> None:
        """The cable is put in."""
        self.plugged = True

    def unplug(self) -> None:
        """The cable is pulled out."""
        self.plugged = False

    @property
    def is_open(self) -> bool:
        """Whether it is."""
        return self._opened

    def open(self) -> None:
        """See Port."""
        if not self.plugged:
            raise DeskhandError("device_unavailable", "the loop is not plugged in.", retry=True)
        self._opened = True
        self._coming.clear()

    def close(self) -> None:
        """See Port."""
        self._opened = False

    def read(self, timeout: float) -> bytes:
        """See Port."""
        self._check()
        now = self._clock()
        if not self._coming or self._coming[0][0] > now:
            arrives = self._coming[0][0] - now if self._coming else timeout
            self._clock.sleep(min(arrives, timeout))
            self.receive(b"")
        now, data = self._clock(), bytearray()
        while self._coming and self._coming[0][0] <= now + 1e-9:
            data += self._coming.popleft()[1]
        return bytes(data)

    def write(self, data: bytes) -> None:
        """See Port."""
        self._check()
        self._clock.sleep(len(data) * 10 / self.baud)
        self.receive(self.faults.apply(data))

    def drain(self) -> bytes:
        """See Port."""
        self._check()
        return self.read(0.0)

    def send(self, frame: bytes) -> None:
        """From the emulator."""
        self.sent.append(frame)
        self._coming.append((self._clock() + self.latency, self.faults.apply(frame)))

    def _check(self) -> None:
        if not (self.plugged and self._opened):
            self._opened = False
            raise DeskhandError("device_unavailable", "the loop has gone.", retry=True)
