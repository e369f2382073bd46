"""Dynamixel X servos on an adapter, emulated. Source: ROBOTIS e-Manual, X series and protocol 2.0, and what the vendor's SDK sends and expects.

``FF FF FD 00 id length(2) instruction parameters crc(2)``, little-endian; in what follows the length, FF FF FD is sent as FF FF FD FD.

- While the torque is on, registers below 64 refuse to be written (access error).
- Present position = encoder (turned round by Drive Mode bit 0) + homing offset; within one turn in mode 3, counted on over the turns in 4 and 5.
- Profile velocity is a speed (0.229 turns a minute), or with Drive Mode bit 2 the time of the whole motion in ms; profile acceleration likewise.
- A servo whose secondary id (below 253) is addressed obeys without an answer.
- A bus watchdog that has struck stops the servo and refuses goals until it is written as 0.
- What Shutdown names (63) ends the torque until the servo is rebooted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from deskhand.arms.emulate.dynamixel_table import GOALS, READ_ONLY, TABLE
from deskhand.arms.emulate.registers import NEVER, TURN, Register, RegisterEmulator, RegisterServo
from deskhand.arms.emulate.servo import Servo

PING, READ, WRITE, REG_WRITE, ACTION, FACTORY_RESET, REBOOT, STATUS = 1, 2, 3, 4, 5, 6, 8, 0x55
SYNC_READ, SYNC_WRITE, BULK_READ, BULK_WRITE = 0x82, 0x83, 0x92, 0x93
BROADCAST = 0xFE
INSTRUCTION_ERROR, RANGE_ERROR, LENGTH_ERROR, LIMIT_ERROR, ACCESS_ERROR, ALERT = 2, 4, 5, 6, 7, 0x80
BAUDS = (9_600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000)
"""By the value of the register."""
CURRENT_MODE, VELOCITY_MODE, POSITION_MODE, EXTENDED_MODE, CURRENT_POSITION_MODE, PWM_MODE = 0, 1, 3, 4, 5, 16
MODES = (CURRENT_MODE, VELOCITY_MODE, POSITION_MODE, EXTENDED_MODE, CURRENT_POSITION_MODE, PWM_MODE)
REVERSE, TIME_BASED, TORQUE_BY_GOAL = 1, 4, 8  # bits of the drive mode
SPEED_UNIT = 0.229 * TURN / 60  # [ticks/s]
ACCELERATION_UNIT = 214.577 * TURN / 3600  # [ticks/s^2]
WATCHDOG_UNIT, STRUCK = 0.02, 255  # [s], and the value of one that has struck
LONG = 3600.0  # [s] that a wheel is sent ahead
VOLTAGE, HOT, OVERLOAD = 1, 4, 32  # bits of the hardware error
FULL_PWM = 885
OVERLOADED = 3.0  # [s] at full load. UNCONFIRMED

STALL_CURRENT = 855  # [2.69 mA] 2.3 A


def crc16(data: bytes) -> int:
    """CRC-16 of the polynomial 0x8005, not reflected, initial value 0."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005) & 0xFFFF if crc & 0x8000 else crc << 1
    return crc


class DynamixelFormat:
    """For :class:`deskhand.arms.bus.framing.Framer`."""

    header = b"\xff\xff\xfd\x00"
    shortest = 10

    def size(self, data: bytes) -> int:
        """See framing."""
        length = int.from_bytes(data[5:7], "little")
        return length + 7 if 3 <= length <= 1024 else 0

    def valid(self, frame: bytes) -> bool:
        """See framing."""
        return crc16(frame[:-2]) == int.from_bytes(frame[-2:], "little")


def packet(number: int, instruction: int, parameters: bytes = b"") -> bytes:
    """A whole frame; the parameters of a status frame begin with the error."""
    body = (bytes((instruction,)) + parameters).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    frame = b"\xff\xff\xfd\x00" + bytes((number,)) + (len(body) + 2).to_bytes(2, "little") + body
    return frame + crc16(frame).to_bytes(2, "little")


