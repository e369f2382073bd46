"""What the servos of a Dynamixel arm must be told for good, and what of it they were not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deskhand.arms.bus import dynamixel_table as table
from deskhand.arms.bus.dynamixel import DynamixelBus
from deskhand.arms.bus.dynamixel_check import UNEVEN
from deskhand.arms.bus.dynamixel_table import Traits
from deskhand.arms.driver_config import DriverConfig, DynamixelLayout
from deskhand.errors import DeskhandError

POSITION_MODE = 3
FARTHEST = 1024  # [ticks] of a homing offset


@dataclass(frozen=True)
class Change:
    """A register of a servo that has another value than this arm's must have."""

    servo: int
    register: int
    old: int
    value: int

    def words(self) -> str:
        """On one line."""
        old, new = (table.mode_text(value) if self.register == table.MODE else str(value) for value in (self.old, self.value))
        return f"servo {self.servo}: {table.NAMES[self.register]} {old} -> {new}"


def numbers(driver: DriverConfig) -> list[int]:
    """Ids of all servos, shadows and gripper included."""
    own = [servo.id for servo in driver.servos.values()] + ([driver.gripper.id] if driver.gripper else [])
    return sorted({*own, *driver.dynamixel.shadows})


def changes(bus: DynamixelBus, driver: DriverConfig) -> list[Change]:
    """What the servos must still be told for good.

    Raises:
        DeskhandError: ``device_unavailable`` when one does not answer.
    """
    traits = {number: _traits(bus, number) for number in numbers(driver)}
    return [change for number in traits for change in _of(number, traits, driver.dynamixel)]


def _of(number: int, traits: dict[int, Traits], layout: DynamixelLayout) -> Iterator[Change]:
    own = traits[number]
    first = layout.shadows.get(number)
    drive = own.drive_mode
    if layout.reversed is not None:
        drive = drive & ~table.REVERSED | (table.REVERSED if number in layout.reversed else 0)
    if first is not None:  # both of a pair take a profile velocity alike
        drive = drive & ~table.TIMED | traits[first].drive_mode & table.TIMED
    low, high = layout.limits.get(number, (0, table.TICKS - 1))
    wanted = [
        (table.DRIVE_MODE, own.drive_mode, drive),
        (table.MODE, own.mode, POSITION_MODE),
        (table.SECONDARY, own.secondary, first if first is not None else own.secondary if own.secondary >= table.NOBODY else 255),
        (table.POSITION_MIN, own.low, low),
        (table.POSITION_MAX, own.high, high),
        (table.RETURN_DELAY, round(own.return_delay / table.DELAY_UNIT), 0),
    ]
    if layout.velocity_limit:
        wanted.append((table.VELOCITY_LIMIT, own.velocity_limit, layout.velocity_limit))
    return (Change(number, register, old, new) for register, old, new in wanted if old != new)


def unevenness(bus: DynamixelBus, driver: DriverConfig) -> list[Change]:
    """Homing offsets with which shadows stand where the servos do that they follow.

    Raises:
        DeskhandError: ``servo_fault`` for a pair that no homing offset can even; ``device_unavailable``.
    """
    wanted = []
    for shadow, first in driver.dynamixel.shadows.items():
        here = bus.read_positions([first, shadow])
        if len(here) < 2:
            raise DeskhandError("device_unavailable", f"servos {first} and {shadow} do not both answer.", retry=True)
        apart, old = here[shadow] - here[first], _traits(bus, shadow).homing
        if abs(apart) <= UNEVEN:
            continue
        if abs(old - apart) > FARTHEST:
            said = f"servos {first} and {shadow} turn one joint and stand {abs(apart)} ticks apart, more than a homing offset can even."
            raise DeskhandError("servo_fault", said, hint="Is a horn screwed on wrongly, or does one have another's id?")
        wanted.append(Change(shadow, table.HOMING, old, old - apart))
    return wanted


def _traits(bus: DynamixelBus, number: int) -> Traits:
    traits = bus.traits(number)
    if traits is None:
        raise DeskhandError("device_unavailable", f"servo {number} does not answer.", retry=True)
    return traits
