"""Feetech STS3215 servos on an adapter, emulated.

Sources: Feetech's memory table of the SMS/STS series as lerobot and the FTServo library have it; wire format: bus/feetech.py. Defaults that no source names
are UNCONFIRMED.

- Present position = encoder - homing offset, within one turn (Phase bit 4 clear) or counted on over the turns (set; UNCONFIRMED).
- Lock 1: what is written below address 40 is obeyed and forgotten without power; lock 0: it is kept.
- Torque enable 128 makes the place where the shaft stands 2048.
- More than the overload torque for the protection time: the servo gives no more than its protective torque and says so in every status, until it gets a
  goal on the other side or the torque is switched.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from deskhand.arms.bus.feetech import BAUDS, BROADCAST, PING, READ, WRITE, FeetechFormat, packet
from deskhand.arms.emulate.registers import TURN, Register, RegisterEmulator, RegisterServo
from deskhand.arms.emulate.servo import Servo

REG_WRITE, ACTION, SYNC_READ, SYNC_WRITE = 4, 5, 0x82, 0x83
POSITION_MODE, WHEEL_MODE, PWM_MODE, STEP_MODE = range(4)
MIDDLE = 2048
MULTI_TURN = 0x10  # of Phase
SET_MIDDLE = 128  # of Torque_Enable
LONG = 3600.0  # [s] that a wheel is sent ahead
VOLTAGE, HOT, OVERLOAD = 1, 4, 32  # bits of the status

TABLE: dict[str, Register] = {
    "firmware_major": Register(0, 1, 3),
    "firmware_minor": Register(1, 1, 10),
    "model": Register(3, 2, 777),
    "id": Register(5, 1, 1),
    "baud": Register(6),
    "return_delay": Register(7, 1, 250),  # of 2 us
    "status_level": Register(8, 1, 1),  # 0: only pings and reads are answered
    "min_position": Register(9, 2),
    "max_position": Register(11, 2, 4095),
    "max_temperature": Register(13, 1, 70),
    "max_voltage": Register(14, 1, 140),  # of 0.1 V
    "min_voltage": Register(15, 1, 40),
    "max_torque": Register(16, 2, 1000),  # of 0.1 %
    "phase": Register(18, 1, 12),
    "unloading": Register(19, 1, 44),
    "led_alarm": Register(20, 1, 47),
    "p": Register(21, 1, 32),
    "d": Register(22, 1, 32),
    "i": Register(23),
    "start_force": Register(24, 2, 16),
    "dead_zone_cw": Register(26, 1, 1),
    "dead_zone_ccw": Register(27, 1, 1),
    "protection_current": Register(28, 2, 500),  # of 6.5 mA
    "resolution": Register(30, 1, 1),
    "homing_offset": Register(31, 2, 0, 11),
    "mode": Register(33),
    "protective_torque": Register(34, 1, 20),  # [%]
    "protection_time": Register(35, 1, 200),  # of 10 ms
    "overload_torque": Register(36, 1, 80),  # [%]
    "speed_p": Register(37, 1, 10),
    "over_current_time": Register(38, 1, 200),
    "speed_i": Register(39, 1, 10),
    "torque": Register(40),
    "acceleration": Register(41),  # of 100 ticks/s^2
    "goal": Register(42, 2, 0, 15),
    "goal_time": Register(44, 2),
    "goal_speed": Register(46, 2, 0, 15),  # [ticks/s]
    "torque_limit": Register(48, 2, 1000),
    "lock": Register(55, 1, 1),
    "position": Register(56, 2, 0, 15),
    "speed": Register(58, 2, 0, 15),
    "load": Register(60, 2, 0, 10),  # of 0.1 %
    "voltage": Register(62),  # of 0.1 V
    "temperature": Register(63),
    "status": Register(65),
    "moving": Register(66),
    "current": Register(69, 2),  # of 6.5 mA
    "goal_now": Register(71, 2, 0, 15),
    "max_speed": Register(84, 1, 68),  # of 50 ticks/s
    "max_acceleration": Register(85, 1, 254),
}
READ_ONLY = (range(5), range(56, 75))
STALL_CURRENT = 415  # [6.5 mA] 2.7 A


class FeetechServo(RegisterServo):
    """One STS3215; ``settings`` by name in :data:`TABLE` are what its persistent registers held when it was made."""

    table: ClassVar[Mapping[str, Register]] = TABLE
    persistent: ClassVar[int] = 40
    size: ClassVar[int] = 87
    fastest: ClassVar[float] = 3400.0

    def __init__(self, servo: Servo, settings: Mapping[str, int] | None = None) -> None:
        super().__init__(servo, settings or {})
        self._overloaded = self._pushing = 0
        self._loaded_since: float | None = None
        self.waiting: tuple[int, bytes] | None = None
        self["torque"], self["torque_limit"] = servo.torque, self["max_torque"]
        self["goal"] = self.present()

    @property
    def baud(self) -> int:
        """See registers."""
        return BAUDS[min(self["baud"], len(BAUDS) - 1)]

    @property
    def answer_delay(self) -> float:
        """See registers."""
        return 2e-6 * self["return_delay"]

    def power_up(self) -> None:
        """See registers."""
        super().power_up()
        self._overloaded, self._loaded_since, self.waiting = 0, None, None
        self["torque_limit"], self["goal"] = self["max_torque"], self.present()

    def present(self) -> int:
        """What the position register says."""
        return round(self._counted(self.servo.reading()))

    def _counted(self, encoder: float) -> float:
        counted = encoder - self["homing_offset"]
        return counted if self["phase"] & MULTI_TURN or self["mode"] == STEP_MODE else counted % TURN

    # ------------------------------------------------------------ reading

    def refresh(self) -> None:
        """See registers."""
        self.look_after()
        servo = self.servo
        self["position"], self["speed"] = min(max(self.present(), -32767), 32767), round(self.measure_speed())
        ahead = servo.wished() - servo.position()
        self["load"] = round(servo.load * 1000) * (1 if ahead >= 0 else -1)
        self["voltage"], self["temperature"] = round(servo.voltage * 10), round(servo.temperature)
        self["moving"] = abs(servo.goal - servo.wished()) > 0.5 or (abs(ahead) > 4 and servo.torque)
        self["current"], self["torque"] = round(servo.load * STALL_CURRENT), servo.torque
        self["status"], self["goal_now"] = self.errors(), self["goal"]

    def errors(self) -> int:
        """Bits of the status."""
        voltage = self.servo.voltage * 10
        bad = VOLTAGE if not self["min_voltage"] <= voltage <= self["max_voltage"] else 0
        return bad | (HOT if self.servo.temperature > self["max_temperature"] else 0) | self._overloaded

    def look_after(self) -> None:
        """See registers."""
        servo, now = self.servo, self.servo.time
        if not servo.torque or servo.load * 100 <= self["overload_torque"]:
            self._loaded_since = None
        elif self._loaded_since is None:
            self._loaded_since = now
        elif now - self._loaded_since > 0.01 * self["protection_time"]:
            self._overloaded, self._pushing = OVERLOAD, 1 if servo.wished() > servo.position() else -1
        share = self["protective_torque"] / 100 if self._overloaded else 1.0
        servo.most = min(share, self["torque_limit"] / 1000, self["max_torque"] / 1000)

    # ------------------------------------------------------------ writing

    def store(self, address: int, data: bytes) -> None:
        """Write registers; those that only read stay as they are."""
        for at, value in enumerate(data, address):
            if at < self.size and not any(at in area for area in READ_ONLY):
                self.memory[at] = value
        self.written(address, len(data))

    def written(self, address: int, length: int) -> None:
        """See registers."""
        if self.touches("torque", address, length):
            self._switch(self["torque"])
        if address < self.persistent:
            self.servo.max_temperature = self["max_temperature"]
            if not self["lock"]:
                self.keep()
        if self.touches("goal", address, length) or (self["mode"] == WHEEL_MODE and self.touches("goal_speed", address, length)):
            self._go()

    def _switch(self, value: int) -> None:
        if value == SET_MIDDLE:
            offset = (self.servo.reading() - MIDDLE) % TURN
            self["homing_offset"] = max(offset - TURN if offset >= TURN // 2 else offset, -2047)
            self.keep()
        else:
            self.servo.set_torque(value != 0)
            self._overloaded, self._loaded_since = 0, None
        self["torque"] = self.servo.torque

    def _go(self) -> None:
        if not self.servo.torque:
            return  # a goal alone does not make it take hold. UNCONFIRMED
        servo, here = self.servo, self.servo.position()
        speed, limit = self["goal_speed"], min(self.fastest, 50.0 * (self["max_speed"] or 255))
        if self["mode"] == WHEEL_MODE:
            servo.move(here + min(max(speed, -limit), limit) * LONG, LONG)
        elif self["mode"] == STEP_MODE:
            self._turn(self["goal"], abs(speed), limit)
        elif self["mode"] == POSITION_MODE:
            low, high = self["min_position"], self["max_position"]
            goal = self["goal"] if low == high == 0 else min(max(self["goal"], low), high)
            self._turn(goal - self._counted(here), abs(speed), limit)

    def _turn(self, ticks: float, speed: float, limit: float) -> None:
        if self._overloaded and ticks * self._pushing > 0:
            return
        self._overloaded, self._loaded_since = 0, None
        speed = min(speed or limit, limit)
        ramp = speed / (100.0 * self["acceleration"]) if self["acceleration"] else 0.0
        seconds = self["goal_time"] / 1000 if self["goal_time"] else abs(ticks) / speed + ramp
        self.servo.move(self.servo.position() + ticks, seconds)


class FeetechEmulator(RegisterEmulator[FeetechServo]):
    """The adapter's port; ``units`` are the servos with their registers."""

    def __init__(self, servos: Iterable[Servo | FeetechServo], **options: Any) -> None:
        super().__init__(FeetechFormat(), [unit if isinstance(unit, FeetechServo) else FeetechServo(unit) for unit in servos], **options)

    def _obey(self, frame: bytes) -> None:
        number, instruction, data = frame[2], frame[4], frame[5:-1]
        with self.lock:
            answers = self._answers(number, instruction, data)
        self.answer(answers)

    def _answers(self, number: int, instruction: int, data: bytes) -> list[tuple[FeetechServo, bytes]]:
        """Obey, and what is said to it, in its order."""
        if instruction == SYNC_READ and len(data) > 2:
            everybody = [unit for each in data[2:] for unit in self.listening(each, -1)]
            return [self._status(unit, self._read(unit, data)) for unit in everybody]
        if instruction == SYNC_WRITE and len(data) > 2:
            self._sync_write(data)
            return []
        units = self.listening(number, BROADCAST)
        if instruction == PING:
            return [self._status(unit) for unit in sorted(units, key=lambda unit: unit.number)]
        if instruction == READ and len(data) == 2:
            return [self._status(unit, self._read(unit, data)) for unit in units if number != BROADCAST]
        said = []
        for unit in units:
            before, told = unit.number, True
            if instruction == WRITE and len(data) > 1:
                unit.store(data[0], data[1:])
            elif instruction == REG_WRITE and len(data) > 1:
                unit.waiting = (data[0], data[1:])
            elif instruction == ACTION:
                if unit.waiting is not None:
                    unit.store(*unit.waiting)
                unit.waiting = None
            else:
                told = False
            if told and number != BROADCAST and unit["status_level"]:
                said.append((unit, packet(before, unit.errors())))
        self.renamed()
        return said

    def _sync_write(self, data: bytes) -> None:
        address, length = data[:2]
        for at in range(2, len(data) - length, length + 1):
            for unit in self.listening(data[at], -1):
                unit.store(address, data[at + 1 : at + 1 + length])
        self.renamed()

    @staticmethod
    def _read(unit: FeetechServo, data: bytes) -> bytes:
        unit.refresh()
        return struct.pack(f"{data[1]}s", bytes(unit.memory[data[0] : data[0] + data[1]]))

    @staticmethod
    def _status(unit: FeetechServo, data: bytes = b"") -> tuple[FeetechServo, bytes]:
        return unit, packet(unit.number, unit.errors(), data)
