"""Dynamixel X servos (WidowX 250s, OpenManipulator-X) by PyPI dynamixel-sdk, protocol 2.0. 4096 ticks a turn. Registers: dynamixel_table.py.

A servo is met before it is first told to move: how its profile velocity is meant (a speed, or a time in milliseconds), which goals it takes, and whether it is
what the arm's configuration says. Nothing is written for good then; :meth:`DynamixelBus.configure` does that, and only with the torque off.
"""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Iterable, Mapping

from deskhand.arms.bus import dynamixel_table as table
from deskhand.arms.bus.base import Health
from deskhand.arms.bus.dynamixel_table import Traits
from deskhand.arms.bus.sdk import SUCCESS, SdkBus, load_sdk
from deskhand.arms.driver_config import DynamixelLayout
from deskhand.errors import DeskhandError

log = logging.getLogger(__name__)

BAUD = 1_000_000
WATCHDOG = 0.5  # [s] without a word after which a servo stops by itself and holds
GENTLE = 100.0  # [ticks/s] at most, for a goal that had to be moved into the servo's own limits: nobody asked for that motion
ROUNDING = 2  # [ticks] by which a goal is moved without that
APART = 34  # [ticks] (3 degrees) between a servo and its shadow, from which on the two work against each other too hard
UNEVEN = 12  # [ticks] (1 degree) from which on that is said
HOLD = 0.02  # [s] of a move to where the servo is
RESTART = 1.0  # [s] that a servo may take to restart
FIRST_DAY = "`deskhand first-day` sets it, with the torque off."
CLEAR = (
    "Take away what blocks or heats it and hold the arm: the servo has let go. Then restart it: `deskhand first-day` offers to, or switch the arm's supply "
    "off and on."
)


