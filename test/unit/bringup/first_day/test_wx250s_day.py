"""The WidowX 250s' own steps of the first day, on an emulated arm that came from its vendor's software, with a person who answers by key."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dynamixel_sdk")

from deskhand.arms import ports, unit
from deskhand.arms.bus.choice import make_bus
from deskhand.arms.config import load_arm
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.bank import make_servos
from deskhand.arms.emulate.choice import make_emulator, standing
from deskhand.arms.emulate.dynamixel import DynamixelEmulator
from deskhand.arms.model import RobotModel
from deskhand.bringup.first_day import wx250s
from deskhand.bringup.first_day.base import Day
from deskhand.errors import DeskhandError

ARM = load_arm("wx250s")
PWM, TIMED, REVERSED = 16, 4, 1
OFF = np.radians([1.5, -2.0, 0.8, 0.0, -1.2, 2.5])  # by which the horns of this unit sit wrongly
NARROWER = 0.001  # [m] by which its pads are nearer than the vendor's


class Person:
    """Answers by key; hands that move an arm which holds would break it."""

    def __init__(self, arm: DynamixelEmulator) -> None:
        self.arm, self.said, self.asked = arm, [], []
        self.no: set[str] = set()
        self.wrong_way: set[str] = set()

    def say(self, text: str) -> None:
        self.said.append(text)

    def act(self, key: str, text: str) -> None:
        self.asked.append(key)
        if key.startswith("sense."):
            joint = key.removeprefix("sense.")
            self.turn(joint, math.radians(-12 if joint in self.wrong_way else 12))

    def confirm(self, key: str, text: str) -> bool:
        self.asked.append(key)
        if key == "offsets.pose":
            for index, joint in enumerate(ARM.joints):
                servo = self.loose(joint)
                servo.shaft.position = ARM.driver.servos[joint].pulse_of(-OFF[index])
        return key not in self.no

    def number(self, key: str, text: str, default: float | None) -> float:
        self.asked.append(key)
        assert key.startswith("gripper.width.")
        return round(1000 * (ARM.driver.gripper.width_of(self.arm.unit(9).servo.position()) - NARROWER), 1)

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        return default

    def loose(self, joint: str) -> Any:
        servo = self.arm.unit(ARM.driver.servos[joint].id).servo
        assert not servo.torque, f"hands were to turn {joint}, whose servo holds"
        return servo

    def turn(self, joint: str, angle: float) -> None:
        self.loose(joint).shaft.position += angle / ARM.driver.servos[joint].step


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An arm as xs_sdk leaves it: profiles by time, the gripper in PWM mode; and the day of its owner."""
    monkeypatch.setattr(unit, "GRIPPER_TIME", 0.3)
    emulator = make_emulator("dynamixel", make_servos(standing(ARM)), ARM)
    assert isinstance(emulator, DynamixelEmulator)
    for each in emulator.units:
        each.power_up()
    emulator.unit(9)["mode"] = PWM
    with emulator:
        person = Person(emulator)
        yield Day("wx250s", tmp_path, person, settings={"port": emulator.path, "driver": "dynamixel"}, rehearsal=True), emulator, person


@pytest.mark.long  # the other two arms have their day in the suite
def test_the_whole_of_its_own_steps_ends_with_an_arm_that_our_driver_takes(day: Any) -> None:
    today, arm, _ = day
    arm.unit(7)["drive_mode"] = TIMED  # not reversed: somebody reset it
    arm.unit(5)["secondary_id"], arm.unit(5)["drive_mode"] = 255, REVERSED
    arm.unit(3)["homing_offset"] = 40
    arm.unit(6)["return_delay"] = 250
    for step in wx250s.STEPS:
        today.measured[step.name] = step.run(today)
    assert today.measured["servos"]["models"]["1"] == "XM430-W350" and min(today.measured["servos"]["volts"]) > 11
    assert today.measured["registers"]["written"] == 6
    told = {number: (arm.unit(number)["drive_mode"], arm.unit(number)["mode"], arm.unit(number)["secondary_id"]) for number in range(1, 10)}
    assert told[7] == (TIMED | REVERSED, 3, 255) and told[5] == (TIMED | REVERSED, 3, 4) and told[9] == (TIMED, 3, 255)
    assert arm.unit(3)["homing_offset"] == 0 and arm.unit(6)["return_delay"] == 0
    assert set(today.measured["senses"]["turned_degrees"]) == set(ARM.joints)
    assert all(11 < turned < 13 for turned in today.measured["senses"]["turned_degrees"].values())
    mine = load_arm(str(today.arm_file))
    assert [math.degrees(mine.driver.servos[joint].offset) for joint in ARM.joints] == pytest.approx(np.degrees(OFF), abs=0.15)
    assert today.measured["gripper"]["positions"] == unit.GRIPPER_STEPS >= 4
    middle = ARM.driver.gripper.ticks_of(0.03)
    assert mine.driver.gripper.width_of(middle) == pytest.approx(0.03 - NARROWER, abs=0.0006)
    driver = ArmDriver(RobotModel.load(mine), make_bus(mine.driver, "dynamixel", today.settings["port"]))
    driver.start()
    driver.wait_connected(5.0)
    assert driver.joint_state().of(ARM.joints) == pytest.approx(np.zeros(6), abs=0.01)
    driver.close()


