"""How an arm's servos are driven: the ``driver`` section of ``config/arms/<arm>.yaml``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SERVO_BUSES = ("hiwonder_rrc", "lx16a", "feetech", "dynamixel")
"""Kinds of drivers that are ours (arms/bus); an arm of the kind ``ros2_control`` is served by its vendor's hardware interface."""
MOST_BACKLASH = 6.0  # [degrees]
KINDS = (*SERVO_BUSES, "ros2_control")
VENDORS = ("interbotix_xs",)
"""Vendors whose nodes the bring-up knows (bringup.py)."""


@dataclass(frozen=True)
class ServoConfig:
    """A servo of a joint: it stands at tick ``zero`` when the joint is at 0, and each tick turns the joint by ``step`` [rad].

    ``offset`` [rad] is what the calibration of the unit put into ``zero``. ``range`` [ticks] is how far the joint of this unit goes; None: as far as its
    description says. ``open_loop`` [rad]: the servo answers nothing and is driven all the same, from this angle on, to which it is brought slowly when the
    arm is taken; None: it must answer. ``backlash`` [rad] is the whole play between the servo's encoder and the link, as measured on the unit.
    """

    id: int
    zero: float
    step: float
    offset: float = 0.0
    range: tuple[int, int] | None = None
    open_loop: float | None = None
    backlash: float = 0.0

    def pulse_of(self, angle: float) -> float:
        """Ticks for a joint angle [rad]; not rounded, not clamped."""
        return self.zero + angle / self.step

    def angle_of(self, pulse: float) -> float:
        """Joint angle [rad] at a position [ticks]."""
        return (pulse - self.zero) * self.step

    def narrowed(self, lower: float, upper: float, play: bool = True) -> tuple[float, float]:
        """The limits [rad] of the joint's description: less where the unit does not go as far, and with ``play`` by its play, by which a link may be beyond
        what its servo is told.
        """
        if play:
            lower, upper = lower + self.backlash / 2, upper - self.backlash / 2
        if self.range is None:
            return lower, upper
        low, high = sorted(self.angle_of(tick) for tick in self.range)
        return max(lower, low), min(upper, high)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ServoConfig:
        """From ``{id, at_0, at_1000}`` (joint angles [degrees] at these pulses) or ``{id, zero, step}`` ([ticks], [degrees]). All in degrees: ``offset`` is
        added to the angle and comes from the calibration of the unit, as ``range`` ([ticks], the smaller first) does, ``open_loop`` is the owner's word that
        a servo which answers nothing may be driven, ``backlash`` is measured.
        """
        if "at_0" in data:
            step = (math.radians(data["at_1000"]) - math.radians(data["at_0"])) / 1000
            zero = -math.radians(data["at_0"]) / step
        else:
            step, zero = math.radians(data["step"]), float(data["zero"])
        offset = math.radians(data.get("offset", 0.0))
        ends, blind = data.get("range"), data.get("open_loop")
        goes = None if ends is None else (int(ends[0]), int(ends[1]))
        backlash = math.radians(data.get("backlash", 0.0))
        return cls(int(data["id"]), zero - offset / step, step, offset, goes, None if blind is None else math.radians(blind), backlash)


@dataclass(frozen=True)
class GripperServo:
    """The servo of the gripper.

    Attributes:
        table: (ticks, distance of the pads [m]), at least two rows; between them it is interpolated. Measured on the unit.
        squeeze: ticks beyond where it stalled, with which it holds an object at full force. More only heats the servo.
    """

    id: int
    table: tuple[tuple[float, float], ...]
    squeeze: float

    def ticks_of(self, width: float) -> float:
        """Position [ticks] for a distance of the pads [m]; clamped to the table."""
        rows = sorted(self.table, key=lambda row: row[1])
        return float(np.interp(width, [row[1] for row in rows], [row[0] for row in rows]))

    def width_of(self, ticks: float) -> float:
        """Distance of the pads [m] at a position [ticks]; clamped to the table."""
        rows = sorted(self.table)
        return float(np.interp(ticks, [row[0] for row in rows], [row[1] for row in rows]))

    @property
    def closing(self) -> float:
        """+1 when more ticks close, else -1."""
        rows = sorted(self.table)
        return 1.0 if rows[-1][1] < rows[0][1] else -1.0


