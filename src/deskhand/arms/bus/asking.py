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
PATIENCE, SOONEST = 4.0, 0.006  # of how much the time of an answer usually varies, and [s] at least, beyond its usual time, until it is asked for again
LEARNING = 0.1
PATIENT = 0.25  # [s] that an answer may take while it is learnt how long they take
MEASURED = 3  # questions to each servo for that
LATE = 2.5  # of the longest time of an answer then: later than that it does not come
SLOWEST = 20  # of the wall clock, that ``clock`` may be slower


class AskingBus(ABC):
    """Questions with retries over a port; see :class:`deskhand.arms.bus.base.ServoBus`.

    Args:
        timeout: [s] that an answer may take at least; :meth:`measure` learns how long they really take, and gives slow adapters more. All but the last try
            wait little longer than answers usually take: what was lost is asked again soon.
        tries: how often a question is asked.
        clock: [s] in which ``timeout`` passes; simulated time when the servos are.
    """

    together = False
    retold = False

    def __init__(self, port: Port, wire: Format, timeout: float, tries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._port, self._timeout, self._tries, self._clock = port, timeout, tries, clock
        self._least = timeout
        self._framer = Framer(wire)
        self._usual, self._spread = timeout, timeout
        self.latency = 0.0
        self.counters = BusCounters()

    def open(self) -> None:
        """See base."""
        self._port.open()
        self._framer.reset()
        self.counters.opened += 1

    def close(self) -> None:
        """See base."""
        self._port.close()

    def measure(self, servos: Iterable[int]) -> None:
        """See base."""
        self._timeout = self._usual = PATIENT
        times = []
        for servo in list(servos) * MEASURED:
            began, retries = self._clock(), self.counters.retries
            if self.read_position(servo) is not None and self.counters.retries == retries:  # of what was asked twice nobody knows which was answered
                times.append(self._clock() - began)
        if times:
            times.sort()
            self.latency = times[len(times) // 2]
            self._usual, self._spread = self.latency, times[-1] - times[0]
            self._timeout = max(self._least, LATE * times[-1])

    def read_positions(self, servos: Iterable[int]) -> dict[int, int]:
        """See base. Asked together, those that are not answered are asked once more, one by one."""
        servos = list(servos)
        found = self._read_together(servos) if self.together and len(servos) > 1 else {}
        answers = {servo: self.read_position(servo) for servo in servos if servo not in found}
        return {**found, **{servo: position for servo, position in answers.items() if position is not None}}

    def _read_together(self, servos: list[int]) -> dict[int, int]:
        """Ask all before the first has answered; for a controller that keeps what comes until it gets to it."""
        return {}

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
            self._forget_late()
            began, last = self._clock(), attempt == self._tries - 1
            self._send(question)
            answer = self._await(match, self._timeout if last else min(self._timeout, self._usual + max(SOONEST, PATIENCE * self._spread)))
            if answer is not None:
                off = self._clock() - began - self._usual
                if attempt == 0:
                    self._usual += LEARNING * off
                    self._spread += LEARNING * (abs(off) - self._spread)
                return answer
        self.counters.unanswered += 1
        return None

    def _forget_late(self) -> None:
        """Late answers, an adapter's echo and noise must not be taken for the answer to what is asked next."""
        for frame in self._framer.feed(self._port.drain()):
            self._other(frame)
        self._framer.reset()

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
