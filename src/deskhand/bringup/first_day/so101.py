"""The SO-101's own steps: from servos that all are number 1 to an arm that knows its angles and its jaw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from deskhand.arms.bus.feetech_setup import FeetechSetup
from deskhand.arms.config import load_arm
from deskhand.arms.feetech_arm import FeetechArm
from deskhand.arms.feetech_ids import Numbering
from deskhand.arms.feetech_unit import in_degrees, write_jaw, write_joints
from deskhand.arms.lerobot_file import write_lerobot
from deskhand.arms.model import RobotModel
from deskhand.arms.ports import find_port
from deskhand.bringup.first_day.base import Day, Step
from deskhand.bringup.first_day.dry_run import arm_driver
from deskhand.bringup.first_day.workplace import port_of
from deskhand.errors import DeskhandError

ADAPTERS = ((0x1A86, 0x55D3), (0x1A86, 0x55D4), (0x1A86, 0x7523))
"""Of the boards that the arm is sold with."""
LEROBOT = "lerobot.json"  # in the unit's folder
NEAR = np.radians(12)  # of a pose that a person puts the arm into by eye
SHUT = 0.006  # [m] that the jaw may seem open when a hand closes it


@contextmanager
def servo_bus(day: Day) -> Iterator[FeetechSetup]:
    """The bus, open; no node has its port.

    Raises:
        DeskhandError: ``device_unavailable``, ``device_busy``, ``missing_dependency``.
    """
    if day.workplace is not None:
        day.workplace.release()
    bus = FeetechSetup(port_of(day))
    bus.open()
    try:
        yield bus
    finally:
        bus.close()


@contextmanager
def _arm(day: Day) -> Iterator[FeetechArm]:
    with servo_bus(day) as bus:
        yield FeetechArm(RobotModel.load(day.arm), bus, day.operator)


def port(day: Day) -> Mapping[str, Any]:
    """Which port the arm is on; one that was given is only opened."""
    if "port" not in day.settings:
        day.settings["port"] = find_port(day.operator, "SO-101's board", ADAPTERS).path
    with servo_bus(day):
        return {"port": port_of(day)}


def ids(day: Day) -> Mapping[str, Any]:
    """Numbers, one servo at a time."""
    with servo_bus(day) as bus:
        return {"ids": Numbering(load_arm(day.arm), bus, day.operator).run()}


def settings(day: Day) -> Mapping[str, Any]:
    """What lerobot sets."""
    if not day.operator.confirm("settings.hold", "The servos get their settings and LET GO: the arm may fall. Is it lying, or are you holding it?"):
        raise DeskhandError("cancelled", "the servos keep their settings.")
    with _arm(day) as arm:
        return {"settings": arm.settings()}


def homing(day: Day) -> Mapping[str, Any]:
    """The middle pose becomes 2047."""
    with _arm(day) as arm:
        return {"homing_offsets": arm.home()}


def ranges(day: Day) -> Mapping[str, Any]:
    """Stops and zeros; writes the unit's file, and the same for lerobot."""
    with _arm(day) as arm:
        travels = arm.ranges()
        zeros = arm.zeros(travels)
        write_joints(arm, travels, zeros, day.arm_file)
        write_lerobot(day.folder / LEROBOT, arm.calibrations())
        return {"degrees": in_degrees(arm, travels, zeros), "zeros": {joint: round(zero, 1) for joint, zero in zeros.items()}}


def gripper(day: Day) -> Mapping[str, Any]:
    """The opening at six angles."""
    with _arm(day) as arm:
        table = write_jaw(arm, day.arm_file)
    return {"opens_mm": [round(1000 * width, 1) for _, width in (table[0], table[-1])], "ticks": [round(ticks) for ticks, _ in (table[0], table[-1])]}


def check(day: Day) -> Mapping[str, Any]:
    """What the driver says with the unit's file, in a pose that the person shows; nothing moves.

    Raises:
        DeskhandError: ``calibration_failed`` naming the joint that is elsewhere.
    """
    with _arm(day) as arm:
        arm.bus.set_torque(arm.ids.values(), False)
        words = arm.pose()
    day.operator.act("check.pose", f"Put the arm by hand into its middle pose once more ({words}), but the jaw closed. Hold it.")
    with arm_driver(day, hold=False) as driver:
        pose = np.asarray(driver.arm.named_poses[driver.arm.driver.reference])
        off = driver.joint_state().of(driver.arm.joints) - pose
        table = driver.arm.driver.gripper
        opened = 0.0 if table is None else table.width_of(driver.gripper_ticks())
    worst = int(np.abs(off).argmax())
    if abs(off[worst]) > NEAR:
        raise DeskhandError(
            "calibration_failed",
            f"{load_arm(day.arm).joints[worst]} is {np.degrees(off[worst]):.0f} degrees from the pose, as the driver reads it.",
            hint="Is it the pose? Otherwise: --from homing.",
        )
    if opened > SHUT:
        raise DeskhandError("calibration_failed", f"the driver reads {1000 * opened:.0f} mm from the closed jaw.", hint="--redo gripper.")
    return {"degrees_off": {joint: round(float(np.degrees(value)), 1) for joint, value in zip(load_arm(day.arm).joints, off, strict=True)}, "closed_m": opened}


STEPS = (
    Step("port", "the arm's port is known", 2.0, port, seen="/dev/serial/by-id/usb-1a86_… with CH343 behind it"),
    Step("ids", "every servo has its own number", 12.0, ids, seen="for each servo: 1 at 1000000 baud is now 6; then all six answer"),
    Step("settings", "the servos have the settings that suit the arm", 0.5, settings, seen="no joint holds; the arm can be moved by hand"),
    Step("homing", "the middle pose is the middle of every servo's turn", 2.0, homing, seen="an offset for each servo, within 2047"),
    Step("ranges", "the stops of every joint are known, and where 0 is", 6.0, ranges, seen="five ranges of about 220, 228, 193, 206 and 110 degrees; arm.yaml"),
    Step("gripper", "the opening of the jaw is known at each angle", 4.0, gripper, seen="the jaw opens in six slow steps; from about 3 to 100 mm"),
    Step("check", "the driver reads the pose that the arm is in", 1.0, check, seen="every joint within a few degrees of the pose shown by eye"),
)