def test_nothing_is_written_and_nothing_lets_go_without_a_yes(day: Any) -> None:
    today, arm, person = day
    arm.unit(2).store(64, b"\1")
    person.no = {"registers.write", "senses.let_go"}
    with pytest.raises(DeskhandError, match="nothing was written") as caught:
        wx250s.registers(today)
    assert caught.value.code == "cancelled" and any("servo 9: operating mode 16 (PWM) -> 3 (position)" in text for text in person.said)
    assert arm.unit(9)["mode"] == PWM and arm.unit(2).servo.torque
    with pytest.raises(DeskhandError, match="nothing was let go"):
        wx250s.senses(today)
    assert arm.unit(2).servo.torque


def test_a_servo_that_is_away_a_fault_and_a_low_supply_are_told_apart(day: Any) -> None:
    today, arm, person = day
    arm.unit(6).servo.answers = False
    with pytest.raises(DeskhandError, match=r"servos \[6\] do not answer; 8 others do"):
        wx250s.servos(today)
    arm.unit(6).servo.answers = True
    arm.unit(8)["hardware_error"] = 32
    person.no = {"servos.restart.8"}
    with pytest.raises(DeskhandError, match="servo 8 has shut itself down: overload"):
        wx250s.servos(today)
    person.no = set()
    for number in range(1, 10):
        arm.unit(number).servo.supply = 9.7
    with pytest.raises(DeskhandError, match=r"9\.7 V; allowed are 10\.0 to 14\.8 V"):
        wx250s.servos(today)
    assert arm.unit(8)["hardware_error"] == 0, "it was restarted with the person's yes"


def test_a_joint_that_counts_the_wrong_way_ends_the_day_there(day: Any) -> None:
    today, _, person = day
    person.wrong_way = {"elbow"}
    with pytest.raises(DeskhandError, match="elbow was measured to turn by -12") as caught:
        wx250s.senses(today)
    assert caught.value.code == "config_error" and "sense.forearm_roll" not in person.asked


def test_widths_that_the_linkage_cannot_have_are_refused(day: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    today, arm, person = day
    arm.unit(9)["mode"] = 3
    monkeypatch.setattr(person, "number", lambda key, text, default: {0: 60.0, 1: 55.0, 2: 50.0, 3: 40.0, 4: 30.0, 5: 20.0}[int(key.split(".")[-1])])
    with pytest.raises(DeskhandError, match="linkage"):
        wx250s.gripper(today)
    assert not today.arm_file.exists()


def test_an_adapter_that_keeps_answers_back_is_said_with_the_command(day: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    today, arm, _ = day
    timer = tmp_path / "latency_timer"
    timer.write_text("16\n")
    monkeypatch.setattr(wx250s, "LATENCY_FILE", str(timer))
    with pytest.raises(DeskhandError, match="keeps every answer back for 16 ms") as caught:
        wx250s.port(today)
    assert f"echo 1 | sudo tee {timer}" in caught.value.hint
    timer.write_text("1\n")
    assert wx250s.port(today) == {"port": arm.path, "latency_ms": 1}


def test_the_port_is_found_by_its_adapter_and_kept(day: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    today, arm, person = day
    device = os.path.realpath(arm.path)
    found = SimpleNamespace(path=device, device=device, vid=0x0403, pid=0x6014, words=lambda: device)
    monkeypatch.setattr(wx250s, "find_port", lambda operator, name, adapters: ports.find_port(operator, name, adapters, listing=lambda: [found]))
    today.settings.pop("port")
    today.rehearsal = False
    assert wx250s.port(today)["port"] == device == today.settings["port"]
    assert load_arm(str(today.arm_file)).driver.port == device and "port.right" in person.asked


@pytest.mark.parametrize("joint", ARM.joints)
def test_what_is_asked_for_is_the_joints_positive_sense(joint: str) -> None:
    """From the pose zero: upper arm up, forearm level and forward."""
    model = RobotModel.load(ARM)
    poses = [model.tcp_pose(model.arm_joints(0.2 * (np.array(ARM.joints) == joint) * sign)) for sign in (0, 1)]
    moved, turned = poses[1][:3, 3] - poses[0][:3, 3], poses[1][:3, :3] @ poses[0][:3, :3].T
    text = wx250s.SENSES[joint]
    if "left" in text:
        assert moved[1] > 0.02
    elif "forward" in text:  # the tip of the upper arm is above the joint
        elbow = [model.forward(model.arm_joints(0.2 * (np.array(ARM.joints) == joint) * sign))["upper_forearm_link"][:3, 3] for sign in (0, 1)]
        assert elbow[1][0] > elbow[0][0] + 0.02
    elif "down" in text:
        assert moved[2] < -0.01
    else:  # seen along the forearm, from behind: what was left (+y) goes up (+z)
        assert "clockwise" in text and (turned @ np.array([0.0, 1.0, 0.0]))[2] > 0.1