class DynamixelBus(SdkBus):
    """Servos on an adapter.

    Args:
        layout: what the servos of this arm must have been told for good.
        latency: [s] that adapter and servo may take to answer.
    """

    def __init__(self, path: str, baud: int = BAUD, latency: float = 0.02, layout: DynamixelLayout | None = None) -> None:
        sdk = load_sdk("dynamixel_sdk", "dynamixel-sdk")
        super().__init__(path, baud, sdk, sdk.PacketHandler(2.0), (table.POSITION, 4), lambda data: int(struct.unpack("<i", data)[0]), latency)
        self._layout = layout or DynamixelLayout()
        self._shadows: dict[int, list[int]] = {}
        for shadow, first in self._layout.shadows.items():
            self._shadows.setdefault(first, []).append(shadow)
        self._traits: dict[int, Traits] = {}
        self._met: set[int] = set()
        self._apart: dict[int, tuple[int, int]] = {}
        self._spoke = float("inf")

    def open(self) -> None:
        """See base."""
        super().open()
        self._traits.clear()
        self._met.clear()
        self._apart.clear()
        self._spoke = float("inf")

    # ------------------------------------------------------------ what they tell

    def read_positions(self, servos: Iterable[int]) -> dict[int, int]:
        """See base. Shadows are read with those that they follow, which also keeps their watchdogs quiet."""
        servos = list(servos)
        if time.monotonic() - self._spoke > WATCHDOG:
            self._revive()
        shadows = [shadow for servo in servos for shadow in self._shadows.get(servo, ())]
        found = super().read_positions([*servos, *shadows])
        self._spoke = time.monotonic() if self._met else self._spoke
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
            silent = "" if other.voltage is not None else "does not answer"
            faults = [health.fault, f"its shadow, servo {shadow}: {other.fault or silent}" if other.fault or silent else "", self._unevenness(servo)]
            hottest = max((each.temperature for each in (health, other) if each.temperature is not None), default=None)
            health = Health(hottest, health.voltage, None, "; ".join(filter(None, faults)))
        return health

    def _health(self, servo: int) -> Health:
        status, supply = self._read(servo, table.HARDWARE_ERROR, table.WATCHDOG - table.HARDWARE_ERROR + 1), self._read(servo, table.VOLTAGE, 3)
        text = ""
        if status is not None and status[0]:
            text = f"{table.fault_text(status[0]) or 'a fault'} (hardware error {status[0]}). {CLEAR}"
        elif status is not None and status[-1] == table.STRUCK:
            text = f"its watchdog has struck: it heard nothing for {WATCHDOG} s"
            self._revive()
        if supply is None:
            return Health(fault=text)
        volts, temperature = struct.unpack("<HB", supply)
        return Health(temperature, volts / 10, None, text)

    def torque_on(self, servo: int) -> bool | None:
        """See base; a joint of two servos is held when both hold."""
        answers = [self._read(each, table.TORQUE, 1) for each in (servo, *self._shadows.get(servo, ()))]
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
        status = self._read(servo, table.HARDWARE_ERROR, 1)
        return None if status is None else status[0]

    # ------------------------------------------------------------ what they are told

    def move(self, goals: Mapping[int, int], seconds: float) -> None:
        """See base. Each servo gets a speed, from where it was last read, or the time, as its drive mode has it.

        Raises:
            DeskhandError: ``servo_fault`` when a servo is not what the arm's configuration says; nothing has been written then.
        """
        known = {servo: traits for servo in goals if (traits := self._meet(servo)) is not None}
        present, values = self._present(known), {}
        for servo, traits in known.items():
            goal = traits.goal(goals[servo])
            distance = abs(goal - present[servo]) if servo in present else float("inf")
            longer = distance / GENTLE if abs(goal - goals[servo]) > ROUNDING and servo in present else 0.0
            speed = traits.velocity_limit if distance == float("inf") and not traits.timed else traits.profile(distance, max(seconds, longer))
            values[servo] = struct.pack("<IIi", 0, speed, goal)
        self._write_all(table.PROFILE, values)
        for servo in known.keys() - self._met:
            self._met.add(servo)
            if self.torque_on(servo):
                self._watch(servo, True)
        self._spoke = time.monotonic()

    def stop(self, servos: Iterable[int]) -> None:
        """See base: there is no such command, so they are sent to where they are."""
        self.move(self.read_positions(servos), HOLD)

    def set_torque(self, servos: Iterable[int], on: bool) -> None:
        """See base.

        Raises:
            DeskhandError: ``servo_fault`` when a servo is not what the arm's configuration says, has a hardware error, or stands away from its shadow.
        """
        servos = list(servos)
        for servo in servos if on else ():
            self._meet(servo)
            self._refuse_uneven(servo)
        for servo in servos:
            self._watch(servo, False)
            if on:
                share = self._layout.output.get(servo)
                if share is not None:
                    self._write(servo, table.GOAL_PWM, struct.pack("<h", round(share * table.FULL_PWM)))
            self._write(servo, table.TORQUE, bytes((on,)))
            for shadow in self._shadows.get(servo, ()):  # they obey what is written to the first; this is for those that did not hear it
                self._write(shadow, table.TORQUE, bytes((on,)))
            if on and self.torque_on(servo):
                self._watch(servo, True)
        self._met.update(servos if on else ())
        self._spoke = time.monotonic()

    def _watch(self, servo: int, on: bool) -> None:
        """The watchdog of a servo and its shadows; a servo whose watchdog has struck refuses every goal until it is off."""
        value = round(WATCHDOG / table.WATCHDOG_UNIT) if on else 0
        for each in (servo, *self._shadows.get(servo, ())):
            self._write(each, table.WATCHDOG, bytes((value,)))

    def _revive(self) -> None:
        """Nobody spoke for so long that the watchdogs have struck: the servos hold where they stopped, and keep holding there."""
        log.warning("the servos heard nothing for %.1f s and have stopped by themselves; they are told to stay where they are", WATCHDOG)
        self._spoke = float("inf")
        self._last.clear()
        here = self.read_positions(self._met)
        for servo in self._met:
            self._watch(servo, False)
        self.move(here, HOLD)
        for servo in self._met:
            if self.torque_on(servo):
                self._watch(servo, True)

    # ------------------------------------------------------------ what they are

    def _meet(self, servo: int) -> Traits | None:
        """What a servo was told for good, checked when it is met for the first time; None when it does not answer."""
        traits = self.traits(servo)
        if traits is None or servo in self._met:
            return traits
        self._check(servo, traits)
        error = self.hardware_error(servo)
        if error:
            raise DeskhandError("servo_fault", f"servo {servo} has let go: {table.fault_text(error)} (hardware error {error}).", retry=True, hint=CLEAR)
        for shadow in self._shadows.get(servo, ()):
            other, error = self.traits(shadow), self.hardware_error(shadow)
            if other is None:
                raise DeskhandError(
                    "servo_fault", f"servo {shadow}, which shares a joint with servo {servo}, does not answer.", hint="Is its cable plugged in?"
                )
            self._check(shadow, other)
            self._check_pair(servo, traits, shadow, other)
            if error:
                raise DeskhandError("servo_fault", f"servo {shadow} has let go: {table.fault_text(error)} (hardware error {error}).", retry=True, hint=CLEAR)
        self._watch(servo, False)
        return traits

    def _check(self, servo: int, traits: Traits) -> None:
        if traits.mode not in table.POSITION_MODES:
            said = f"servo {servo} is in operating mode {table.mode_text(traits.mode)}, not in one of position control."
            raise DeskhandError("servo_fault", said, hint=f"It must be 3 (position). {FIRST_DAY}")
        expected = self._layout.reversed
        if expected is not None and traits.reversed != (servo in expected):
            way = "forwards" if servo in expected else "backwards"
            said = f"servo {servo} counts {way} (drive mode {traits.drive_mode}), which this arm's does not: its joint would turn the wrong way."
            raise DeskhandError("servo_fault", said, hint=f"Bit 0 of its drive mode must be {int(servo in expected)}. {FIRST_DAY}")

    def _check_pair(self, servo: int, traits: Traits, shadow: int, other: Traits) -> None:
        """Both turn one joint, so they must take every command alike, and turn against each other: they face each other."""
        if other.secondary != servo:
            follows = f"servo {other.secondary}" if other.secondary <= table.NOBODY else "nobody"
            said = f"servo {shadow} follows {follows} instead of servo {servo}, with which it turns one joint."
            raise DeskhandError("servo_fault", said, hint=f"Its secondary id must be {servo}. {FIRST_DAY}")
        for what, one, two in (
            ("operating mode", traits.mode, other.mode),
            ("meaning of the profile velocity (bit 2 of the drive mode)", traits.timed, other.timed),
        ):
            if one != two:
                said = f"servos {servo} and {shadow} turn one joint and differ in their {what}: {int(one)} and {int(two)}."
                raise DeskhandError("servo_fault", said, hint=f"Both must have the same. {FIRST_DAY}")
        if traits.reversed == other.reversed:
            said = f"servos {servo} and {shadow} face each other on one joint and count the same way: they would work against each other."
            raise DeskhandError("servo_fault", said, hint=f"Bit 0 of the drive mode of one must be 1. {FIRST_DAY}")

    def _refuse_uneven(self, servo: int) -> None:
        if servo not in self._apart:
            self.read_positions([servo])
        shadow, apart = self._apart.get(servo, (0, 0))
        if self._unevenness(servo):
            said = f"servos {servo} and {shadow} turn one joint, but stand {abs(apart)} ticks apart: they would work against each other."
            raise DeskhandError("servo_fault", said, hint=f"The homing offset of servo {shadow} must be {-apart:+d} from what it is. {FIRST_DAY}")
        if abs(apart) > UNEVEN:
            log.warning("servos %d and %d turn one joint and stand %d ticks apart; deskhand first-day evens them", servo, shadow, abs(apart))

    def _unevenness(self, servo: int) -> str:
        shadow, apart = self._apart.get(servo, (0, 0))
        return f"it stands {abs(apart)} ticks away from its shadow, servo {shadow}" if abs(apart) > APART else ""

    # ------------------------------------------------------------ for good, by hand

    def ping(self, servo: int) -> int | None:
        """Model number of a servo; None when it does not answer."""
        answer = self._safely(lambda: self._handler.ping(self._port, servo))
        return int(answer[0]) if answer is not None and answer[1] == SUCCESS else None

    def configure(self, servo: int, register: int, value: int) -> None:
        """Write one of :data:`deskhand.arms.bus.dynamixel_table.NAMES` for good.

        Raises:
            DeskhandError: ``servo_fault`` while the servo holds, or when it does not take the value.
        """
        what = table.NAMES[register]
        torque = self._read(servo, table.TORQUE, 1)
        if torque is None or torque[0]:
            said = f"servo {servo} {'does not answer' if torque is None else 'holds'}; its {what} can only be set while it has let go."
            raise DeskhandError("servo_fault", said, hint="Support the arm, then let go.")
        data = value.to_bytes(table.LENGTHS[register], "little", signed=value < 0)
        self._write(servo, register, data)
        self._traits.pop(servo, None)
        self._met.discard(servo)
        if self._read(servo, register, len(data)) != data:
            raise DeskhandError("servo_fault", f"servo {servo} does not take {value} as its {what}.", retry=True)

    def restart(self, servo: int) -> bool:
        """Restart a servo, which takes back a hardware error; it lets go. Whether it is there again."""
        self._safely(lambda: self._handler.reboot(self._port, servo))
        self._met.discard(servo)
        end = time.monotonic() + RESTART
        while time.monotonic() < end:
            time.sleep(0.05)
            if self.ping(servo) is not None:
                return True
        return False
