"""The SO-101's steps of a first day on a pseudo-terminal, one after the other, as the runner takes them; and `calibrate arm`, which asks the same person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deskhand.arms.bus import feetech_setup
from deskhand.arms.bus.feetech_setup import FeetechSetup
from deskhand.arms.config import load_arm
from deskhand.arms.emulate.so101_box import BoxedSo101, Owner
from deskhand.arms.feetech_unit import calibrate
from deskhand.arms.model import RobotModel
from deskhand.bringup.first_day.base import Day
from deskhand.bringup.first_day.common import steps_of
from deskhand.bringup.first_day.so101 import STEPS
from deskhand.errors import DeskhandError

MODEL = RobotModel.load("so101")


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BoxedSo101]:
    monkeypatch.setattr(feetech_setup, "SCAN", 0.4)
    box = BoxedSo101(MODEL, seed=5, link=str(tmp_path / "port"))
    with box.emulator:
        yield box


def test_from_the_box_to_a_unit_that_the_driver_reads_right(box: BoxedSo101, tmp_path: Path) -> None:
    owner = Owner(box)
    day = Day("so101", tmp_path, owner, settings={"port": str(tmp_path / "port"), "driver": "feetech"}, rehearsal=True)
    for step in STEPS:
        day.measured[step.name] = json.loads(json.dumps(step.run(day)))  # as the journal keeps it
    assert all(owner.knows(key) for key in owner.asked)
    assert np.abs(list(day.measured["check"]["degrees_off"].values())).max() < 5  # the pose was shown by eye
    unit, truth = load_arm(str(day.arm_file)), box.truth()
    for joint in unit.joints:
        assert (unit.driver.servos[joint].zero - truth["servos"][joint]["zero"]) * 360 / 4096 == pytest.approx(0, abs=0.5)
    assert unit.driver.gripper is not None
    for ticks, width in truth["gripper"]["table"]:
        if unit.driver.gripper.table[0][0] <= ticks <= unit.driver.gripper.table[-1][0]:
            assert unit.driver.gripper.width_of(ticks) == pytest.approx(width, abs=0.002)
    # nothing is planned beyond what this unit reaches
    model = RobotModel.load(unit)
    for joint in ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex"):
        low, high = np.radians(day.measured["ranges"]["degrees"][joint])
        assert low - 0.002 <= model.limits[joint][0] and model.limits[joint][1] <= high + 0.002
    file = json.loads((tmp_path / "lerobot.json").read_text())
    again = tmp_path / "again.yaml"
    bus = FeetechSetup(str(tmp_path / "port"))
    bus.open()
    calibrate(MODEL, bus, owner, again, lerobot=tmp_path / "lerobot.json")
    bus.close()
    assert file["gripper"]["id"] == 6
    assert load_arm(str(again)).driver.servos["elbow_flex"].zero == unit.driver.servos["elbow_flex"].zero


def test_an_arm_in_another_pose_is_found_out(box: BoxedSo101, tmp_path: Path) -> None:
    """A unit's file that was made for another arm."""
    owner = Owner(box)
    day = Day("so101", tmp_path, owner, settings={"port": str(tmp_path / "port"), "driver": "feetech"}, rehearsal=True)
    steps = {step.name: step for step in STEPS}
    steps["ids"].run(day)
    with pytest.raises(DeskhandError) as caught:
        steps["check"].run(day)  # nothing was homed
    assert caught.value.code == "calibration_failed"


def test_the_first_day_of_an_so101_has_these_steps() -> None:
    assert [step.name for step in steps_of("so101")][1:8] == ["port", "ids", "settings", "homing", "ranges", "gripper", "check"]
