"""Servos with a control table, emulated: what Feetech's and Dynamixel's have in common. Wire formats and tables: feetech.py, dynamixel.py.

A servo is a memory of registers and the mechanics of :class:`deskhand.arms.emulate.servo.Servo`, whose ticks are those of the encoder before any offset.
The first registers are kept when the power goes; the others are as new when it comes back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from deskhand.arms.bus.framing import Format
from deskhand.arms.emulate.bank import BITS, Emulator
from deskhand.arms.emulate.servo import Servo

TURN = 4096  # [ticks]
STALL = 33.0  # [ticks] off its goal, with which a servo gives all its torque: 2.9 degrees. UNCONFIRMED
NEVER = 1 << 30  # [ticks] mechanics without limits of their own: the registers have them
AGAIN = 0.01  # [s] between two measurements of the speed


@dataclass(frozen=True)
class Register:
    """Where a value stands: ``length`` bytes, little-endian; ``sign`` is the bit that says minus, None for two's complement in 4 bytes and unsigned else."""

    address: int
    length: int = 1
    value: int = 0
    sign: int | None = None


class RegisterServo(ABC):
    """One servo.

    Attributes:
        table: its registers by name.
        persistent: registers below this address are kept without power.
        size: bytes of the table.
        fastest: [ticks/s] without load.
    """

    table: ClassVar[Mapping[str, Register]]
    persistent: ClassVar[int]
    size: ClassVar[int]
    fastest: ClassVar[float]

    def __init__(self, servo: Servo, settings: Mapping[str, int]) -> None:
        self.servo = servo
        servo.limits, servo.stall, servo.shaft.fastest = (-NEVER, NEVER), STALL, self.fastest
        self.memory = bytearray(self.size)
        for name, register in self.table.items():
            self[name] = register.value
        for name, value in settings.items():
            self[name] = value
        self["id"] = servo.number
        self._kept = bytes(self.memory[: self.persistent])
        self._seen, self._seen_at = servo.position(), servo.time
        self.speed = 0.0

    def __getitem__(self, name: str) -> int:
        register = self.table[name]
        if register.length == 1:  # most are, and they are read at each step of the servo
            value = self.memory[register.address]
            return value if register.sign is None else -(value & ((1 << register.sign) - 1)) if value >> register.sign & 1 else value
        data = self.memory[register.address : register.address + register.length]
        value = int.from_bytes(data, "little", signed=register.sign is None and register.length == 4)
        if register.sign is None:
            return value
        return -(value & ((1 << register.sign) - 1)) if value >> register.sign & 1 else value

    def __setitem__(self, name: str, value: int) -> None:
        register = self.table[name]
        value = int(value)
        if register.sign is not None and value < 0:
            value = 1 << register.sign | -value
        self.memory[register.address : register.address + register.length] = (int(value) & ((1 << 8 * register.length) - 1)).to_bytes(register.length, "little")

    @property
    def number(self) -> int:
        """What it answers to."""
        return self["id"]

    @property
    def here(self) -> bool:
        """Whether it is connected and has power."""
        return self.servo.answers

    @property
    @abstractmethod
    def baud(self) -> int:
        """That it listens at."""

    @property
    @abstractmethod
    def answer_delay(self) -> float:
        """[s] until it answers."""

    @abstractmethod
    def refresh(self) -> None:
        """Bring the registers up to date that it measures."""

    @abstractmethod
    def look_after(self) -> None:
        """Do what the servo does by itself as time passes; called often."""

    @abstractmethod
    def written(self, address: int, length: int) -> None:
        """Do what follows from these registers having been written."""

    def touches(self, name: str, address: int, length: int) -> bool:
        """Whether a register is among those written."""
        register = self.table[name]
        return address < register.address + register.length and register.address < address + length

    def keep(self) -> None:
        """What the persistent registers hold now outlasts the power."""
        self._kept = bytes(self.memory[: self.persistent])

    def power_up(self) -> None:
        """The power was away and comes back: the shaft let go, the registers are as they were kept."""
        self.servo.set_torque(False)
        for name, register in self.table.items():
            if register.address >= self.persistent:
                self[name] = register.value
        self.memory[: self.persistent] = self._kept
        self.servo.number = self.number

    def measure_speed(self) -> float:
        """[ticks/s] since the last time that it was asked for."""
        position, now = self.servo.position(), self.servo.time
        if now - self._seen_at >= AGAIN:
            self.speed = (position - self._seen) / (now - self._seen_at)
            self._seen, self._seen_at = position, now
        return self.speed


Unit = TypeVar("Unit", bound=RegisterServo)


class RegisterEmulator(Emulator, Generic[Unit]):
    """A bus of such servos; more than one may have the same id, and then their answers destroy each other.

    Attributes:
        units: the servos, in no order.
    """

    def __init__(self, wire: Format, units: Iterable[Unit], **options: Any) -> None:
        self.units = list(units)
        super().__init__(wire, [unit.servo for unit in self.units], **options)

    def unit(self, number: int) -> Unit:
        """The servo with this id; KeyError when there is none."""
        for unit in self.units:
            if unit.number == number:
                return unit
        raise KeyError(number)

    def _idle(self) -> None:
        with self.lock:
            for unit in self.units:
                unit.look_after()

    def listening(self, number: int, everybody: int) -> list[Unit]:
        """Who obeys a frame to ``number``: connected, listening at the speed of the line, and meant."""
        baud = self.line.baud
        return [unit for unit in self.units if unit.here and unit.baud == baud and number in (unit.number, everybody)]

    def renamed(self) -> None:
        """Ids may have changed."""
        for unit in self.units:
            unit.servo.number = unit.number
        self.servos = {unit.number: unit.servo for unit in self.units}

    def answer(self, frames: Iterable[tuple[Unit, bytes]]) -> None:
        """Send status frames, one after the other; those of servos with the same id at once, which none survives."""
        slots: dict[int, list[bytes]] = {}
        seconds = 0.0
        for unit, frame in frames:
            if unit.servo.mute:
                continue
            if unit.number not in slots:
                seconds += unit.answer_delay + self._random.random() * self._jitter + len(frame) * BITS / max(unit.baud, 1)
            slots.setdefault(unit.number, []).append(frame)
        if slots:
            self._sleep(seconds)
        for together in slots.values():
            self.line.send(together[0] if len(together) == 1 else _collided(together))


def _collided(frames: list[bytes]) -> bytes:
    """What several senders at once leave on an open-drain line, one of them some bits late: low wins."""
    longest = max(map(len, frames))
    first = int.from_bytes(frames[0].ljust(longest, b"\xff"), "little")
    for count, frame in enumerate(frames[1:], 1):
        first &= int.from_bytes(frame.ljust(longest, b"\xff"), "little") << 3 * count | (1 << 3 * count) - 1
    return (first & (1 << 8 * longest) - 1).to_bytes(longest, "little")
