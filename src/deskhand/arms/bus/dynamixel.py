"""Dynamixel X servos (WidowX 250s, OpenManipulator-X) by PyPI dynamixel-sdk, protocol 2.0. 4096 ticks a turn. Registers: dynamixel_table.py.

A servo is met before it is first told to move: how its profile velocity is meant (a speed, or a time in milliseconds), which goals it takes, and whether it is
what the arm's configuration says. Nothing is written for good then; :meth:`DynamixelBus.configure` does that, and only with the torque off.
"""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from deskhand.arms.bus import dynamixel_table as table
from deskhand.arms.bus.base import Health
from deskhand.arms.bus.dynamixel_check import APART, UNEVEN, check_apart, check_error, check_pair, check_servo, error_text
from deskhand.arms.bus.dynamixel_table import Traits
from deskhand.arms.bus.port import Port
from deskhand.arms.bus.sdk import SUCCESS, TRIES, SdkBus, load_sdk
from deskhand.arms.driver_config import DynamixelLayout
from deskhand.errors import DeskhandError

log = logging.getLogger(__name__)

BAUD = 1_000_000
WATCHDOG = 0.5  # [s] without a word after which a servo stops by itself and holds
GENTLE = 100.0  # [ticks/s] at most, for a goal that had to be moved into the servo's own limits: nobody asked for that motion
ROUNDING = 2  # [ticks] by which a goal is moved without that
HOLD = 20  # [ms] of a stop, for servos that are told a time
RESTART = 20  # questions that a servo may leave unanswered while it restarts
RESTART_PAUSE = 0.05  # [s] between them

WHOLE, CRC = 1024, 2  # [bytes] more than any answer has, and what follows it


def exact(handler: Any) -> Any:
    """The vendor's packet handler, taking only answers of the length asked for: by itself it cuts the first bytes out of whatever a servo sends, so that a
    late answer to another question, or a late confirmation, is read as this one's.
    """
    read = handler.readRx

    def read_rx(port: Any, servo: int, length: int) -> tuple[list[int], int, int]:
        while True:
            data, result, error = read(port, servo, WHOLE)
            if result != SUCCESS or len(data) == length + CRC:
                return data[:length], result, error

    handler.readRx = read_rx
    return handler


