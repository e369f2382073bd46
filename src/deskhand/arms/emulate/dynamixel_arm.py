"""The Dynamixel servos of one arm, emulated: told for good what its configuration says, shadows included."""

from __future__ import annotations

from collections.abc import Iterable

from deskhand.arms.driver_config import DynamixelLayout
from deskhand.arms.emulate.dynamixel import REVERSE, TIME_BASED, DynamixelServo
from deskhand.arms.emulate.servo import Servo


def arm_servos(servos: Iterable[Servo], layout: DynamixelLayout, timed: bool = True) -> list[DynamixelServo]:
    """The control tables of an arm's ``servos`` and of their shadows, which turn the same shafts.

    Args:
        servos: in the ticks that they count, as the arm's configuration has them; those that count backwards are mounted the other way round.
        timed: profile velocities are times, as Interbotix' own software leaves its arms.
    """
    every = list(servos)
    by_number = {servo.number: servo for servo in every}
    every += [_shadow(number, by_number[first]) for number, first in layout.shadows.items() if first in by_number]
    return [_unit(servo, layout, timed) for servo in every]


def _shadow(number: int, first: Servo) -> Servo:
    shadow = Servo(number, lambda: first.time, measured=first.position)
    shadow.supply, shadow.temperature, shadow.answers = first.supply, first.temperature, first.answers
    return shadow


def _unit(servo: Servo, layout: DynamixelLayout, timed: bool) -> DynamixelServo:
    turned = servo.number in (layout.reversed or ())
    settings = {"drive_mode": (REVERSE if turned else 0) | (TIME_BASED if timed else 0), "return_delay": 0}
    if servo.number in layout.limits:
        settings["min_position"], settings["max_position"] = layout.limits[servo.number]
    if layout.velocity_limit:
        settings["velocity_limit"] = layout.velocity_limit
    if servo.number in layout.shadows:
        settings["secondary_id"] = layout.shadows[servo.number]
    unit = DynamixelServo(servo, settings)
    unit.mounted = -1 if turned else 1
    unit["goal"] = unit.present()
    return unit
