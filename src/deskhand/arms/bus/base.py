"""What a bus of servos offers to the driver (arms/driver.py). Positions are in the servos' own ticks here; the driver turns them into radians."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Health:
    """How a servo is; None where it did not answer or has no such sensor.

    Attributes:
        temperature: [degrees C].
        voltage: [V].
        load: share of the servo's greatest torque, 0 to 1.
        fault: what the servo itself complains about; empty for nothing.
        strained: it has given much torque for long, and protects itself by giving less; it still holds.
    """

    temperature: float | None = None
    voltage: float | None = None
    load: float | None = None
    fault: str = ""
    strained: bool = False


@dataclass
class BusCounters:
    """What went over the bus since it was made.

    Attributes:
        asked: questions, ``unanswered`` of them had no valid answer in time.
        retries: questions asked again.
        rejected: frames that were whole, but not the answer to the question, or whose check sum was wrong.
        opened: how often the port was opened.
    """

    asked: int = 0
    unanswered: int = 0
    retries: int = 0
    rejected: int = 0
    opened: int = 0


class ServoBus(Protocol):
    """A bus of position-controlled servos, used from one thread.

    Every method but ``close`` raises DeskhandError ``device_unavailable`` when the port has gone; after that ``open`` may be tried again.

    Attributes:
        together: positions of all servos come in one exchange; else servo by servo.
        move_delay: [s] by which each further servo of one ``move`` gets its command later than the one before it.
        retold: servos that hold already are told to be where they are when the arm is taken: theirs is a watchdog that has to be begun anew. Others are left
            alone: told anew they would yield to gravity once more.
        latency: [s] from a question to its answer, as :meth:`measure` found it; 0 before.
    """

    together: bool
    move_delay: float
    retold: bool
    latency: float
    counters: BusCounters

    def open(self) -> None:
        """Take the port for this process alone; again after it was lost. Raises ``device_busy`` when another process has it."""
        ...

    def close(self) -> None:
        """Give the port back."""
        ...

    def measure(self, servos: Iterable[int]) -> None:
        """Learn how long answers take, and what else differs between boards; to be called after ``open``, before any answer is believed.

        Raises ``device_unavailable`` as all methods do, and ``servo_fault`` when the board's answers cannot be told from failures.
        """
        ...

    def read_positions(self, servos: Iterable[int]) -> dict[int, int]:
        """Measured positions [ticks]; servos without a valid answer are left out."""
        ...

    def read_health(self, servo: int) -> Health:
        """How a servo is."""
        ...

    def torque_on(self, servo: int) -> bool | None:
        """Whether the servo holds its position; None when it does not answer."""
        ...

    def move(self, goals: Mapping[int, int], seconds: float) -> None:
        """Begin to move to ``goals`` [ticks], to be there in ``seconds``."""
        ...

    def stop(self, servos: Iterable[int]) -> None:
        """Stop and hold, now."""
        ...

    def set_torque(self, servos: Iterable[int], on: bool) -> None:
        """Hold, or let go. An arm that is let go falls."""
        ...
