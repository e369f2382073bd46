"""The unit's file of an arm of Feetech servos: `deskhand calibrate arm`, and the steps of a first day (bringup/first_day/so101.py)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from deskhand.arms.bus.feetech_setup import FeetechSetup
from deskhand.arms.feetech_arm import FeetechArm, Travel
from deskhand.arms.feetech_ids import GRIPPER, Numbering
from deskhand.arms.jaw_table import measure_jaw
from deskhand.arms.lerobot_file import read_lerobot, write_lerobot
from deskhand.arms.model import RobotModel
from deskhand.arms.operator import Operator
from deskhand.arms.unit import UnitData


def write_joints(arm: FeetechArm, travels: Mapping[str, Travel], zeros: Mapping[str, float], path: Path) -> UnitData:
    """Zeros and ranges into the unit's file, which keeps what it says of the gripper."""
    ends = {joint: (travels[joint].low, travels[joint].high) for joint in arm.model.arm.joints if joint not in arm.free}
    data = UnitData(zeros=dict(zeros), ranges=ends)
    data.write(arm.model.arm, path, keep=True)
    return data


def write_jaw(arm: FeetechArm, path: Path) -> list[tuple[float, float]]:
    """Measure the gripper; its table into the unit's file, which keeps the rest."""
    table = measure_jaw(arm.bus, arm.ids[GRIPPER], arm.operator)
    UnitData(table=table).write(arm.model.arm, path, keep=True)
    return table


def in_degrees(arm: FeetechArm, travels: Mapping[str, Travel], zeros: Mapping[str, float]) -> dict[str, list[float]]:
    """[degrees] from and to, by joint that has stops."""
    found = {}
    for joint in arm.model.arm.joints:
        if joint not in arm.free:
            ends = sorted(np.degrees((end - zeros[joint]) * arm.steps[joint]) for end in (travels[joint].low, travels[joint].high))
            found[joint] = [round(float(end), 1) for end in ends]
    return found


def calibrate(model: RobotModel, bus: FeetechSetup, operator: Operator, path: Path, lerobot: Path | None = None, save_lerobot: Path | None = None) -> None:
    """Numbers where they are missing, settings, homing, ranges, zeros, the gripper; ``lerobot`` is a calibration file in place of homing and ranges.

    Raises:
        DeskhandError: what the steps raise; the file then has what was measured before.
    """
    arm = FeetechArm(model, bus, operator)
    motors = None if lerobot is None else read_lerobot(lerobot, arm.ids)
    Numbering(model.arm, bus, operator).run()
    if motors is None:
        if operator.confirm("settings.hold", "The servos get lerobot's settings, and LET GO: the arm may fall. Is it lying, or held by you?"):
            arm.settings()
        arm.home()
        travels = arm.ranges()
        zeros = arm.zeros(travels)
    else:
        travels = arm.take(motors)
        zeros = {joint: travels[joint].middle for joint in model.arm.joints}
    write_joints(arm, travels, zeros, path)
    for joint, (low, high) in in_degrees(arm, travels, zeros).items():
        lower, upper = np.degrees(model.limits[joint][:2])
        operator.say(f"    {joint}: {low:.0f} .. {high:.0f} degrees; its description says {lower:.0f} .. {upper:.0f}")
    if save_lerobot is not None:
        write_lerobot(save_lerobot, arm.calibrations())
    write_jaw(arm, path)
