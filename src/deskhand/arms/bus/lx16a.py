"""LX-16A, HTS-35H, HTD-35H bus servos on a half-duplex adapter. Sources: firmware ``serial_servo.h``, PyPI pylx16a 1.1.1, lewansoul-lx16a 0.1.

115200 baud; ``55 55 id length command parameters check``, little-endian; length = 3 + parameters, check = ~sum from id on. Position 0..1000 is 0..240
degrees, and may read below or above. No load is measured. An adapter may echo what is sent: an echo has another length than the answer.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Mapping

from deskhand.arms.bus.asking import AskingBus
from deskhand.arms.bus.base import Health
from deskhand.arms.bus.port import Port

BAUD = 115_200
MOVE_TIME, READ_MOVE_TIME, WAIT_MOVE, READ_WAIT_MOVE, START, STOP = 1, 2, 7, 8, 11, 12
WRITE_ID, READ_ID = 13, 14
SET_OFFSET, SAVE_OFFSET, READ_OFFSET = 17, 18, 19
WRITE_ANGLES, READ_ANGLES, WRITE_VOLTAGES, READ_VOLTAGES = 20, 21, 22, 23
WRITE_MAX_TEMPERATURE, READ_MAX_TEMPERATURE = 24, 25
READ_TEMPERATURE, READ_VOLTAGE, READ_POSITION = 26, 27, 28
WRITE_MODE, READ_MODE, WRITE_LOAD, READ_LOAD, WRITE_LED, READ_LED, WRITE_ERRORS, READ_ERRORS = 29, 30, 31, 32, 33, 34, 35, 36
BROADCAST = 0xFE
LONGEST = 7  # of the length byte
ERRORS = {1: "too hot", 2: "voltage out of range", 4: "stalled"}

PAYLOADS = {
    READ_MOVE_TIME: "<HH",
    READ_WAIT_MOVE: "<HH",
    READ_ID: "<B",
    READ_OFFSET: "<b",
    READ_ANGLES: "<HH",
    READ_VOLTAGES: "<HH",
    READ_MAX_TEMPERATURE: "<B",
    READ_TEMPERATURE: "<B",
    READ_VOLTAGE: "<H",
    READ_POSITION: "<h",
    READ_MODE: "<BBh",
    READ_LOAD: "<B",
    READ_LED: "<B",
    READ_ERRORS: "<B",
}
"""Parameters of an answer."""


def frame(servo: int, command: int, parameters: bytes = b"") -> bytes:
    """A whole frame."""
    body = bytes((servo, 3 + len(parameters), command)) + parameters
    return b"\x55\x55" + body + bytes((~sum(body) & 0xFF,))


class LxFormat:
    """For :class:`deskhand.arms.bus.framing.Framer`."""

    header = b"\x55\x55"
    shortest = 6

    def size(self, data: bytes) -> int:
        """See framing."""
        return data[3] + 3 if 3 <= data[3] <= LONGEST and (data[2] <= 253 or data[2] == BROADCAST) else 0

    def valid(self, frame: bytes) -> bool:
        """See framing."""
        return ~sum(frame[2:-1]) & 0xFF == frame[-1]


def move_frame(servo: int, pulse: int, milliseconds: int) -> bytes:
    """Move one servo."""
    return frame(servo, MOVE_TIME, struct.pack("<HH", pulse, milliseconds))


def read_answer(answer: bytes, servo: int, command: int) -> tuple[int, ...] | None:
    """The parameters of the answer frame to ``command`` from ``servo``; None when it is none."""
    layout = PAYLOADS[command]
    if answer[4] != command or answer[3] != 3 + struct.calcsize(layout) or (answer[2] != servo and servo != BROADCAST):
        return None
    return struct.unpack(layout, answer[5:-1])


class LxBus(AskingBus):
    """Servos on an adapter."""

    move_delay = 10 * 10 / BAUD  # [s]

    def __init__(self, port: str | Port, baud: int = BAUD, timeout: float = 0.02, tries: int = 3, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(port if isinstance(port, Port) else Port(port, baud), LxFormat(), timeout, tries, clock)

    def read_position(self, servo: int) -> int | None:
        """See asking."""
        return self._read(servo, READ_POSITION)

    def read_health(self, servo: int) -> Health:
        """See base; these servos measure no load."""
        millivolts = self._read(servo, READ_VOLTAGE)
        return Health(self._read(servo, READ_TEMPERATURE), None if millivolts is None else millivolts / 1000)

    def torque_on(self, servo: int) -> bool | None:
        """See base."""
        load = self._read(servo, READ_LOAD)
        return None if load is None else load != 0

    def move(self, goals: Mapping[int, int], seconds: float) -> None:
        """See base; pulses are clamped to 0..1000, the time to 0..30 s."""
        milliseconds = min(max(round(seconds * 1000), 0), 30000)
        self._send(b"".join(move_frame(servo, min(max(pulse, 0), 1000), milliseconds) for servo, pulse in goals.items()))

    def stop(self, servos: Iterable[int]) -> None:
        """See base."""
        self._send(b"".join(frame(servo, STOP) for servo in servos))

    def set_torque(self, servos: Iterable[int], on: bool) -> None:
        """See base."""
        self._send(b"".join(frame(servo, WRITE_LOAD, bytes((on,))) for servo in servos))

    def _read(self, servo: int, command: int) -> int | None:
        def match(answer: bytes) -> int | None:
            values = read_answer(answer, servo, command)
            return None if values is None else values[0]

        return self._ask(frame(servo, command), match)
