"""What buses share on which one question after the other is asked and answered (hiwonder_rrc, lx16a)."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TypeVar

from deskhand.arms.bus.base import BusCounters
from deskhand.arms.bus.framing import Format, Framer
from deskhand.arms.bus.port import Port

Answer = TypeVar("Answer")
PATIENCE, SOONEST = 4.0, 0.006  # of the usual time of an answer, and [s] at least, until it is asked for again
LEARNING = 0.1
SLOWEST = 20  # of the wall clock, that ``clock`` may be slower


class AskingBus(ABC):
    """Questions with retries over a port; see :class:`deskhand.arms.bus.base.ServoBus`.

    Args:
        timeout: [s] that an answer may take, the adapter's latency included. All but the last try wait as long as answers usually take, four times over:
            what was lost is asked again soon.
        tries: how often a question is asked.
        clock: [s] in which ``timeout`` passes; simulated time when the servos are.
    """

    together = False

    def __init__(self, port: Port, wire: Format, timeout: float, tries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._port, self._timeout, self._tries, self._clock = port, timeout, tries, clock
        self._framer = Framer(wire)
        self._usual = timeout
        self.counters = BusCounters()

    def open(self) -> None:
        """See base."""
        self._port.open()
        self._framer.reset()
        self.counters.opened += 1

    def close(self) -> None:
        """See base."""
        self._port.close()

    def read_positions(self, servos: Iterable[int]) -> dict[int, int]:
        """See base."""
        answers = {servo: self.read_position(servo) for servo in servos}
        return {servo: position for servo, position in answers.items() if position is not None}

    @abstractmethod
    def read_position(self, servo: int) -> int | None:
        """Measured position [ticks]; None without a valid answer."""

    def _send(self, frame: bytes) -> None:
        self._port.write(frame)

    def _other(self, frame: bytes) -> None:
        """A valid frame that answers no question; here it only counts."""
        self.counters.rejected += 1

    def _ask(self, question: bytes, match: Callable[[bytes], Answer | None]) -> Answer | None:
        """The answer, as ``match`` reads it; None when there is no valid one. ``match`` gives None for what is not the answer to this question."""
        self.counters.asked += 1
        for attempt in range(self._tries):
            self.counters.retries += attempt > 0
            # late answers, an adapter's echo and noise must not be taken for the answer
            for frame in self._framer.feed(self._port.drain()):
                self._other(frame)
            self._framer.reset()
            self._send(question)
            began, last = self._clock(), attempt == self._tries - 1
            answer = self._await(match, self._timeout if last else min(self._timeout, max(SOONEST, PATIENCE * self._usual)))
            if answer is not None:
                self._usual += LEARNING * (self._clock() - began - self._usual)
                return answer
        self.counters.unanswered += 1
        return None

    def _await(self, match: Callable[[bytes], Answer | None], timeout: float) -> Answer | None:
        damaged = self._framer.rejected
        end, wall = self._clock() + timeout, time.monotonic() + SLOWEST * timeout
        while (left := end - self._clock()) > 0 and time.monotonic() < wall:
            found = None
            for frame in self._framer.feed(self._port.read(left)):  # what came with the answer counts too
                answer = match(frame) if found is None else None
                if answer is None:
                    self._other(frame)
                found = answer if found is None else found
            if found is not None:
                return found
        self.counters.rejected += self._framer.rejected - damaged
        return None
