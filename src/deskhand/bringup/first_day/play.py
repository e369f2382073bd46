"""How much each joint plays beyond its servo, by a ruler: what no encoder sees, and what the driver then allows for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deskhand.arms.backlash_by_ruler import PlayByRuler
from deskhand.arms.config import load_arm
from deskhand.arms.unit import UnitData
from deskhand.bringup.first_day.base import Day
from deskhand.bringup.first_day.dry_run import arm_driver


def run(day: Day) -> Mapping[str, Any]:
    """Ask for the play of every joint; ``backlash`` of each servo into the unit's file.

    Raises:
        DeskhandError: as PlayByRuler; ``config_error`` when the file cannot be written.
    """
    with arm_driver(day) as driver:
        measured = PlayByRuler(driver, day.operator).run()
    backlash = {joint: round(float(np.degrees(each.backlash)), 2) for joint, each in measured.items()}
    day.arm_file.parent.mkdir(parents=True, exist_ok=True)
    UnitData(backlash=backlash).write(load_arm(day.arm), day.arm_file, keep=True)
    return {
        "backlash_degrees": backlash,
        "by_ruler_degrees": {joint: round(float(np.degrees(each.whole)), 2) for joint, each in measured.items()},
        "seen_by_encoder_degrees": {joint: round(float(np.degrees(each.seen)), 2) for joint, each in measured.items()},
        "uncertain_degrees": round(float(np.degrees(max(each.uncertain for each in measured.values()))), 2),
    }