def unstuffed(frame: bytes) -> tuple[int, int, bytes]:
    """Id, instruction and parameters of a valid frame."""
    body = frame[7:-2].replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
    return frame[4], body[0], body[1:]


class DynamixelServo(RegisterServo):
    """One servo of the X series; ``settings`` by name in dynamixel_table.py are what its persistent registers held when it was made."""

    table: ClassVar[Mapping[str, Register]] = TABLE
    persistent: ClassVar[int] = 64
    size: ClassVar[int] = 147
    fastest: ClassVar[float] = 3140.0  # 46 turns a minute

    def __init__(self, servo: Servo, settings: Mapping[str, int] | None = None) -> None:
        super().__init__(servo, settings or {})
        servo.max_temperature = NEVER  # its own rule, below
        self.mounted = 1  # -1: the encoder sits the other way round, and counts down where ``servo`` counts up
        self._full_since: float | None = None
        self._heard = servo.time
        self.waiting: tuple[int, bytes] | None = None
        self["torque"], self["goal_current"], self["goal"] = servo.torque, self["current_limit"], self.present()

    @property
    def baud(self) -> int:
        """See registers."""
        return BAUDS[min(self["baud"], len(BAUDS) - 1)]

    @property
    def answer_delay(self) -> float:
        """See registers."""
        return 2e-6 * self["return_delay"]

    def power_up(self) -> None:
        """See registers; a reboot does the same."""
        super().power_up()
        self._full_since, self._heard, self.waiting = None, self.servo.time, None
        self["goal_current"], self["goal"] = self["current_limit"], self.present()

    @property
    def _way(self) -> int:
        return -self.mounted if self["drive_mode"] & REVERSE else self.mounted

    def present(self) -> int:
        """What the position register says."""
        return round(self._counted(self.servo.reading()))

    def _counted(self, encoder: float) -> float:
        counted = self._way * encoder
        return (counted % TURN if self["mode"] == POSITION_MODE else counted) + self["homing_offset"]

    # ------------------------------------------------------------ reading

    def refresh(self) -> None:
        """See registers."""
        servo = self.servo
        self.look_after()
        ahead = self._way * (servo.wished() - servo.position())
        speed = self._way * self.measure_speed()
        self["position"], self["velocity"] = self.present(), round(speed / SPEED_UNIT)
        self["current"] = round(servo.load * STALL_CURRENT) * (1 if ahead >= 0 else -1)
        self["voltage"], self["temperature"], self["torque"] = round(servo.voltage * 10), round(servo.temperature), servo.torque
        self["moving"] = abs(speed / SPEED_UNIT) > self["moving_threshold"]
        self["position_trajectory"] = self.present() + round(ahead)
        self["realtime_tick"] = round(servo.time * 1000) % 32768

    def heard(self) -> None:
        """Any frame was on the bus: the watchdog begins anew."""
        self.look_after()
        self._heard = self.servo.time

    def look_after(self) -> None:
        """See registers."""
        servo = self.servo
        if 0 < self["watchdog"] < 128 and servo.time - self._heard > WATCHDOG_UNIT * self["watchdog"]:
            self["watchdog"] = STRUCK
            servo.stop()
        load = min(servo.load, self["goal_pwm"] / FULL_PWM)  # less than all of its output is no overload
        self._full_since = None if load < 1.0 else servo.time if self._full_since is None else self._full_since
        volts = servo.voltage * 10
        error = 0 if self["min_voltage"] <= volts <= self["max_voltage"] else VOLTAGE
        error |= HOT if servo.temperature > self["max_temperature"] else 0
        error |= OVERLOAD if self._full_since is not None and servo.time - self._full_since > OVERLOADED else 0
        # what shut it down stays until the reboot
        self["hardware_error"] = error | self["hardware_error"] & self["shutdown"]
        if self["hardware_error"] & self["shutdown"] and servo.torque:
            servo.set_torque(False)
            self["torque"] = 0

    @property
    def alert(self) -> int:
        """Bit of every status while something is wrong."""
        return ALERT if self["hardware_error"] else 0

    # ------------------------------------------------------------ writing

    def store(self, address: int, data: bytes) -> int:
        """Write registers; 0, or why not."""
        if not data or address + len(data) > self.size:
            return RANGE_ERROR if data else LENGTH_ERROR
        touched = range(address, address + len(data))
        if any(at in area for at in touched for area in READ_ONLY) or (address < self.persistent and self.servo.torque):
            return ACCESS_ERROR
        if self["watchdog"] == STRUCK and any(at in GOALS for at in touched):
            return ACCESS_ERROR
        before = bytes(self.memory)
        self.memory[address : address + len(data)] = data
        if error := self._beyond(address, len(data)):
            self.memory[:] = before
            return error
        self.written(address, len(data))
        return 0

    def _beyond(self, address: int, length: int) -> int:
        limited = self["mode"] == POSITION_MODE
        if self.touches("goal", address, length) and limited and not self["min_position"] <= self["goal"] <= self["max_position"]:
            return LIMIT_ERROR
        if self.touches("mode", address, length) and self["mode"] not in MODES:
            return RANGE_ERROR
        if self.touches("id", address, length) and self["id"] > 252:
            return RANGE_ERROR
        return LIMIT_ERROR if self.touches("torque", address, length) and self["torque"] > 1 else 0

    def written(self, address: int, length: int) -> None:
        """See registers."""
        if address < self.persistent:
            self.keep()
        if self.touches("mode", address, length) or self.touches("drive_mode", address, length) or self.touches("homing_offset", address, length):
            self["goal"] = self.present()
        if self.touches("watchdog", address, length):
            self._heard = self.servo.time
        if self.touches("torque", address, length):
            on = bool(self["torque"]) and not self["hardware_error"] & self["shutdown"]
            self.servo.set_torque(on)
            self["torque"], self["goal"] = self.servo.torque, self.present()
        if self.touches("goal", address, length) or (self["mode"] == VELOCITY_MODE and self.touches("goal_velocity", address, length)):
            self._go()

    def _go(self) -> None:
        servo = self.servo
        if not servo.torque and self["drive_mode"] & TORQUE_BY_GOAL and not self["hardware_error"] & self["shutdown"]:
            servo.set_torque(True)
        if not servo.torque:
            return
        if self["mode"] == VELOCITY_MODE:
            limit = self["velocity_limit"]
            servo.move(servo.position() + self._way * min(max(self["goal_velocity"], -limit), limit) * SPEED_UNIT * LONG, LONG)
        elif self["mode"] in (POSITION_MODE, EXTENDED_MODE, CURRENT_POSITION_MODE):
            ticks = self._way * (self["goal"] - self._counted(servo.position()))
            servo.move(servo.position() + ticks, self._duration(abs(ticks)))

    def _duration(self, ticks: float) -> float:
        """[s] of a motion by its profile."""
        velocity, acceleration = self["profile_velocity"], self["profile_acceleration"]
        if self["drive_mode"] & TIME_BASED:
            return max(velocity / 1000, ticks / self.fastest)
        limit = min(self["velocity_limit"] * SPEED_UNIT, self.fastest)
        speed = min(velocity * SPEED_UNIT, limit) if velocity else limit
        return ticks / speed + (speed / (acceleration * ACCELERATION_UNIT) if acceleration else 0.0)


