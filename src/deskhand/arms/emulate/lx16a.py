"""LX servos on an adapter, emulated: see bus/lx16a.py for the format. ``echo``: the adapter gives back what is sent, as cheap ones do."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from deskhand.arms.bus import lx16a
from deskhand.arms.emulate.bank import Emulator
from deskhand.arms.emulate.servo import Servo


class LxEmulator(Emulator):
    """The adapter's port."""

    def __init__(self, servos: Iterable[Servo], echo: bool = False, **options: Any) -> None:
        super().__init__(lx16a.LxFormat(), servos, **options)
        self._echo = echo
        self._registers = {number: _Registers() for number in self.servos}

    def _obey(self, frame: bytes) -> None:
        self._busy(len(frame))
        if self._echo:
            self.line.send(frame)
        number, command, parameters = frame[2], frame[4], frame[5:-1]
        with self.lock:
            addressed = list(self.servos.values()) if number == lx16a.BROADCAST else [self.servos[number]] if number in self.servos else []
        for servo in addressed:
            if not servo.answers:
                continue
            try:
                if command in lx16a.PAYLOADS:
                    if not servo.mute:
                        self._answer(servo, command)
                else:
                    with self.lock:
                        self._write(servo, command, parameters)
            except struct.error:
                continue  # parameters of the wrong length are ignored

    def _answer(self, servo: Servo, command: int) -> None:
        self._think()
        with self.lock:
            values = _READS[command](servo, self._registers[servo.number])
        answer = lx16a.frame(servo.number, command, struct.pack(lx16a.PAYLOADS[command], *values))
        self._busy(len(answer))
        self.line.send(answer)

    def _write(self, servo: Servo, command: int, parameters: bytes) -> None:
        registers = self._registers[servo.number]
        if command in (lx16a.MOVE_TIME, lx16a.WAIT_MOVE):
            pulse, milliseconds = struct.unpack("<HH", parameters)
            if command == lx16a.MOVE_TIME:
                registers.move = (pulse, milliseconds)
                servo.move(pulse, milliseconds / 1000)
            else:
                registers.waiting = (pulse, milliseconds)
        elif command == lx16a.START:
            servo.move(registers.waiting[0], registers.waiting[1] / 1000)
        elif command == lx16a.STOP:
            servo.stop()
        elif command == lx16a.WRITE_ID:
            self._rename(servo, struct.unpack("<B", parameters)[0])
        elif command == lx16a.WRITE_LOAD:
            servo.set_torque(struct.unpack("<B", parameters)[0] != 0)
        elif command in _SETTINGS:
            name, layout, of_servo = _SETTINGS[command]
            values = struct.unpack(layout, parameters)
            setattr(servo if of_servo else registers, name, values if len(values) > 1 else values[0])

    def _rename(self, servo: Servo, number: int) -> None:
        servos, registers = dict(self.servos), self._registers.pop(servo.number)
        del servos[servo.number]
        servo.number = number
        self.servos = {**servos, number: servo}
        self._registers[number] = registers


class _Registers:
    """What a servo remembers and this emulation does nothing with."""

    def __init__(self) -> None:
        self.move: tuple[int, int] = (500, 0)
        self.waiting: tuple[int, int] = (500, 0)
        self.mode: tuple[int, int, int] = (0, 0, 0)
        self.led = 0
        self.alarms = 7


_SETTINGS: dict[int, tuple[str, str, bool]] = {
    lx16a.SET_OFFSET: ("offset", "<b", True),
    lx16a.WRITE_ANGLES: ("limits", "<HH", True),
    lx16a.WRITE_VOLTAGES: ("voltage_limits", "<HH", True),
    lx16a.WRITE_MAX_TEMPERATURE: ("max_temperature", "<B", True),
    lx16a.WRITE_MODE: ("mode", "<BBh", False),
    lx16a.WRITE_LED: ("led", "<B", False),
    lx16a.WRITE_ERRORS: ("alarms", "<B", False),
}

_READS: dict[int, Callable[[Servo, _Registers], tuple[int, ...]]] = {
    lx16a.READ_MOVE_TIME: lambda _, registers: registers.move,
    lx16a.READ_WAIT_MOVE: lambda _, registers: registers.waiting,
    lx16a.READ_ID: lambda servo, _: (servo.number,),
    lx16a.READ_OFFSET: lambda servo, _: (servo.offset,),
    lx16a.READ_ANGLES: lambda servo, _: servo.limits,
    lx16a.READ_VOLTAGES: lambda servo, _: servo.voltage_limits,
    lx16a.READ_MAX_TEMPERATURE: lambda servo, _: (servo.max_temperature,),
    lx16a.READ_TEMPERATURE: lambda servo, _: (round(servo.temperature),),
    lx16a.READ_VOLTAGE: lambda servo, _: (round(servo.voltage * 1000),),
    lx16a.READ_POSITION: lambda servo, _: (servo.reading(),),
    lx16a.READ_MODE: lambda _, registers: registers.mode,
    lx16a.READ_LOAD: lambda servo, _: (int(servo.torque),),
    lx16a.READ_LED: lambda _, registers: (registers.led,),
    lx16a.READ_ERRORS: lambda _, registers: (registers.alarms,),
}
