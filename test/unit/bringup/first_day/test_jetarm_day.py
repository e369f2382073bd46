"""The JetArm's own steps of the first day, on an emulated controller board whose servos sit anyhow, with a person who answers by key."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("serial")

from deskhand.arms import unit
from deskhand.arms.config import load_arm
from deskhand.arms.emulate.bank import Emulator, make_servos
from deskhand.arms.emulate.choice import make_emulator, standing
from deskhand.arms.model import RobotModel
from deskhand.bringup.first_day import jetarm, services
from deskhand.bringup.first_day.base import Day
from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError

ARM = load_arm("jetarm")
OFF = np.radians([2.0, -3.5, 1.5, 4.0, -2.5])  # by which the horns of this unit sit wrongly
UPRIGHT = {
    joint: ARM.driver.servos[joint].pulse_of(angle - off) for joint, angle, off in zip(ARM.joints, ARM.named_poses[ARM.driver.reference], OFF, strict=True)
}
"""Pulses of this unit's servos when it really is upright."""
NARROWER = 0.002  # [m] by which its pads are nearer than the file says
SYSTEMCTL = """#!/bin/sh
state="$(cat {state})"
if [ "$1" = is-active ]; then [ "$state" = on ] && echo active || echo inactive; fi
if [ "$1" = is-enabled ]; then [ "$state" = on ] && echo enabled || echo disabled; fi
"""


class Person:
    """Answers by key; hands that move an arm which holds would break it."""

    def __init__(self, arm: Emulator, state: Path) -> None:
        self.arm, self.state, self.said, self.asked = arm, state, [], []
        self.no: set[str] = set()
        self.stops_service = True

    def say(self, text: str) -> None:
        self.said.append(text)

    def act(self, key: str, text: str) -> None:
        self.asked.append(key)
        assert key == "service.stop" and "sudo systemctl disable --now start_app_node.service" in text
        if self.stops_service:
            self.state.write_text("off")

    def confirm(self, key: str, text: str) -> bool:
        self.asked.append(key)
        if key == "offsets.pose":
            for joint, pulse in UPRIGHT.items():
                servo = self.arm.servos[ARM.driver.servos[joint].id]
                assert not servo.torque, f"hands were to turn {joint}, whose servo holds"
                servo.shaft.position = pulse
        return key not in self.no

    def number(self, key: str, text: str, default: float | None) -> float:
        self.asked.append(key)
        if key.startswith("lengths."):
            assert default is not None
            return default + (3.0 if key == "lengths.tool" else 0.0)
        return round(1000 * (ARM.driver.gripper.width_of(self.arm.servos[10].position()) - NARROWER), 1)

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        return default


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A JetArm whose vendor's service runs; and the day of its owner."""
    monkeypatch.setattr(unit, "GRIPPER_TIME", 0.3)
    state, binaries = tmp_path / "state", tmp_path / "bin"
    state.write_text("on")
    binaries.mkdir()
    (binaries / "systemctl").write_text(SYSTEMCTL.format(state=state))
    (binaries / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{binaries}{os.pathsep}{os.environ['PATH']}")
    places = {**standing(ARM), **{ARM.driver.servos[joint].id: pulse for joint, pulse in UPRIGHT.items()}}  # about upright already: a busy machine reads late
    emulator = make_emulator("hiwonder_rrc", make_servos(places), ARM)
    with emulator:
        person = Person(emulator, state)
        today = Day("jetarm", tmp_path / "mine", person, settings={"port": emulator.path, "driver": "hiwonder_rrc"}, rehearsal=True)
        today.folder.mkdir()
        yield today, emulator, person


def test_the_whole_of_its_own_steps_measures_this_unit(day: Any) -> None:
    today, _, person = day
    for step in jetarm.STEPS:
        today.measured[step.name] = step.run(today)
    assert person.asked[0] == "service.stop" and not today.measured["vendor"]["active"]
    assert set(today.measured["servos"]["pulses"]) == {"1", "2", "3", "4", "5", "10"} and today.measured["servos"]["battery"] > 10
    mine = load_arm(str(today.arm_file))
    tick = np.degrees(ARM.resolution)
    assert [np.degrees(mine.driver.servos[joint].offset) for joint in ARM.joints] == pytest.approx(np.degrees(OFF), abs=tick)
    assert mine.geometry["tool"] == pytest.approx(ARM.geometry["tool"] + 0.003) and mine.geometry["link1"] == pytest.approx(ARM.geometry["link1"], abs=1e-4)
    for ticks, width in today.measured["gripper"]["table"]:
        assert width == pytest.approx(ARM.driver.gripper.width_of(ticks) - NARROWER, abs=0.0003) and mine.driver.gripper.width_of(ticks) == width
    assert today.measured["bracket"]["parent"] == "tcp" and "mount.wrist" not in today.settings


def test_a_camera_that_does_not_turn_with_the_hand_hangs_on_the_link_before(day: Any) -> None:
    today, _, person = day
    person.no = {"camera.turns"}
    assert jetarm.bracket(today)["parent"] == "link4"
    mount, nominal, model = load_camera(today.settings["mount.wrist"]), load_camera("wrist", "jetarm"), RobotModel.load("jetarm")
    links = model.forward(model.arm_joints([0.3, -1.8, 1.2, -0.4, 0.0]))
    assert np.allclose(links["link4"] @ mount.pose, links["tcp"] @ nominal.pose, atol=1e-5)


def test_a_vendors_service_that_still_runs_stops_the_day(day: Any) -> None:
    today, _, person = day
    person.stops_service = False
    with pytest.raises(DeskhandError, match="still runs") as caught:
        jetarm.vendor(today)
    assert caught.value.code == "device_busy" and "sudo systemctl disable --now start_app_node.service" in caught.value.hint
    person.state.write_text("off")
    assert jetarm.vendor(today)["enabled"] is False


def test_without_systemd_no_service_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert services.service("start_app_node.service") == services.Service("start_app_node.service", False, False)


def test_servos_that_are_away_low_and_hot_ones_and_a_port_in_use_are_told_apart(day: Any) -> None:
    today, arm, _ = day
    arm.servos[3].answers = False
    with pytest.raises(DeskhandError, match=r"servos \[3\] do not answer; 5 others do"):
        jetarm.servos(today)
    arm.servos[3].answers = True
    arm.servos[4].temperature = 66
    with pytest.raises(DeskhandError, match="servo 4 is at 66 degrees"):
        jetarm.servos(today)
    arm.servos[4].temperature = 30
    for servo in arm.servos.values():
        servo.supply = 9.1
    with pytest.raises(DeskhandError, match=r"has 9\.1 V; allowed are 9\.6"):
        jetarm.servos(today)
    hold = "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", hold, arm.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(DeskhandError, match=f"process {process.pid}"):
            jetarm.port(today)
        process.communicate("")
    assert jetarm.port(today)["port"] == arm.path
