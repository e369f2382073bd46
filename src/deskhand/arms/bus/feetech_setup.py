"""What is done once to Feetech STS servos: finding them at any speed, numbers, settings that outlast the power. Each write is read back.

The registers below 40 are kept without power when Lock is 0 while they are written.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deskhand.arms.bus.feetech import BAUD, BAUDS, BROADCAST, LOCK, PING, WRITE, FeetechBus, FeetechFormat, packet, signed
from deskhand.arms.bus.framing import Framer
from deskhand.arms.bus.port import Port
from deskhand.arms.bus.sdk import SUCCESS
from deskhand.errors import DeskhandError

STS3215 = 777  # model number
SCAN = 0.8  # [s] in which all servos have answered a ping to everybody, as long as lerobot waits
PATIENCE = 0.25  # [s] for an answer: nothing here is in a hurry, and an answer that comes late would be taken for that to the next question
QUIET = 0.1  # [s] without a byte, after which no late answer is expected any more
ASKED = 4  # times, until a servo is not there
SETTLE = 0.02  # [s] that a servo takes to store a register

REGISTERS: dict[str, tuple[int, int, int | None]] = {
    "firmware": (0, 2, None),
    "model": (3, 2, None),
    "id": (5, 1, None),
    "baud": (6, 1, None),
    "return_delay": (7, 1, None),
    "min_position": (9, 2, None),
    "max_position": (11, 2, None),
    "max_torque": (16, 2, None),
    "phase": (18, 1, None),
    "p": (21, 1, None),
    "d": (22, 1, None),
    "i": (23, 1, None),
    "protection_current": (28, 2, None),
    "homing_offset": (31, 2, 11),
    "mode": (33, 1, None),
    "overload_torque": (36, 1, None),
    "torque": (40, 1, None),
    "acceleration": (41, 1, None),
    "torque_limit": (48, 2, None),
    "position": (56, 2, 15),
    "moving": (66, 1, None),
    "max_acceleration": (85, 1, None),
}
"""Address, bytes, and the bit that is the sign, where there is one."""


@dataclass(frozen=True)
class Scan:
    """Who answered a ping to everybody.

    Attributes:
        baud: at which speed.
        servos: ids, in their order.
        garbled: something came that is no answer: two servos with one id, or noise.
    """

    baud: int
    servos: tuple[int, ...]
    garbled: bool

    @property
    def anybody(self) -> bool:
        """Whether anything answered."""
        return bool(self.servos) or self.garbled


class FeetechSetup(FeetechBus):
    """Servos on an adapter, not yet an arm. ``sleep`` lets seconds pass."""

    def __init__(
        self,
        port: str | Port,
        latency: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(port, BAUD, latency, clock)
        self._now, self.sleep = clock, sleep

    def set_baud(self, baud: int) -> None:
        """Talk at another speed from now on."""
        self.close()
        self._port.port.baud = baud
        self.open()

    def scan(self, baud: int = BAUD) -> Scan:
        """Ping everybody at one speed."""
        if self._port.port.baud != baud:
            self.set_baud(baud)
        port, framer = self._port.port, Framer(FeetechFormat())
        self._quiet()
        port.write(packet(BROADCAST, PING))
        answers: list[bytes] = []
        came, end = 0, self._now() + SCAN
        while (left := end - self._now()) > 0:
            data = port.read(min(left, 0.05))
            came += len(data)
            answers += framer.feed(data)
        # an adapter may give back what was sent
        servos = [answer[2] for answer in answers if answer[2] != BROADCAST]
        return Scan(baud, tuple(sorted(set(servos))), came != sum(map(len, answers)) or len(set(servos)) < len(servos))

    def find(self) -> Scan | None:
        """The first speed at which anybody answers; None when nobody does."""
        for baud in BAUDS:
            found = self.scan(baud)
            if found.anybody:
                return found
        self.set_baud(BAUD)
        return None

    def _quiet(self) -> None:
        """Wait until nothing comes any more: what comes late is no answer to what is asked next."""
        while self._port.port.read(QUIET):
            continue

    def _tell(self, frame: bytes) -> None:
        """Send, and let it be confirmed: whether by the old or by the new id and speed differs, so nobody looks."""
        self._port.port.write(frame)
        self._port.port.read(PATIENCE)
        self._quiet()

    def _read(self, servo: int, address: int, length: int) -> bytes | None:
        """See sdk; quiet before it is asked again."""
        self.counters.asked += 1
        for _ in range(ASKED):
            answer = self._safely(lambda: self._handler.readTxRx(self._port, servo, address, length))
            if answer is not None and answer[1] == SUCCESS and len(answer[0]) == length:
                return bytes(answer[0])
            self.counters.retries += 1
            self._quiet()
        self.counters.unanswered += 1
        return None

    def _write(self, servo: int, address: int, data: bytes) -> bool:
        """See sdk; quiet before it is told again."""
        for _ in range(ASKED):
            answer = self._safely(lambda: self._handler.writeTxRx(self._port, servo, address, len(data), list(data)))
            if answer is not None and answer[0] == SUCCESS:
                return True
            self._quiet()
        self.counters.unanswered += 1
        return False

    def get(self, servo: int, name: str) -> int:
        """A register.

        Raises:
            DeskhandError: ``device_unavailable`` when the servo does not answer.
        """
        address, length, sign = REGISTERS[name]
        data = self._read(servo, address, length)
        if data is None:
            raise DeskhandError("device_unavailable", f"servo {servo} does not answer.", retry=True, hint="Is its cable in, and the power on?")
        value = int.from_bytes(data, "little")
        return value if sign is None else signed(value, sign)

    def put(self, servo: int, values: Mapping[str, int]) -> None:
        """Write registers for good, and read them back.

        Raises:
            DeskhandError: ``servo_fault`` when one does not take its value; ``device_unavailable``.
        """
        self._write(servo, LOCK, b"\0")
        self.sleep(SETTLE)
        for name, value in values.items():
            address, length, sign = REGISTERS[name]
            raw = value if sign is None or value >= 0 else 1 << sign | -value
            self._write(servo, address, raw.to_bytes(length, "little"))
            self.sleep(SETTLE)
        self._write(servo, LOCK, b"\1")
        for name, value in values.items():
            if self.get(servo, name) == value:
                continue
            self._quiet()
            if (found := self.get(servo, name)) != value:
                raise DeskhandError("servo_fault", f"servo {servo} has {name} {found} after {value} was written.", retry=True, hint="Is its supply steady?")

    def number(self, servo: int, new: int) -> None:
        """Give a servo that is alone on the bus, at the speed of the port, another id and the arm's speed.

        Raises:
            DeskhandError: ``servo_fault`` when it does not answer to it afterwards.
        """
        before, identity, baud = self._port.port.baud, REGISTERS["id"][0], REGISTERS["baud"][0]
        for _ in range(2):
            for number, address, value in ((servo, LOCK, 0), (servo, identity, new), (new, LOCK, 0), (new, baud, BAUDS.index(BAUD))):
                self._tell(packet(number, WRITE, bytes((address, value))))
            self.set_baud(BAUD)
            self._quiet()
            if self._read(new, identity, 1) is not None:
                break
            self.set_baud(before)
        else:
            self.set_baud(BAUD)
        self.put(new, {})
        if self.get(new, "id") != new or self.get(new, "baud") != BAUDS.index(BAUD):
            raise DeskhandError(
                "servo_fault", f"the servo does not answer as {new} at {BAUD} baud.", retry=True, hint="Switch its power off and on; try again."
            )

    def move_gently(self, servo: int, goal: int, speed: int, acceleration: int) -> None:
        """Begin to move to ``goal`` [ticks] at ``speed`` [ticks/s], ``acceleration`` [100 ticks/s^2]."""
        self._write(servo, REGISTERS["acceleration"][0], struct.pack("<BHHH", acceleration, goal, 0, speed))

    def place(self, servo: int, count: int = 5) -> float:
        """Median of some readings of the position [ticks]."""
        readings = sorted(self.get(servo, "position") for _ in range(count))
        return float(readings[len(readings) // 2])
