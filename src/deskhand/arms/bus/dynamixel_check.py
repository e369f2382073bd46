"""Whether Dynamixel servos are what an arm's configuration says: they would turn the wrong way or work against each other otherwise."""

from __future__ import annotations

from deskhand.arms.bus import dynamixel_table as table
from deskhand.arms.bus.dynamixel_table import Traits
from deskhand.arms.driver_config import DynamixelLayout
from deskhand.errors import DeskhandError

APART = 34  # [ticks] (3 degrees) between a servo and its shadow, from which on the two work against each other too hard
UNEVEN = 12  # [ticks] (1 degree) from which on that is said
FIRST_DAY = "The step registers of `deskhand first-day` sets it, with the torque off."
CLEAR = (
    "Take away what blocks or heats it and hold the arm: the servo has let go. Then restart it: `deskhand first-day` offers to, or switch the arm's supply "
    "off and on."
)


def error_text(status: int) -> str:
    """A hardware error status in words, with what to do."""
    what = f"{table.fault_text(status) or 'a fault'} (hardware error {status})"
    return f"{what}; it has let go until it is restarted, by `deskhand first-day` or by switching the arm's supply off and on while the arm is held"


def check_error(servo: int, status: int | None) -> None:
    """Raises ``servo_fault`` for a servo that has shut itself down."""
    if status:
        said = f"servo {servo} has let go: {table.fault_text(status) or 'a fault'} (hardware error {status})."
        raise DeskhandError("servo_fault", said, retry=True, hint=CLEAR)


def check_servo(servo: int, traits: Traits, layout: DynamixelLayout) -> None:
    """Raises ``servo_fault`` for one that does not go to positions, or counts the wrong way."""
    if traits.mode not in table.POSITION_MODES:
        said = f"servo {servo} is in operating mode {table.mode_text(traits.mode)}, not in one of position control."
        raise DeskhandError("servo_fault", said, hint=f"It must be 3 (position). {FIRST_DAY}")
    if layout.reversed is not None and traits.reversed != (servo in layout.reversed):
        way = "forwards" if servo in layout.reversed else "backwards"
        said = f"servo {servo} counts {way} (drive mode {traits.drive_mode}), which this arm's does not: its joint would turn the wrong way."
        raise DeskhandError("servo_fault", said, hint=f"Bit 0 of its drive mode must be {int(servo in layout.reversed)}. {FIRST_DAY}")


def check_pair(servo: int, traits: Traits, shadow: int, other: Traits) -> None:
    """Raises ``servo_fault`` unless a servo and its shadow take every command alike and turn against each other: they face each other on one joint."""
    if other.secondary != servo:
        follows = f"servo {other.secondary}" if other.secondary < table.NOBODY else "nobody"
        said = f"servo {shadow} follows {follows} instead of servo {servo}, with which it turns one joint."
        raise DeskhandError("servo_fault", said, hint=f"Its secondary id must be {servo}. {FIRST_DAY}")
    meaning = "meaning of the profile velocity (bit 2 of the drive mode)"
    for what, one, two in (("operating mode", traits.mode, other.mode), (meaning, traits.timed, other.timed)):
        if one != two:
            said = f"servos {servo} and {shadow} turn one joint and differ in their {what}: {int(one)} and {int(two)}."
            raise DeskhandError("servo_fault", said, hint=f"Both must have the same. {FIRST_DAY}")
    if traits.reversed == other.reversed:
        said = f"servos {servo} and {shadow} face each other on one joint and count the same way: they would work against each other."
        raise DeskhandError("servo_fault", said, hint=f"Bit 0 of the drive mode of one must be 1. {FIRST_DAY}")


def check_apart(servo: int, shadow: int, apart: int) -> None:
    """Raises ``servo_fault`` when a shadow stands too many ticks away from the servo that it follows; ``apart``: its position less that of the other."""
    if abs(apart) > APART:
        said = f"servos {servo} and {shadow} turn one joint, but stand {abs(apart)} ticks apart: they would work against each other."
        raise DeskhandError("servo_fault", said, hint=f"The homing offset of servo {shadow} must be {-apart:+d} from what it is. {FIRST_DAY}")
