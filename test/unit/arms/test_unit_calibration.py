"""``calibrate arm`` on an emulated arm whose servos sit askew: the file makes it right, nothing moves or lets go without a yes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from driven import ARM, GRIPPER, MODEL, SERVOS

from deskhand.arms.config import load_arm
from deskhand.arms.emulate.rig import Rig
from deskhand.arms.unit import UnitCalibration, UnitData
from deskhand.errors import DeskhandError

ASKEW = np.radians([3.0, -2.0, 5.0, 0.0, -8.0])  # what the servos read too little
WIDTHS = {200.0: 0.055, 300.0: 0.047, 400.0: 0.037, 500.0: 0.026, 600.0: 0.013, 700.0: 0.0}


class User:
    """Says yes to all but ``no``; puts the arm upright when asked to; reads the caliper."""

    def __init__(self, rig: Rig, no: str = "", pose: np.ndarray | None = None) -> None:
        self.rig, self.no = rig, no
        self.pose = np.array(ARM.named_poses["upright"]) if pose is None else pose
        self.asked: list[str] = []

    def say(self, text: str) -> None:
        self.asked.append(text)

    def act(self, key: str, text: str) -> None:
        raise AssertionError(key)

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        raise AssertionError(key)

    def confirm(self, key: str, text: str) -> bool:
        if key == "offsets":
            assert all(servo.torque for servo in self.rig.emulator.servos.values())
        if key == "offsets.pose":
            for config, angle in zip(SERVOS, self.pose - ASKEW, strict=True):
                servo = self.rig.emulator.servos[config.id]
                assert not servo.torque
                servo.shaft.position = config.pulse_of(angle)
            self.rig.run(0.3)
        self.asked.append(text)
        return key != self.no

    def number(self, key: str, text: str, default: float | None) -> float:
        if default is not None:
            return default + 2.0 if key == "lengths.link1" else default
        ticks = float(text.split("at ")[1].split(";", maxsplit=1)[0])
        return 1000 * float(np.interp(ticks, list(WIDTHS), list(WIDTHS.values())))


def calibrated(user: User) -> UnitData:
    return UnitCalibration(user.rig.driver, user, user.rig.run).run()


def ready() -> Rig:
    rig = Rig(MODEL, hold=False)
    assert rig.step()
    return rig


def test_the_file_makes_the_arm_right(tmp_path: Path) -> None:
    rig = ready()
    file = tmp_path / "my_arm.yaml"
    calibrated(User(rig)).write(ARM, file)
    unit = load_arm(str(file))
    assert unit.name == "jetarm" and unit.joints == ARM.joints
    for servo, joint, askew in zip(SERVOS, ARM.joints, ASKEW, strict=True):
        assert unit.driver.servos[joint].angle_of(servo.pulse_of(0.3)) == pytest.approx(0.3 + askew, abs=ARM.resolution)
        assert unit.driver.servos[joint].id == servo.id
    assert unit.geometry["link1"] == pytest.approx(ARM.geometry["link1"] + 0.002)
    assert unit.geometry["link2"] == ARM.geometry["link2"]
    assert unit.driver.gripper is not None
    for ticks, width in WIDTHS.items():
        assert unit.driver.gripper.width_of(ticks) == pytest.approx(width, abs=0.001)
    assert all(servo.torque for servo in rig.emulator.servos.values())


def test_without_a_yes_nothing_moves_or_lets_go() -> None:
    rig = ready()
    before = {number: servo.position() for number, servo in rig.emulator.servos.items()}
    user = User(rig)
    user.confirm = lambda key, text: False  # type: ignore[method-assign]
    with pytest.raises(DeskhandError, match="nothing was measured"):
        calibrated(user)
    rig.run(1.0)
    assert {number: servo.position() for number, servo in rig.emulator.servos.items()} == before
    assert all(servo.torque for servo in rig.emulator.servos.values())


def test_the_gripper_moves_slowly() -> None:
    rig = ready()
    finger, fastest, last = rig.emulator.servos[GRIPPER.id], 0.0, [200.0, 0.0]
    step = rig.step

    def watched() -> bool:
        nonlocal fastest
        there, now = step(), rig.clock()
        if now > last[1]:
            fastest = max(fastest, abs(GRIPPER.width_of(finger.position()) - GRIPPER.width_of(last[0])) / (now - last[1]))
        last[:] = [finger.position(), now]
        return there

    rig.step = watched  # type: ignore[method-assign]
    calibrated(User(rig, no="offsets"))
    assert 0 < fastest < 0.02


def test_a_wrong_pose_is_no_calibration_and_the_arm_holds_again() -> None:
    rig = ready()
    with pytest.raises(DeskhandError, match="degrees") as caught:
        calibrated(User(rig, pose=np.array(ARM.named_poses["upright"]) + np.array([0, 0.5, 0, 0, 0])))
    assert caught.value.code == "invalid_input"
    assert all(servo.torque for servo in rig.emulator.servos.values())


def test_an_arm_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    UnitData(offsets={"joint1": 1.0}).write(ARM, file)
    first = load_arm(str(file))
    assert load_arm(str(file)) is first
    UnitData(offsets={"joint1": 2.25}).write(ARM, file)
    assert np.degrees(load_arm(str(file)).driver.servos["joint1"].offset) == pytest.approx(2.25)
