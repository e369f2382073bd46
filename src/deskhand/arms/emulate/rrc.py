"""Hiwonder's "RRC" controller, emulated: see bus/rrc.py for the format.

It relays to the servos one after the other, and tells the battery's voltage once a second.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from deskhand.arms.bus import rrc
from deskhand.arms.emulate.bank import BAUD, BITS, Emulator
from deskhand.arms.emulate.servo import Servo

BATTERY_PERIOD = 1.0  # [s]
RELAYED_MOVE = 10  # bytes on the servos' bus
RELAYED_QUESTION = 6
RELAYED_ANSWER = 8
NO_ANSWER = 0.01  # [s] that the controller waits for a servo


class RrcEmulator(Emulator):
    """The controller's port. ``beeps`` counts the buzzer's commands; ``done`` and ``failed`` are the status of its answers.

    As the vendor's firmware does, it answers with zeros when a servo does not: only the status tells that from a position.
    """

    def __init__(self, servos: Iterable[Servo], done: int = rrc.DONE, failed: int = rrc.FAILED, **options: Any) -> None:
        self._done, self._failed = done, failed
        super().__init__(rrc.RrcFormat(), servos, **options)
        self.beeps = 0
        self._told = self._clock()

    def _idle(self) -> None:
        if self._clock() - self._told >= BATTERY_PERIOD:
            self._told = self._clock()
            millivolts = min((round(servo.voltage * 1000) for servo in self.servos.values()), default=0)
            self.line.send(rrc.frame(rrc.SYS, struct.pack("<BH", rrc.BATTERY, millivolts)))

    def _obey(self, frame: bytes) -> None:
        function, data = frame[2], frame[4:-1]
        if function == rrc.BUZZER:
            self.beeps += 1
        if function == rrc.BUS_SERVO and data:
            try:
                self._servo(data[0], data[1:])
            except (struct.error, IndexError):
                return  # a frame of the wrong length is ignored

    def _servo(self, sub: int, data: bytes) -> None:
        if sub == rrc.MOVE:
            self._move(data)
        elif sub == rrc.STOP:
            for number in data[1 : 1 + data[0]]:
                self._busy(RELAYED_QUESTION)
                self._with(number, Servo.stop)
        elif sub in (rrc.TORQUE_OFF, rrc.TORQUE_ON):
            self._busy(RELAYED_QUESTION + 1)
            self._with(data[0], lambda servo: servo.set_torque(sub == rrc.TORQUE_ON))
        elif sub in rrc.PAYLOADS:
            self._answer(sub, data[0])
        else:
            self._write(sub, data)

    def _with(self, number: int, act: Any) -> None:
        with self.lock:
            chosen = self.servos.values() if number == rrc.BROADCAST else [self.servos[number]] if number in self.servos else []
            for servo in chosen:
                if servo.answers:
                    act(servo)

    def _move(self, data: bytes) -> None:
        milliseconds, count = struct.unpack_from("<HB", data)
        goals = list(struct.iter_unpack("<BH", data[3 : 3 + 3 * count]))
        if len(goals) != count:
            return
        for index, (number, pulse) in enumerate(goals):
            delay = (index + 1) * RELAYED_MOVE * BITS / BAUD
            self._with(number, lambda servo, pulse=pulse, delay=delay: servo.move(pulse, milliseconds / 1000, delay))
        self._busy(RELAYED_MOVE * count)

    def _answer(self, sub: int, number: int) -> None:
        self._busy(RELAYED_QUESTION)
        servo = next(iter(self.servos.values()), None) if number == rrc.BROADCAST else self.servos.get(number)
        if servo is None or not servo.answers or servo.mute:
            self._sleep(NO_ANSWER)
            self.line.send(rrc.answer_frame(number, sub, bytes(struct.calcsize(rrc.PAYLOADS[sub])), self._failed))
            return
        self._think()
        self._busy(RELAYED_ANSWER)
        with self.lock:
            payload = struct.pack(rrc.PAYLOADS[sub], *_values(servo, sub))
        self.line.send(rrc.answer_frame(servo.number, sub, payload, self._done))

    def _write(self, sub: int, data: bytes) -> None:
        self._busy(RELAYED_QUESTION + 1)
        if sub == rrc.WRITE_ID:
            number, new = struct.unpack("<BB", data[:2])
            with self.lock:
                if number in self.servos:
                    servos = dict(self.servos)
                    servo = servos.pop(number)
                    servo.number = new
                    self.servos = {**servos, new: servo}
            return
        number = data[0]
        if sub == rrc.SET_OFFSET:
            self._with(number, lambda servo: setattr(servo, "offset", struct.unpack("<b", data[1:2])[0]))
        elif sub == rrc.WRITE_ANGLES:
            self._with(number, lambda servo: setattr(servo, "limits", struct.unpack("<HH", data[1:5])))
        elif sub == rrc.WRITE_VOLTAGES:
            self._with(number, lambda servo: setattr(servo, "voltage_limits", struct.unpack("<HH", data[1:5])))
        elif sub == rrc.WRITE_MAX_TEMPERATURE:
            self._with(number, lambda servo: setattr(servo, "max_temperature", data[1]))


def _values(servo: Servo, sub: int) -> tuple[int, ...]:
    reads: dict[int, Callable[[], tuple[int, ...]]] = {
        rrc.READ_POSITION: lambda: (servo.reading(),),
        rrc.READ_VOLTAGE: lambda: (round(servo.voltage * 1000),),
        rrc.READ_TEMPERATURE: lambda: (round(servo.temperature),),
        rrc.READ_TORQUE: lambda: (int(servo.torque),),
        rrc.READ_ID: lambda: (servo.number,),
        rrc.READ_OFFSET: lambda: (servo.offset,),
        rrc.READ_ANGLES: lambda: servo.limits,
        rrc.READ_VOLTAGES: lambda: servo.voltage_limits,
        rrc.READ_MAX_TEMPERATURE: lambda: (servo.max_temperature,),
    }
    return reads[sub]()
