"""The JetArm's own steps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from deskhand.arms.config import load_arm
from deskhand.arms.unit import UnitCalibration
from deskhand.first_day.base import Day, Step
from deskhand.first_day.dry_run import arm_driver


def calibrate(day: Day) -> Mapping[str, Any]:
    """Servo offsets, link lengths and the gripper's widths; writes the unit's arm file."""
    with arm_driver(day, hold=False) as driver:
        data = UnitCalibration(driver, day.operator, time.sleep).run()
    data.write(load_arm(day.arm), day.arm_file)
    return {"offsets_degrees": data.offsets, "lengths_m": data.geometry, "gripper": data.table}


STEPS = (Step("unit", "the arm's zeros, lengths and gripper are measured", 15.0, calibrate, seen="my arm.yaml in the unit's folder"),)
