"""Servos of the Feetech and Dynamixel kinds as memories behind a pseudo-terminal: what the vendors' packet handlers are tested against."""

from __future__ import annotations

import struct
import time
from abc import abstractmethod
from typing import Any

from deskhand.arms.emulate.bank import Emulator
from deskhand.arms.emulate.servo import Servo


class FeetechFormat:
    """Protocol 1.0: FF FF id length instruction parameters check."""

    header = b"\xff\xff"
    shortest = 6

    def size(self, data: bytes) -> int:
        return data[3] + 4 if data[2] <= 254 and data[3] >= 2 else 0

    def valid(self, frame: bytes) -> bool:
        return ~sum(frame[2:-1]) & 0xFF == frame[-1]


class RegisterServos(Emulator):
    """Registers of servos, refreshed from emulated shafts before they are read."""

    def __init__(self, wire: Any, servos: list[Servo], size: int, **options: Any) -> None:
        super().__init__(wire, servos, **options)
        self.memory = {servo.number: bytearray(size) for servo in servos}

    @abstractmethod
    def refresh(self, servo: Servo) -> None:
        """Bring the registers up to date."""

    @abstractmethod
    def written(self, servo: Servo, address: int, length: int) -> None:
        """These registers were written."""

    def _read(self, number: int, address: int, length: int) -> bytes:
        with self.lock:
            self.refresh(self.servos[number])
        return bytes(self.memory[number][address : address + length])

    def _store(self, number: int, address: int, data: bytes) -> None:
        if number in self.servos:
            self.memory[number][address : address + len(data)] = data
            with self.lock:
                self.written(self.servos[number], address, len(data))

    def here(self, number: int) -> bool:
        return number in self.servos and self.servos[number].answers


class FeetechServos(RegisterServos):
    def __init__(self, servos: list[Servo], **options: Any) -> None:
        super().__init__(FeetechFormat(), servos, 80, **options)

    def refresh(self, servo: Servo) -> None:
        position = round(servo.position())
        memory = self.memory[servo.number]
        memory[56:58] = struct.pack("<H", position if position >= 0 else 0x8000 | -position)
        memory[60:62] = struct.pack("<H", 0x400 | round(servo.load * 1000))
        memory[62], memory[63], memory[40] = round(servo.voltage * 10), round(servo.temperature), servo.torque
        memory[65] = servo.errors & 1 and 4

    def written(self, servo: Servo, address: int, length: int) -> None:
        memory = self.memory[servo.number]
        if address <= 40 < address + length:
            servo.set_torque(memory[40] == 1)
        if address <= 42 < address + length:
            goal, _, speed = struct.unpack("<HHH", memory[42:48])
            servo.move(goal, abs(goal - servo.position()) / speed if speed else 0.0)

    def _obey(self, frame: bytes) -> None:
        number, instruction, data = frame[2], frame[4], frame[5:-1]
        if instruction == 2 and self.here(number):
            self._status(number, self._read(number, data[0], data[1]))
        elif instruction == 3 and self.here(number):
            self._store(number, data[0], data[1:])
            self._status(number, b"")
        elif instruction == 0x82:
            for each in data[2:]:
                if self.here(each):
                    self._status(each, self._read(each, data[0], data[1]))
        elif instruction == 0x83:
            length = data[1]
            for at in range(2, len(data), length + 1):
                self._store(data[at], data[0], data[at + 1 : at + 1 + length])

    def _status(self, number: int, data: bytes) -> None:
        time.sleep(0.0002)
        body = bytes((number, len(data) + 2, 0)) + data
        self.line.send(b"\xff\xff" + body + bytes((~sum(body) & 0xFF,)))


class DynamixelFormat:
    """Protocol 2.0: FF FF FD 00 id length(2) instruction parameters crc(2)."""

    header = b"\xff\xff\xfd\x00"
    shortest = 10

    def size(self, data: bytes) -> int:
        length = struct.unpack("<H", data[5:7])[0]
        return length + 7 if 3 <= length <= 300 else 0

    def valid(self, frame: bytes) -> bool:
        return crc16(frame[:-2]) == struct.unpack("<H", frame[-2:])[0]


def crc16(data: bytes) -> int:
    """CRC-16 of the polynomial 0x8005, not reflected."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005) & 0xFFFF if crc & 0x8000 else crc << 1
    return crc


class DynamixelServos(RegisterServos):
    def __init__(self, servos: list[Servo], **options: Any) -> None:
        super().__init__(DynamixelFormat(), servos, 160, **options)
        for memory in self.memory.values():
            memory[11] = 3

    def refresh(self, servo: Servo) -> None:
        memory = self.memory[servo.number]
        memory[132:136] = struct.pack("<i", round(servo.position()))
        memory[144:147] = struct.pack("<HB", round(servo.voltage * 10), round(servo.temperature))
        memory[64], memory[70] = servo.torque, servo.errors & 1 and 4

    def written(self, servo: Servo, address: int, length: int) -> None:
        memory = self.memory[servo.number]
        if address <= 64 < address + length:
            servo.set_torque(memory[64] == 1)
        if address <= 116 < address + length:
            _, speed, goal = struct.unpack("<IIi", memory[108:120])
            servo.move(goal, abs(goal - servo.position()) / (speed * 0.229 * 4096 / 60) if speed else 0.0)

    def _obey(self, frame: bytes) -> None:
        number, instruction, data = frame[4], frame[7], frame[8:-2]
        if instruction == 2 and self.here(number):
            self._status(number, self._read(number, *struct.unpack("<HH", data)))
        elif instruction == 3 and self.here(number):
            self._store(number, struct.unpack("<H", data[:2])[0], data[2:])
            self._status(number, b"")
        elif instruction == 0x82:
            address, length = struct.unpack("<HH", data[:4])
            for each in data[4:]:
                if self.here(each):
                    self._status(each, self._read(each, address, length))
        elif instruction == 0x83:
            address, length = struct.unpack("<HH", data[:4])
            for at in range(4, len(data), length + 1):
                self._store(data[at], address, data[at + 1 : at + 1 + length])

    def _status(self, number: int, data: bytes) -> None:
        time.sleep(0.0002)
        frame = b"\xff\xff\xfd\x00" + bytes((number,)) + struct.pack("<H", len(data) + 4) + b"\x55\x00" + data
        self.line.send(frame + struct.pack("<H", crc16(frame)))
