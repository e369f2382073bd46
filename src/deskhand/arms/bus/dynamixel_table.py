"""What Dynamixel X servos are told and tell: registers, models, faults. Source: ROBOTIS e-Manual, X series (XM430-W350, XL430-W250)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

RETURN_DELAY, DRIVE_MODE, MODE, SECONDARY, HOMING, VELOCITY_LIMIT, POSITION_MAX, POSITION_MIN = 9, 10, 11, 12, 20, 44, 48, 52
"""Kept without power, written only while the torque is off."""
TORQUE, HARDWARE_ERROR, WATCHDOG, GOAL_PWM, PROFILE, POSITION, VOLTAGE = 64, 70, 98, 100, 108, 132, 144
TRAITS = 56
"""Registers from 0 on that :class:`Traits` is read from."""
LENGTHS = {RETURN_DELAY: 1, DRIVE_MODE: 1, MODE: 1, SECONDARY: 1, HOMING: 4, VELOCITY_LIMIT: 4, POSITION_MAX: 4, POSITION_MIN: 4}
NAMES = {
    RETURN_DELAY: "return delay",
    DRIVE_MODE: "drive mode",
    MODE: "operating mode",
    SECONDARY: "secondary id",
    HOMING: "homing offset",
    VELOCITY_LIMIT: "velocity limit",
    POSITION_MAX: "greatest position",
    POSITION_MIN: "least position",
}
"""Of what may be set for good."""

REVERSED, TIMED = 1, 4
"""Bits of the drive mode: it counts backwards; the profile velocity is the time of a move, not its speed."""
POSITION_MODES = {3: "position", 4: "extended position", 5: "current-based position"}
"""Operating modes that go to positions; XL430 has no 5."""
OTHER_MODES = {0: "current", 1: "velocity", 16: "PWM"}
NOBODY = 253
"""The least secondary id that means: it follows nobody."""

SPEED_UNIT = 0.229 * 4096 / 60  # [ticks/s] of the profile velocity
LONGEST = 32737  # [ms] of a move by time
DELAY_UNIT = 2e-6  # [s] of the return delay
FULL_PWM = 885  # of the goal PWM: all of the output
WATCHDOG_UNIT = 0.02  # [s]
STRUCK = 0xFF  # what the watchdog's register reads when it has struck
TICKS = 4096  # a turn

MODELS = {1020: "XM430-W350", 1030: "XM430-W210", 1060: "XL430-W250", 1070: "XC430-W150", 1080: "XC430-W240", 1120: "XM540-W270", 1130: "XM540-W150"}
FAULTS = {1: "supply voltage", 4: "too hot", 8: "encoder", 16: "electrical shock", 32: "overload"}
"""Bits of the hardware error status; a servo that has one lets go and stays so until it is restarted."""


def fault_text(status: int) -> str:
    """Names of the faults in a hardware error status; empty for none."""
    return ", ".join(name for bit, name in FAULTS.items() if status & bit)


def mode_text(mode: int) -> str:
    """An operating mode with its name."""
    name = {**POSITION_MODES, **OTHER_MODES}.get(mode)
    return f"{mode} ({name})" if name else str(mode)


@dataclass(frozen=True)
class Traits:
    """What a servo was told for good.

    Attributes:
        return_delay: [s] that it waits before it answers.
        secondary: id of the servo that it follows; :data:`NOBODY` or more: none.
        homing: [ticks] that it adds to what it measures.
        velocity_limit: [units of 0.229 turns a minute] greatest profile velocity that it takes.
        low, high: [ticks] goals that it takes in mode 3; it ignores others.
    """

    model: int
    firmware: int
    number: int
    baud: int
    return_delay: float
    drive_mode: int
    mode: int
    secondary: int
    homing: int
    velocity_limit: int
    low: int
    high: int

    @property
    def reversed(self) -> bool:
        """It counts backwards."""
        return bool(self.drive_mode & REVERSED)

    @property
    def timed(self) -> bool:
        """Its profile velocity is a time in milliseconds."""
        return bool(self.drive_mode & TIMED)

    @property
    def name(self) -> str:
        """Of its model."""
        return MODELS.get(self.model, f"model {self.model}")

    @classmethod
    def parse(cls, data: bytes) -> Traits:
        """From the first :data:`TRAITS` registers."""
        model, firmware, number, baud, delay, drive, mode, secondary = struct.unpack("<H4xBBBBBBB", data[:13])
        (homing,) = struct.unpack("<i", data[HOMING : HOMING + 4])
        velocity, high, low = struct.unpack("<Iii", data[VELOCITY_LIMIT : POSITION_MIN + 4])
        return cls(model, firmware, number, baud, delay * DELAY_UNIT, drive, mode, secondary, homing, velocity, low, high)

    def goal(self, ticks: int) -> int:
        """The nearest goal that it takes."""
        return min(max(ticks, self.low), self.high) if self.mode == 3 else ticks

    def profile(self, distance: float, seconds: float) -> int:
        """Profile velocity for a move over ``distance`` [ticks] in ``seconds``. 0 would mean: as fast as it can."""
        if self.timed:
            return min(max(round(seconds * 1000), 1), LONGEST)
        return min(max(round(distance / max(seconds, 1e-3) / SPEED_UNIT), 1), max(self.velocity_limit, 1))
