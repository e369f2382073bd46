"""The step that measures play: a person with a ruler at an emulated arm that holds; what the encoders see is no part of it."""

from __future__ import annotations

import time

import numpy as np
import pytest

from deskhand.arms import backlash_by_ruler as play_by_ruler
from deskhand.arms.backlash_by_ruler import lever_of, travel
from deskhand.arms.config import load_arm
from deskhand.arms.emulate.reality import load_reality
from deskhand.arms.model import RobotModel
from deskhand.bench.rehearsal.hands import hands_of
from deskhand.bench.rehearsal.nodes import RehearsedNodes
from deskhand.bench.rehearsal.person import Person
from deskhand.bench.rehearsal.unit import Unit
from deskhand.bringup.first_day import play, wx250s
from deskhand.bringup.first_day.base import Day
from deskhand.errors import DeskhandError


@pytest.fixture
def rehearsed(tmp_path, monkeypatch):
    """Makes a day at an emulated arm."""
    monkeypatch.setattr(play_by_ruler, "RESTS", 0.2)
    made = []

    def make(arm="jetarm"):
        person = Person(lambda _text: None)
        day = Day(arm, tmp_path, person, settings={"port": str(tmp_path / "port"), "driver": load_arm(arm).driver.kinds[0]}, rehearsal=True)
        nodes = day.workplace = RehearsedNodes(day, Unit(arm, tmp_path / "rehearsal", seed=3), day.settings["port"])
        person.stand_at(nodes, hands_of(arm, nodes))
        nodes.servos.open()
        made.append(nodes)
        return day

    yield make
    for nodes in made:
        nodes.close()


@pytest.mark.parametrize("arm", ["jetarm", "wx250s"])
def test_the_unit_file_has_the_play_of_each_joint_as_a_ruler_shows_it(rehearsed, arm):
    day = rehearsed(arm)
    if arm == "wx250s":
        wx250s.registers(day)  # its gripper comes in a mode in which the driver refuses it
    before = day.workplace.servos.angles()
    day.arm_file.write_text(f"extends: {arm}\ndriver: {{servos: {{{load_arm(arm).joints[1]}: {{offset: 1.25}}}}}}\n")
    told = play.run(day)
    found, true = load_arm(str(day.arm_file)).driver.servos, day.workplace.unit.plays
    ruler = np.radians(told["uncertain_degrees"]) * 2
    assert ruler < np.radians(1.2)
    for joint, whole in true.items():
        assert found[joint].backlash == pytest.approx(whole, abs=ruler), joint
    if arm == "jetarm":
        off = [abs(found[joint].backlash - whole) for joint, whole in true.items()]
        assert np.median(off) < np.radians(0.25) and min(found[joint].backlash for joint in true) > np.radians(0.4)
    assert found[load_arm(arm).joints[1]].offset == pytest.approx(np.radians(1.25)), "what the file said before stays"
    assert day.workplace.servos.angles() == pytest.approx(before, abs=0.01), "nothing moved"


def test_what_the_encoder_saw_is_taken_off(rehearsed):
    """A push that the servo gave way to is no play: here half of what the ruler shows."""

    def pushed(key, _text, _default):
        servo = day.workplace.servos.emulator.servos[2]
        here = servo.position()
        if key.endswith("joint2"):
            for goal in (here + 4, here):  # pulses of 0.24 degrees
                servo.move(goal, 0.1)
                time.sleep(0.4)
        return 4.5  # mm

    day = rehearsed()
    day.operator._answers["play.way."] = pushed
    day.operator._answers["play.at."] = lambda *_: 130.0
    told = play.run(day)
    assert told["by_ruler_degrees"]["joint2"] == pytest.approx(1.98, abs=0.02)
    assert told["seen_by_encoder_degrees"]["joint2"] == pytest.approx(0.96, abs=0.25) and told["seen_by_encoder_degrees"]["joint3"] < 0.1
    assert told["backlash_degrees"]["joint2"] == pytest.approx(1.02, abs=0.25) and told["backlash_degrees"]["joint3"] == pytest.approx(1.98, abs=0.1)


@pytest.mark.parametrize(
    ("answers", "code", "said"),
    [
        ({"play.hold": False}, "cancelled", "not measured"),
        ({"play.way.": 26.0}, "invalid_input", "degrees of play; 0 to 6 can be"),
        ({"play.way.": -1.0}, "invalid_input", "degrees of play"),
        ({"play.at.": 12.0}, "invalid_input", "12 mm from the axis"),
    ],
)
def test_what_no_play_can_be_is_refused_and_nothing_is_written(rehearsed, answers, code, said):
    day = rehearsed()
    for key, value in answers.items():
        day.operator._answers[key] = lambda *_, value=value: value
    with pytest.raises(DeskhandError, match=said) as caught:
        play.run(day)
    assert caught.value.code == code and not day.arm_file.exists()


def test_less_than_a_ruler_tells_from_none_is_none(rehearsed):
    day = rehearsed()
    day.operator._answers["play.way."] = lambda *_: 0.5
    assert set(play.run(day)["backlash_degrees"].values()) == {0.0}
    assert all(servo.backlash == 0 for servo in load_arm(str(day.arm_file)).driver.servos.values())


def test_the_point_to_watch_shows_the_play_of_one_joint_alone():
    arm = RobotModel.load("jetarm")
    upright = np.array(arm.arm.named_poses["upright"])
    levers = [lever_of(arm, upright, index) for index in range(5)]
    assert [round(lever.length, 3) for lever in levers] == [0.100, 0.129, 0.129, 0.171, 0.100]
    assert "stick" in levers[0].where and "joint3" in levers[1].where and "finger tips" in levers[3].where and "stick" in levers[4].where
    ahead = upright + np.array([0.0, 1.2, 0.0, 0.0, 0.0])  # leaning forward
    assert lever_of(arm, ahead, 0).where == "at the finger tips", "joints that bend up and down do not move a point sideways"
    for name in ("so101", "wx250s"):
        model = RobotModel.load(name)
        rng = np.random.default_rng(0)
        limits = np.array([model.limits[joint][:2] for joint in model.arm.joints])
        for _ in range(20):
            angles = rng.uniform(limits[:, 0], limits[:, 1])
            for index in range(len(angles)):
                lever = lever_of(model, angles, index)
                assert 0.06 <= lever.length < 0.7


def test_an_encoder_that_flickers_has_not_moved():
    rng = np.random.default_rng(2)
    step = np.radians(0.24)
    still = list(step * (rng.random(40) < 0.15))
    assert travel(still) == 0.0 and travel([]) == 0.0
    assert travel(still + [0.05] * 20 + still) == pytest.approx(0.05)


def test_servos_may_play_each_for_itself(tmp_path):
    file = tmp_path / "servos.yaml"
    file.write_text("{backlash: 1.5, plays: {2: 0.5}}")
    reality = load_reality(str(file))
    assert [np.degrees(reality.backlash_of(number)) for number in (1, 2)] == pytest.approx([1.5, 0.5])
    file.write_text("plays: {2: 50}")
    with pytest.raises(DeskhandError, match="backlash must be 0 to 10"):
        load_reality(str(file))