class DynamixelBus(SdkBus):
    """Servos on an adapter.

    Args:
        latency: [s] that adapter and servo may take to answer, in ``clock`` [s].
        layout: what the servos of this arm must have been told for good.
    """

    retold = True

    def __init__(
        self, port: str | Port, baud: int = BAUD, latency: float = 0.03, clock: Callable[[], float] = time.monotonic, layout: DynamixelLayout | None = None
    ) -> None:
        sdk = load_sdk("dynamixel_sdk", "dynamixel-sdk")
        super().__init__(port, baud, sdk, exact(sdk.PacketHandler(2.0)), (table.POSITION, 4), lambda data: int(struct.unpack("<i", data)[0]), latency, clock)
        self._layout, self._time = layout or DynamixelLayout(), clock
        self._shadows: dict[int, list[int]] = {}
        for shadow, first in self._layout.shadows.items():
            self._shadows.setdefault(first, []).append(shadow)
        self._traits: dict[int, Traits] = {}
        self._met: set[int] = set()  # servos that may be told to move
        self._watched: set[int] = set()  # those of them whose watchdog runs
        self._apart: dict[int, tuple[int, int]] = {}
        self._spoke = 0.0

    def open(self) -> None:
        """See base."""
        super().open()
        for known in (self._traits, self._met, self._watched, self._apart):
            known.clear()

    # ------------------------------------------------------------ what they tell

    def read_positions(self, servos: Iterable[int]) -> dict[int, int]:
        """See base. Shadows are read with those that they follow, which also keeps their watchdogs quiet."""
        servos = list(servos)
        if self._watched and self._time() - self._spoke > WATCHDOG:
            self._revive()
        shadows = [shadow for servo in servos for shadow in self._shadows.get(servo, ())]
        found = super().read_positions([*servos, *shadows])
        self._spoke = self._time()
        for servo in servos:
            for shadow in self._shadows.get(servo, ()):
                if servo in found and shadow in found:
                    self._apart[servo] = (shadow, found[shadow] - found[servo])
        return {servo: found[servo] for servo in servos if servo in found}

    def read_health(self, servo: int) -> Health:
        """See base; no load, since its unit differs from servo to servo. The worse of a servo and its shadow."""
        health = self._health(servo)
        for shadow in self._shadows.get(servo, ()):
            other = self._health(shadow)
            said = other.fault or ("" if other.voltage is not None or health.voltage is None else "it does not answer")
            faults = [health.fault, f"servo {shadow}, its shadow: {said}" if said else "", self._unevenness(servo)]
            hottest = max((each.temperature for each in (health, other) if each.temperature is not None), default=None)
            health = Health(hottest, health.voltage, None, "; ".join(filter(None, faults)))
        return health

    def _health(self, servo: int) -> Health:
        status, supply = self._status(servo), self._read(servo, table.VOLTAGE, 3)
        text = ""
        if status is not None and status[table.HARDWARE_ERROR - table.TORQUE]:
            text = error_text(status[table.HARDWARE_ERROR - table.TORQUE])
        elif status is not None and status[table.WATCHDOG - table.TORQUE] == table.STRUCK:
            text = f"it has stopped by itself, since it heard nothing for {WATCHDOG} s (watchdog)"
            self._revive()
        if supply is None:
            return Health(fault=text)
        volts, temperature = struct.unpack("<HB", supply)
        return Health(temperature, volts / 10, None, text)

    def _unevenness(self, servo: int) -> str:
        shadow, apart = self._apart.get(servo, (0, 0))
        return f"it stands {abs(apart)} ticks away from servo {shadow}, its shadow" if abs(apart) > APART else ""

    def torque_on(self, servo: int) -> bool | None:
        """See base; a joint of two servos is held when both hold."""
        answers = [self._status(each) for each in (servo, *self._shadows.get(servo, ()))]
        known = [answer[0] == 1 for answer in answers if answer is not None]
        return all(known) if len(known) == len(answers) else None

    def traits(self, servo: int) -> Traits | None:
        """What a servo was told for good; None when it does not answer."""
        if servo not in self._traits:
            data = self._read(servo, 0, table.TRAITS)
            if data is None:
                return None
            self._traits[servo] = Traits.parse(data)
        return self._traits[servo]

    def hardware_error(self, servo: int) -> int | None:
        """The servo's hardware error status, bits of :data:`deskhand.arms.bus.dynamixel_table.FAULTS`; None when it does not answer."""
        status = self._status(servo)
        return None if status is None else status[table.HARDWARE_ERROR - table.TORQUE]

    def _status(self, servo: int) -> bytes | None:
        """Registers from TORQUE to WATCHDOG. Every question of this bus has an answer of a length of its own, by which a late one is known."""
        return self._read(servo, table.TORQUE, table.WATCHDOG - table.TORQUE + 1)

    def _read(self, servo: int, address: int, length: int) -> bytes | None:
        """See SdkBus; the answer must be as long as it was asked for."""
        self.counters.asked += 1
        for attempt in range(TRIES):
            self.counters.retries += attempt > 0
            sent = self._safely(lambda: self._handler.readTx(self._port, servo, address, length))
            answer = self._safely(lambda: self._handler.readRx(self._port, servo, length)) if sent == SUCCESS else None
            if answer is not None and answer[1] == SUCCESS:
                return bytes(answer[0])
        self.counters.unanswered += 1
        return None

    # ------------------------------------------------------------ what they are told

    def move(self, goals: Mapping[int, int], seconds: float) -> None:
        """See base. Each servo gets a speed, from where it was last read, or the time, as its drive mode has it.

        Raises:
            DeskhandError: ``servo_fault`` when a servo is not what the arm's configuration says; none is told anything then.
        """
        known = {servo: traits for servo in goals if (traits := self._meet(servo)) is not None}
        present, wishes = self._present(known), {}
        for servo, traits in known.items():
            goal = traits.goal(goals[servo])
            distance = abs(goal - present[servo]) if servo in present else 0.0
            gentle = distance / GENTLE if abs(goal - goals[servo]) > ROUNDING else 0.0
            wishes[servo] = (traits.profile(distance, max(seconds, gentle)), goal)
        self._send(wishes)

    def stop(self, servos: Iterable[int]) -> None:
        """See base: there is no such command, so they are sent to where they are, as fast as they may."""
        here = self.read_positions(servos)
        known = {servo: traits for servo in here if (traits := self._meet(servo)) is not None}
        self._send({servo: (HOLD if traits.timed else traits.velocity_limit, traits.goal(here[servo])) for servo, traits in known.items()})

    def _send(self, wishes: Mapping[int, tuple[int, int]]) -> None:
        """Profile velocity and goal by servo, to all at once."""
        self._write_all(table.PROFILE, {servo: struct.pack("<IIi", 0, profile, goal) for servo, (profile, goal) in wishes.items()})
        self._spoke = self._time()
        for servo in wishes.keys() - self._met:
            self._met.add(servo)
            self._watch(servo, self.torque_on(servo) is True)

    def set_torque(self, servos: Iterable[int], on: bool) -> None:
        """See base.

        Raises:
            DeskhandError: ``servo_fault`` when a servo is not what the arm's configuration says, has a hardware error, or stands away from its shadow,
                ``device_unavailable`` when one does not answer; no torque is switched then.
        """
        servos = list(servos)
        for servo in servos if on else ():
            self._met.discard(servo)
            if self._meet(servo) is None:
                raise _silent(servo)
            self._check_apart(servo)
        for servo in servos:
            self._watch(servo, False)
            for each in (servo, *self._shadows.get(servo, ())):  # shadows obey what is told to the first; this is for one that did not hear it
                self._write(each, table.TORQUE, bytes((on,)))
            if on:
                self._met.add(servo)
                self._watch(servo, self.torque_on(servo) is True)
        self._spoke = self._time()

    def _watch(self, servo: int, on: bool) -> None:
        """Switch the watchdogs of a servo and its shadows. One that has struck refuses every goal until it is off."""
        value = round(WATCHDOG / table.WATCHDOG_UNIT) if on else 0
        for each in (servo, *self._shadows.get(servo, ())):
            self._write(each, table.WATCHDOG, bytes((value,)))
        (self._watched.add if on else self._watched.discard)(servo)

    def _revive(self) -> None:
        """The watchdogs have struck: the servos stand where they stopped, and are told to stay there, each before it could go on to its old goal."""
        log.warning("the servos heard nothing for %.1f s and have stopped by themselves; they are told to stay where they are", WATCHDOG)
        watched, self._watched = self._watched, set()
        for servo, here in self.read_positions(sorted(watched)).items():
            traits = self._traits[servo]
            self._watch(servo, False)
            self._send({servo: (HOLD if traits.timed else traits.velocity_limit, traits.goal(here))})
            self._watch(servo, True)
        self._watched |= watched

    # ------------------------------------------------------------ what they are

    def _meet(self, servo: int) -> Traits | None:
        """What a servo was told for good, checked when it is met for the first time; None when it does not answer."""
        traits = self.traits(servo)
        if traits is None or servo in self._met:
            return traits
        check_servo(servo, traits, self._layout)
        check_error(servo, self.hardware_error(servo))
        for shadow in self._shadows.get(servo, ()):
            other = self.traits(shadow)
            if other is None:
                raise _silent(shadow)
            check_servo(shadow, other, self._layout)
            check_pair(servo, traits, shadow, other)
            check_error(shadow, self.hardware_error(shadow))
        self._watch(servo, False)
        if servo in self._layout.output:
            self._write(servo, table.GOAL_PWM, struct.pack("<h", round(self._layout.output[servo] * table.FULL_PWM)))
        return traits

    def _check_apart(self, servo: int) -> None:
        if servo in self._shadows:
            self.read_positions([servo])
        if servo in self._apart:
            shadow, apart = self._apart[servo]
            check_apart(servo, shadow, apart)
            if abs(apart) > UNEVEN:
                log.warning("servos %d and %d turn one joint and stand %d ticks apart; deskhand first-day evens them", servo, shadow, abs(apart))

    # ------------------------------------------------------------ for good, by hand

    def ping(self, servo: int) -> int | None:
        """Model number of a servo; None when it does not answer."""
        for _ in range(TRIES):
            answer = self._safely(lambda: self._handler.ping(self._port, servo))
            if answer is not None and answer[1] == SUCCESS:
                return int(answer[0])
        return None

    def configure(self, servo: int, register: int, value: int) -> None:
        """Write one of :data:`deskhand.arms.bus.dynamixel_table.NAMES` for good.

        Raises:
            DeskhandError: ``servo_fault`` while the servo holds, or when it does not take the value.
        """
        what = table.NAMES[register]
        status = self._status(servo)
        if status is None or status[0]:
            said = f"servo {servo} {'does not answer' if status is None else 'holds'}; its {what} can only be set while it has let go."
            raise DeskhandError("servo_fault", said, hint="Support the arm, then let go.")
        data = value.to_bytes(table.LENGTHS[register], "little", signed=value < 0)
        self._write(servo, register, data)
        self._traits.pop(servo, None)
        self._met.discard(servo)
        kept = self._read(servo, 0, table.TRAITS)
        if kept is None or kept[register : register + len(data)] != data:
            raise DeskhandError("servo_fault", f"servo {servo} does not take {value} as its {what}.", retry=True)

    def restart(self, servo: int) -> bool:
        """Restart a servo, which takes back a hardware error; it lets go. Whether it is there again."""
        self._safely(lambda: self._handler.reboot(self._port, servo))
        self._met.discard(servo)
        self._watched.discard(servo)
        for _ in range(RESTART):
            time.sleep(RESTART_PAUSE)
            if self.ping(servo) is not None:
                return True
        return False


def _silent(servo: int) -> DeskhandError:
    return DeskhandError("device_unavailable", f"servo {servo} does not answer.", retry=True, hint="Are its cables plugged in, and is the arm switched on?")
