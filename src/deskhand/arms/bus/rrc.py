"""Hiwonder's "RRC" controller (STM32) of the JetArm: a 1 Mbaud port in front of a bus of LX servos.

Sources: Hiwonder/JetArm ``ros_robot_controller_sdk.py``, the vendor's protocol document, firmware ``packet_handle.c`` and ``packet_reports.h``.
Frame: ``AA 55 function length data[length] crc``, little-endian; CRC-8/MAXIM over function, length and data. The controller relays what concerns
servos at 115200 baud, one servo after the other, so a move of several is not simultaneous. Beware of the vendor's SDK: its
``bus_servo_enable_torque(id, True)`` sends 0B, which lets go.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Mapping

from deskhand.arms.bus.asking import PATIENCE, PATIENT, SOONEST, AskingBus
from deskhand.arms.bus.base import Health
from deskhand.arms.bus.port import Port
from deskhand.errors import DeskhandError

BAUD = 1_000_000
RELAY_BAUD = 115_200
SYS, LED, BUZZER, BUS_SERVO, KEY = 0, 1, 2, 5, 6
BATTERY = 0x04  # of SYS
MOVE, STOP = 0x01, 0x03
READ_POSITION, READ_VOLTAGE, READ_TEMPERATURE = 0x05, 0x07, 0x09
TORQUE_OFF, TORQUE_ON, READ_TORQUE = 0x0B, 0x0C, 0x0D
WRITE_ID, READ_ID = 0x10, 0x12
SET_OFFSET, READ_OFFSET, SAVE_OFFSET = 0x20, 0x22, 0x24
WRITE_ANGLES, READ_ANGLES = 0x30, 0x32
WRITE_VOLTAGES, READ_VOLTAGES = 0x34, 0x36
WRITE_MAX_TEMPERATURE, READ_MAX_TEMPERATURE = 0x38, 0x3A
BROADCAST = 0xFE
DONE, FAILED = 0, 0xFF
"""Status of an answer: what the firmware's functions return, 0 or -1. The vendor's SDK believes 0 alone; on a failure the firmware sends a position of 0 with
it. Boards whose functions return 1 for success and 0 for failure are said to exist: :meth:`RrcBus.measure` learns which it is, and believes nothing else.
"""
STATUSES = (0, 1)  # that may mean success
ABSENT = (251, 252, 250, 249, 248, 247, 246, 245)  # ids that hardly any servo has: the controller's answer for them is a failure
ASKED_ABSENT = 2
TOGETHER = (2, 3)  # so many of so many times all servos must answer when they are asked together, or they are asked one by one
RELAYED = 0.004  # [s] that the controller takes with one servo

PAYLOADS = {
    READ_POSITION: "<h",
    READ_VOLTAGE: "<H",
    READ_TEMPERATURE: "<B",
    READ_TORQUE: "<B",
    READ_ID: "<B",
    READ_OFFSET: "<b",
    READ_ANGLES: "<HH",
    READ_VOLTAGES: "<HH",
    READ_MAX_TEMPERATURE: "<B",
}
"""What follows id, sub-command and status in an answer."""


def _crc_table() -> bytes:
    table = bytearray()
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ 0x8C if byte & 1 else byte >> 1
        table.append(byte)
    return bytes(table)


_CRC = _crc_table()


def crc8(data: bytes) -> int:
    """CRC-8/MAXIM: reflected polynomial 0x8C, initial value 0."""
    crc = 0
    for byte in data:
        crc = _CRC[crc ^ byte]
    return crc


def frame(function: int, data: bytes) -> bytes:
    """A whole frame."""
    body = bytes((function, len(data))) + data
    return b"\xaa\x55" + body + bytes((crc8(body),))


class RrcFormat:
    """For :class:`deskhand.arms.bus.framing.Framer`."""

    header = b"\xaa\x55"
    shortest = 5

    def size(self, data: bytes) -> int:
        """See framing; functions beyond 11 (RGB) do not exist."""
        return data[3] + 5 if data[2] <= 11 else 0

    def valid(self, frame: bytes) -> bool:
        """See framing."""
        return crc8(frame[2:-1]) == frame[-1]


def servo_frame(sub: int, data: bytes) -> bytes:
    """A frame for the servo bus."""
    return frame(BUS_SERVO, bytes((sub,)) + data)


def answer_frame(servo: int, sub: int, payload: bytes = b"", status: int = DONE) -> bytes:
    """What the controller answers."""
    return frame(BUS_SERVO, bytes((servo, sub, status)) + payload)


def move_frame(goals: Mapping[int, int], milliseconds: int) -> bytes:
    """Move servos to ``goals`` (pulses by id), in the order given."""
    return servo_frame(MOVE, struct.pack("<HB", milliseconds, len(goals)) + b"".join(struct.pack("<BH", *goal) for goal in goals.items()))


def ids_frame(sub: int, servos: Iterable[int]) -> bytes:
    """STOP, with its list of ids."""
    ids = bytes(servos)
    return servo_frame(sub, bytes((len(ids),)) + ids)


def read_answer(data: bytes, servo: int, sub: int, done: int = DONE) -> tuple[int, ...] | None:
    """The payload of an answer (data of a BUS_SERVO frame) to ``sub`` from ``servo``; None when it is none, or its status is not ``done``."""
    status = read_status(data, servo, sub)
    return struct.unpack(PAYLOADS[sub], data[3:]) if status == done and len(data) == 3 + struct.calcsize(PAYLOADS[sub]) else None


def read_status(data: bytes, servo: int, sub: int) -> int | None:
    """The status of an answer to ``sub`` from ``servo``, whatever it says; None when it is none."""
    return data[2] if len(data) >= 3 and data[1] == sub and (data[0] == servo or servo == BROADCAST) else None


class RrcBus(AskingBus):
    """The controller's port.

    ``battery`` is its newest report [V], about one a second; None until one has come.
    """

    move_delay = 10 * 10 / RELAY_BAUD  # [s] a relayed move of one servo: 10 bytes

    def __init__(self, port: str | Port, baud: int = BAUD, timeout: float = 0.02, tries: int = 3, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(port if isinstance(port, Port) else Port(port, baud), RrcFormat(), timeout, tries, clock)
        self.battery: float | None = None
        self._done = DONE

    def open(self) -> None:
        """See base."""
        super().open()
        self._done, self.together = DONE, False  # it may be another board

    def measure(self, servos: Iterable[int]) -> None:
        """See base. The status that goes with the arm's servos and not with servos that are not there means success; where the controller does not answer
        for those, it is the vendor's.
        """
        servos = list(servos)
        self._timeout = PATIENT
        absent = [number for number in ABSENT if number not in servos][:ASKED_ABSENT]
        failures = {status for number in absent if (status := self._status(number)) is not None}
        present = [status for servo in servos if (status := self._status(servo)) in STATUSES and status not in failures]
        if failures:
            if not present and any(self._status(servo) == DONE for servo in servos):
                raise DeskhandError(
                    "servo_fault",
                    f"the controller answers for servos that are not there ({absent}) as for those that are; its positions cannot be believed.",
                    hint="Does another servo have one of these ids? Else put the vendor's firmware on the board.",
                )
            if len(set(present)) == 1:
                self._done = present[0]
        super().measure(servos)
        self.together = True
        self.together = sum(len(self._read_together(servos)) == len(servos) for _ in range(TOGETHER[1])) >= TOGETHER[0]

    def _read_together(self, servos: list[int]) -> dict[int, int]:
        """See asking. The controller hands on one question after the other, and each answer says whose it is."""
        self._forget_late()
        self.counters.asked += len(servos)
        found: dict[int, int] = {}
        for servo in servos:
            self._send(servo_frame(READ_POSITION, bytes((servo,))))

        def match(frame: bytes) -> dict[int, int] | None:
            for servo in servos:
                values = read_answer(frame[4:-1], servo, READ_POSITION, self._done) if frame[2] == BUS_SERVO else None
                if values is not None:
                    found[servo] = values[0]
            return found if len(found) == len(servos) else None

        self._await(match, min(self._timeout, self._usual + max(SOONEST, PATIENCE * self._spread)) + RELAYED * len(servos))
        self.counters.unanswered += len(servos) - len(found)
        return found

    def _status(self, servo: int) -> int | None:
        """What the controller says to a question for a position."""
        question = servo_frame(READ_POSITION, bytes((servo,)))
        return self._ask(question, lambda frame: read_status(frame[4:-1], servo, READ_POSITION) if frame[2] == BUS_SERVO else None)

    def read_position(self, servo: int) -> int | None:
        """See asking."""
        return self._read(servo, READ_POSITION)

    def read_health(self, servo: int) -> Health:
        """See base; these servos measure no load."""
        millivolts = self._read(servo, READ_VOLTAGE)
        temperature = self._read(servo, READ_TEMPERATURE)
        return Health(temperature, None if millivolts is None else millivolts / 1000)

    def torque_on(self, servo: int) -> bool | None:
        """See base."""
        torque = self._read(servo, READ_TORQUE)
        return None if torque is None else torque != 0

    def move(self, goals: Mapping[int, int], seconds: float) -> None:
        """See base; pulses are clamped to 0..1000, the time to 0..30 s and rounded to the millisecond (the vendor's SDK cuts it off)."""
        clamped = {servo: min(max(pulse, 0), 1000) for servo, pulse in goals.items()}
        self._send(move_frame(clamped, min(max(round(seconds * 1000), 0), 30000)))

    def stop(self, servos: Iterable[int]) -> None:
        """See base."""
        self._send(ids_frame(STOP, servos))

    def set_torque(self, servos: Iterable[int], on: bool) -> None:
        """See base."""
        for servo in servos:
            self._send(servo_frame(TORQUE_ON if on else TORQUE_OFF, bytes((servo,))))

    def _read(self, servo: int, sub: int) -> int | None:
        def match(frame: bytes) -> int | None:
            values = read_answer(frame[4:-1], servo, sub, self._done) if frame[2] == BUS_SERVO else None
            return None if values is None else values[0]

        return self._ask(servo_frame(sub, bytes((servo,))), match)

    def _other(self, frame: bytes) -> None:
        if frame[2] == SYS and len(frame) == 8 and frame[4] == BATTERY:
            self.battery = struct.unpack("<H", frame[5:7])[0] / 1000
        elif frame[2] != KEY:
            super()._other(frame)