class DynamixelEmulator(RegisterEmulator[DynamixelServo]):
    """The adapter's port; ``units`` are the servos with their registers."""

    def __init__(self, servos: Iterable[Servo | DynamixelServo], **options: Any) -> None:
        super().__init__(DynamixelFormat(), [unit if isinstance(unit, DynamixelServo) else DynamixelServo(unit) for unit in servos], **options)

    def _obey(self, frame: bytes) -> None:
        number, instruction, data = unstuffed(frame)
        with self.lock:
            for unit in self.units:
                unit.heard()
            answers = self._answers(number, instruction, data)
            self.renamed()
        self.answer(answers)

    def _answers(self, number: int, instruction: int, data: bytes) -> list[tuple[DynamixelServo, bytes]]:
        """Obey, and what is said to it, in its order."""
        if instruction in (SYNC_READ, BULK_READ):
            return [self._read(unit, address, length) for each, address, length in _asked(instruction, data) for unit in self.listening(each, -1)]
        if instruction in (SYNC_WRITE, BULK_WRITE):
            for each, address, written in _told(instruction, data):
                for unit in [*self.listening(each, -1), *self._shadows(each)]:
                    unit.store(address, written)
            return []
        units = self.listening(number, BROADCAST)
        if instruction == PING:
            return [self._status(unit, data=struct.pack("<HB", unit["model"], unit["firmware"])) for unit in sorted(units, key=lambda unit: unit.number)]
        if instruction == READ and len(data) == 4:
            return [self._read(unit, *struct.unpack("<HH", data)) for unit in units if number != BROADCAST and unit["status_level"] > 0]
        for shadow in self._shadows(number):
            self._do(shadow, instruction, data)
        said = []
        for unit in units:
            before, error = unit.number, self._do(unit, instruction, data)
            if number != BROADCAST and unit["status_level"] > 1:
                said.append((unit, packet(before, STATUS, bytes((error | unit.alert,)))))
        return said

    def _shadows(self, number: int) -> list[DynamixelServo]:
        if number >= 253:
            return []
        return [unit for unit in self.units if unit.here and unit.baud == self.line.baud and unit["secondary_id"] == number and unit.number != number]

    @staticmethod
    def _do(unit: DynamixelServo, instruction: int, data: bytes) -> int:
        if instruction == WRITE and len(data) > 2:
            return unit.store(int.from_bytes(data[:2], "little"), data[2:])
        if instruction == REG_WRITE and len(data) > 2:
            unit.waiting, unit["registered"] = (int.from_bytes(data[:2], "little"), data[2:]), 1
            return 0
        if instruction == ACTION:
            waiting, unit.waiting, unit["registered"] = unit.waiting, None, 0
            return 0 if waiting is None else unit.store(*waiting)
        if instruction == REBOOT:
            unit.power_up()
            return 0
        return INSTRUCTION_ERROR

    def _read(self, unit: DynamixelServo, address: int, length: int) -> tuple[DynamixelServo, bytes]:
        if address + length > unit.size:
            return self._status(unit, RANGE_ERROR)
        unit.refresh()
        return self._status(unit, data=bytes(unit.memory[address : address + length]))

    @staticmethod
    def _status(unit: DynamixelServo, error: int = 0, data: bytes = b"") -> tuple[DynamixelServo, bytes]:
        return unit, packet(unit.number, STATUS, bytes((error | unit.alert,)) + data)


def _asked(instruction: int, data: bytes) -> list[tuple[int, int, int]]:
    """(id, address, length) of a sync or bulk read."""
    if instruction == SYNC_READ:
        address, length = struct.unpack_from("<HH", data.ljust(4, b"\0"))
        return [(number, address, length) for number in data[4:]]
    return [struct.unpack_from("<BHH", data, at) for at in range(0, len(data) - 4, 5)]


def _told(instruction: int, data: bytes) -> list[tuple[int, int, bytes]]:
    """(id, address, data) of a sync or bulk write."""
    told = []
    if instruction == SYNC_WRITE:
        address, length = struct.unpack_from("<HH", data.ljust(4, b"\0"))
        return [(data[at], address, data[at + 1 : at + 1 + length]) for at in range(4, len(data) - length, length + 1)]
    at = 0
    while at + 5 <= len(data):
        number, address, length = struct.unpack_from("<BHH", data, at)
        told.append((number, address, data[at + 5 : at + 5 + length]))
        at += 5 + length
    return told
