"""What the emulators share: their servos, the line, and the time that a half-duplex bus at 115200 baud takes."""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from deskhand.arms.bus.framing import Format, Framer
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.line import Line
from deskhand.arms.emulate.loop import LoopPort
from deskhand.arms.emulate.servo import Servo

BAUD = 115_200
BITS = 10  # a byte on the wire
ANSWER_DELAY = 0.0005  # [s] that a servo takes to answer
GAP = 0.02  # [s] of quiet after which a frame that has only begun is forgotten


class Emulator(ABC):
    """A pseudo-terminal with servos behind it.

    Args:
        servos: by number.
        jitter: [s] by which answers come later, at most.
        lock: held while servos are read or told something.
        sleep, clock: let time pass [s] on the servos' bus, and tell it.
        loop: the port that it is on, in place of a pseudo-terminal.
        latency: [s] that its answers take to arrive.

    ``served`` counts the frames that were obeyed.
    """

    def __init__(
        self,
        wire: Format,
        servos: Iterable[Servo],
        link: str = "",
        faults: WireFaults | None = None,
        jitter: float = 0.0005,
        seed: int = 0,
        lock: Any = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        loop: LoopPort | None = None,
        latency: float = 0.0,
    ) -> None:
        self.servos: Mapping[int, Servo] = {servo.number: servo for servo in servos}
        self.line: Line | LoopPort = Line(self._receive, link, faults, GAP, latency, clock, sleep) if loop is None else loop
        if loop is not None:
            loop.receive, loop.latency = self._receive, latency
        self.served = 0
        self._sleep, self._clock = sleep, clock
        self.lock = lock or threading.RLock()
        self._framer, self._jitter, self._random = Framer(wire), jitter, random.Random(seed)

    def __enter__(self) -> Emulator:
        if isinstance(self.line, Line):
            self.line.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.line.close()

    @property
    def path(self) -> str:
        """What a client opens."""
        return self.line.path

    def _receive(self, data: bytes) -> None:
        if not data:
            self._framer.reset()
            self._idle()
        for frame in self._framer.feed(data):
            self._obey(frame)
            self.served += 1
        self._idle()

    @abstractmethod
    def _obey(self, frame: bytes) -> None:
        """Do what a frame says."""

    def _idle(self) -> None:
        """Called often; an emulator that has something to say by itself says it then."""
        return

    def _busy(self, count: int) -> None:
        """Let the time pass that ``count`` bytes take on the servos' bus."""
        self._sleep(count * BITS / BAUD)

    def _think(self) -> None:
        """Let the time pass that a servo takes to answer."""
        self._sleep(ANSWER_DELAY + self._random.random() * self._jitter)


def make_servos(positions: Mapping[int, float], clock: Callable[[], float] = time.monotonic) -> list[Servo]:
    """Servos standing at ``positions`` [ticks] by number."""
    return [Servo(number, clock, position) for number, position in positions.items()]
