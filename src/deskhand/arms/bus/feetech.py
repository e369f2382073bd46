"""Feetech STS3215 servos (SO-101) by PyPI feetech-servo-sdk. 1 Mbaud, 4096 ticks a turn, values as sign and magnitude.

``FF FF id length instruction parameters check``, little-endian, length = parameters + 2, check = ~sum from id on. Registers and the settings used with them
are those of the STS series as lerobot uses it. Torque off goes with Lock 0, torque on with Lock 1.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Mapping

from deskhand.arms.bus.base import Health
from deskhand.arms.bus.port import Port
from deskhand.arms.bus.sdk import SdkBus, load_sdk

BAUD = 1_000_000
BAUDS = (1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)
"""By the value of the register."""
BROADCAST = 0xFE
PING, READ, WRITE = 1, 2, 3
TORQUE, ACCELERATION, LOCK, POSITION, LOAD = 40, 41, 55, 56, 60
FASTEST = 3400  # [ticks/s]
FAULTS = {1: "voltage", 2: "angle sensor", 4: "too hot", 8: "current"}
OVERLOAD = 32


class FeetechFormat:
    """For :class:`deskhand.arms.bus.framing.Framer`."""

    header = b"\xff\xff"
    shortest = 6

    def size(self, data: bytes) -> int:
        """See framing."""
        return data[3] + 4 if data[2] <= BROADCAST and data[3] >= 2 else 0

    def valid(self, frame: bytes) -> bool:
        """See framing."""
        return ~sum(frame[2:-1]) & 0xFF == frame[-1]


def packet(number: int, instruction: int, parameters: bytes = b"") -> bytes:
    """A whole frame; a status frame has the error in place of the instruction."""
    body = bytes((number, len(parameters) + 2, instruction)) + parameters
    return b"\xff\xff" + body + bytes((~sum(body) & 0xFF,))


def signed(value: int, bit: int) -> int:
    """Sign and magnitude: ``bit`` is the sign."""
    magnitude = value & ((1 << bit) - 1)
    return -magnitude if value >> bit & 1 else magnitude


class FeetechBus(SdkBus):
    """Servos on an adapter."""

    def __init__(self, port: str | Port, baud: int = BAUD, latency: float = 0.02, clock: Callable[[], float] = time.monotonic) -> None:
        sdk = load_sdk("scservo_sdk", "feetech-servo-sdk")
        super().__init__(port, baud, sdk, sdk.PacketHandler(0), (POSITION, 2), lambda data: signed(struct.unpack("<H", data)[0], 15), latency, clock)

    def read_health(self, servo: int) -> Health:
        """See base."""
        data = self._read(servo, LOAD, 6)
        if data is None:
            return Health()
        load, volts, temperature, _, status = struct.unpack("<HBBBB", data)
        fault = ", ".join(name for bit, name in FAULTS.items() if status & bit)
        return Health(temperature, volts / 10, min(1.0, abs(signed(load, 10)) / 1000), fault, bool(status & OVERLOAD))

    def torque_on(self, servo: int) -> bool | None:
        """See base."""
        data = self._read(servo, TORQUE, 1)
        return None if data is None else data[0] == 1

    def move(self, goals: Mapping[int, int], seconds: float) -> None:
        """See base; the time becomes a speed, from where the servo was last read."""
        present, values = self._present(goals), {}
        for servo, goal in goals.items():
            speed = FASTEST if servo not in present else round(abs(goal - present[servo]) / max(seconds, 1e-3))
            # acceleration 0: as fast as it can; a speed of 0 would mean the same, not none
            values[servo] = struct.pack("<BHHH", 0, min(max(goal, 0), 4095), 0, min(max(speed, 1), FASTEST))
        self._write_all(ACCELERATION, values)

    def stop(self, servos: Iterable[int]) -> None:
        """See base: there is no such command, so they are sent to where they are."""
        here = self.read_positions(servos)
        self._write_all(ACCELERATION, {servo: struct.pack("<BHHH", 0, min(max(goal, 0), 4095), 0, FASTEST) for servo, goal in here.items()})

    def set_torque(self, servos: Iterable[int], on: bool) -> None:
        """See base."""
        for servo in servos:
            self._write(servo, TORQUE, bytes((on,)))
            self._write(servo, LOCK, bytes((on,)))