@dataclass(frozen=True)
class DynamixelLayout:
    """What Dynamixel servos must have been told for good (EEPROM) to be this arm's; ``driver.dynamixel``.

    Attributes:
        shadows: second servos of joints that have two: by its id, the id of the one that it follows (its Secondary ID).
        reversed: ids of all servos that count backwards (Drive Mode, bit 0); None: not known, not checked.
        output: share of its output that a servo may use, by id; all of it for those not named. TaskEnd at each start, not for good.
        limits: (least, greatest) goal [ticks] by id, of those that have any.
        velocity_limit: [units of 0.229 turns a minute] of all of them; 0: not known.
    """

    shadows: Mapping[int, int] = field(default_factory=dict)
    reversed: frozenset[int] | None = None
    output: Mapping[int, float] = field(default_factory=dict)
    limits: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    velocity_limit: int = 0

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> DynamixelLayout:
        """From the section, in which nothing is wrong."""
        output = {int(servo): float(share) for servo, share in data.get("output", {}).items()}
        turned = frozenset(map(int, data["reversed"])) if "reversed" in data else None
        limits = {int(servo): (int(low), int(high)) for servo, (low, high) in data.get("limits", {}).items()}
        shadows = {int(servo): int(first) for servo, first in data.get("shadows", {}).items()}
        return cls(shadows, turned, output, limits, int(data.get("velocity_limit", 0)))


@dataclass(frozen=True)
class HealthLimits:
    """Temperatures [degrees C]: from ``warm`` on the arm slows down, at ``hot`` it stops; voltages [V] between which it may move."""

    warm: float = 60.0
    hot: float = 70.0
    low: float = 0.0
    high: float = 100.0


@dataclass(frozen=True)
class DriverConfig:
    """The ``driver`` section.

    Attributes:
        kinds: drivers that can serve this arm, the usual one first.
        port, baud: of the bus; baud 0: what the bus has by itself.
        ticks: range of the servos' positions.
        fastest: [ticks/s] that no servo exceeds; what moves faster was misread.
        servos: by joint.
        period: [s] between commands along a trajectory.
        lookahead: [s] ahead of now, where each command sends the arm.
        reference: named pose into which the arm is put by hand when it is calibrated.
        path_tolerance, goal_tolerance: [rad] when a goal names none.
        vendor: whose nodes serve the kind ``ros2_control``, one of :data:`VENDORS`; empty: none that must be started.
        dynamixel: for the kind ``dynamixel``.
    """

    kinds: tuple[str, ...]
    port: str = ""
    baud: int = 0
    ticks: tuple[int, int] = (0, 1000)
    fastest: float = 2000.0
    servos: Mapping[str, ServoConfig] = field(default_factory=dict)
    gripper: GripperServo | None = None
    health: HealthLimits = field(default_factory=HealthLimits)
    period: float = 0.06
    lookahead: float = 0.12
    reference: str = "upright"
    path_tolerance: float = 0.3
    goal_tolerance: float = 0.03
    vendor: str = ""
    dynamixel: DynamixelLayout = field(default_factory=DynamixelLayout)


def read_driver(data: Mapping[str, Any]) -> DriverConfig:
    """The section as a configuration. It must be sound: what is wrong with a file is found before (arm_file.py)."""
    values = dict(data)
    servos = {joint: ServoConfig.read(servo) for joint, servo in values.pop("servos", {}).items()}
    gripper = values.pop("gripper", None)
    if gripper is not None:
        table = tuple(sorted((float(ticks), float(width)) for ticks, width in gripper["table"]))
        gripper = GripperServo(int(gripper["id"]), table, float(gripper["squeeze"]))
    if "dynamixel" in values:
        values["dynamixel"] = DynamixelLayout.read(values["dynamixel"])
    health = HealthLimits(**values.pop("health", {}))
    if "ticks" in values:
        values["ticks"] = (int(values["ticks"][0]), int(values["ticks"][1]))
    return DriverConfig(tuple(values.pop("kinds")), servos=servos, gripper=gripper, health=health, **values)
