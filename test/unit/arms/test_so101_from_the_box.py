"""An SO-101 from a box of parts to calibrated, on emulated servos with horns set anyhow: what is found agrees with what they really are."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deskhand.arms.bus.choice import make_bus
from deskhand.arms.bus.feetech_setup import FeetechSetup
from deskhand.arms.config import load_arm
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.loop import LoopClock, LoopPort
from deskhand.arms.emulate.so101_box import BoxedSo101, Owner
from deskhand.arms.feetech_arm import FeetechArm, Travel
from deskhand.arms.feetech_ids import GRIPPER, Numbering
from deskhand.arms.jaw_table import measure_jaw, smooth
from deskhand.arms.lerobot_file import read_lerobot, write_lerobot
from deskhand.arms.model import RobotModel
from deskhand.arms.unit import UnitData
from deskhand.errors import DeskhandError

MODEL = RobotModel.load("so101")
ARM = MODEL.arm


class Bench:
    """A box of parts on a loop, its owner, and what they are connected by."""

    def __init__(self, seed: int = 0) -> None:
        self.clock = LoopClock()
        self.port = LoopPort(self.clock)
        self.box = BoxedSo101(MODEL, seed, self.clock, loop=self.port, sleep=self.clock.sleep)
        self.owner = Owner(self.box)
        self.bus = FeetechSetup(self.port, clock=self.clock, sleep=self.sleep)
        self.bus.open()
        self.ids = Numbering(ARM, self.bus, self.owner)
        self.arm = FeetechArm(MODEL, self.bus, self.owner)

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        time.sleep(1e-4)  # lets the owner's hands go on, which are another thread

    def numbered(self) -> Bench:
        self.ids.run()
        return self

    def homed(self) -> Bench:
        self.numbered().arm.settings()
        self.arm.home()
        return self

    def calibrated(self, path: Path) -> Bench:
        self.homed()
        travels = self.arm.ranges()
        zeros = self.arm.zeros(travels)
        ends = {joint: (travels[joint].low, travels[joint].high) for joint in ARM.joints if joint not in self.arm.free}
        UnitData(zeros=zeros, ranges=ends).write(ARM, path, keep=True)
        UnitData(table=measure_jaw(self.bus, self.arm.ids[GRIPPER], self.owner)).write(ARM, path, keep=True)
        return self

    def driver(self, unit: str) -> ArmDriver:
        model = RobotModel.load(unit)
        driver = ArmDriver(model, make_bus(model.arm.driver, "feetech", self.port, clock=self.clock), self.clock, hold=False)
        assert driver.step()
        return driver


@pytest.mark.parametrize("seed", range(4))
def test_what_the_driver_says_is_what_the_arm_does(seed: int, tmp_path: Path) -> None:
    bench = Bench(seed).calibrated(tmp_path / "arm.yaml")
    for unit in bench.box.units.values():  # the power goes and comes
        unit.power_up()
    driver = bench.driver(str(tmp_path / "arm.yaml"))
    generator = np.random.default_rng(seed)
    for _ in range(5):
        angles = generator.uniform(-1.5, 1.5, len(ARM.joints))
        for joint, angle in zip(ARM.joints, angles, strict=True):
            bench.box.turn(joint, float(angle))
        bench.box.turn(GRIPPER, float(generator.uniform(*bench.box.stops(GRIPPER))))
        for _ in range(3):  # a jump by hand is believed when it is read again
            driver.step()
        assert np.degrees(driver.joint_state().of(ARM.joints) - angles) == pytest.approx(np.zeros(len(angles)), abs=0.5)
        told = driver.arm.driver.gripper
        assert told is not None
        widths = [width for _, width in told.table]
        assert told.width_of(driver.gripper_ticks()) == pytest.approx(np.clip(bench.box.opening(), min(widths), max(widths)), abs=0.002)
    assert max(widths) > 0.095 and min(widths) < 0.006


def test_closing_the_gripper_after_the_documented_homing_closes_it(tmp_path: Path) -> None:
    """Said "reached, 2.0 mm" with the jaw 56 mm open when 2048 was taken for 0 rad."""
    bench = Bench(3).calibrated(tmp_path / "arm.yaml")
    driver = bench.driver(str(tmp_path / "arm.yaml"))
    driver.set_torque(True)
    low, high = (bench.bus.get(6, name) for name in ("min_position", "max_position"))
    for width in (ARM.gripper.width_max, 0.03, ARM.gripper.width_min):
        driver.grip(ARM.gripper.position_of(width))
        for _ in range(400):
            driver.step()
            bench.clock.sleep(0.01)
        assert bench.box.opening() == pytest.approx(max(width, 0.003), abs=0.002)
        assert low <= driver.gripper_ticks() <= high


def test_no_goal_lies_on_a_stop(tmp_path: Path) -> None:
    bench = Bench(1).calibrated(tmp_path / "arm.yaml")
    gripper = load_arm(str(tmp_path / "arm.yaml")).driver.gripper
    assert gripper is not None
    offset = bench.box.units[GRIPPER]["homing_offset"]
    shaft = bench.box.units[GRIPPER].servo.shaft
    for ticks, _ in gripper.table:
        away = min(abs(((end - offset) % 4096) - ticks) for end in (shaft.stop_low, shaft.stop_high))
        assert away >= 10


def test_all_servos_have_their_numbers_and_keep_them() -> None:
    bench = Bench().numbered()
    assert bench.owner.asked == ["ids.gripper", "ids.wrist_roll", "ids.wrist_flex", "ids.elbow_flex", "ids.shoulder_lift", "ids.shoulder_pan", "ids.all"]
    for unit in bench.box.units.values():
        unit.power_up()
    assert {name: unit.number for name, unit in bench.box.units.items()} == bench.arm.ids
    assert bench.ids.run() == bench.arm.ids and len(bench.owner.asked) == 7  # nothing is asked again


def two(bench: Bench, first: str, second: str) -> Callable[[], None]:
    return lambda: bench.box.connect((first, second))


def test_two_servos_at_once_are_refused_and_none_is_renamed() -> None:
    bench = Bench()
    bench.owner.does["ids.gripper"] = two(bench, GRIPPER, "elbow_flex")
    with pytest.raises(DeskhandError, match="two servos have one id") as caught:
        bench.numbered()
    assert caught.value.code == "device_unavailable"
    assert all(unit.number == 1 for unit in bench.box.units.values())
    bench = Bench()
    bench.owner.does["ids.wrist_flex"] = two(bench, GRIPPER, "wrist_flex")
    with pytest.raises(DeskhandError, match="servos 1, 6 answer, where only wrist_flex"):
        bench.numbered()


def test_an_empty_cable_another_servo_and_a_missing_one_are_said() -> None:
    bench = Bench()
    bench.owner.does["ids.gripper"] = lambda: bench.box.connect(())
    with pytest.raises(DeskhandError, match="no servo answers"):
        bench.numbered()
    bench = Bench()
    bench.box.units["wrist_roll"]["model"] = 2825
    bench.box.units["wrist_roll"].keep()
    with pytest.raises(DeskhandError, match="model 2825"):
        bench.numbered()
    bench = Bench()
    bench.owner.does["ids.all"] = lambda: bench.box.connect(bench.box.names[1:])
    with pytest.raises(DeskhandError, match="shoulder_pan do not answer"):
        bench.numbered()


def test_settings_are_those_of_lerobot_and_outlast_the_power() -> None:
    bench = Bench().numbered()
    bench.arm.settings()
    for name, unit in bench.box.units.items():
        unit.power_up()
        assert (unit["p"], unit["i"], unit["d"], unit["return_delay"], unit["mode"]) == (16, 0, 32, 0, 0)
        if name == GRIPPER:
            assert (unit["max_torque"], unit["protection_current"], unit["overload_torque"]) == (500, 250, 25)


def test_nothing_lets_go_without_a_yes() -> None:
    bench = Bench().numbered()
    bench.arm.settings()
    for unit in bench.box.units.values():
        unit.servo.set_torque(True)
    bench.owner.says["home.hold"] = False
    with pytest.raises(DeskhandError) as caught:
        bench.arm.home()
    assert caught.value.code == "cancelled"
    assert all(unit.servo.torque for unit in bench.box.units.values())


@pytest.mark.parametrize("raw", [0, 4094, 4095])
def test_homing_at_the_ends_of_the_turn(raw: int) -> None:
    bench = Bench().numbered()
    pose = bench.owner.pose

    def at_the_end() -> None:
        pose()
        shaft = bench.box.units["wrist_roll"].servo.shaft
        shaft.stop_low, shaft.stop_high, shaft.position = -1e9, 1e9, float(raw)

    bench.owner.does["home.pose"] = at_the_end
    offsets = bench.arm.home()
    assert -2047 <= offsets["wrist_roll"] <= 2047
    assert abs(bench.bus.get(5, "position") - 2047) <= 1


def test_a_range_that_was_not_taken_is_asked_for_again_then_refused() -> None:
    bench = Bench().homed()
    bench.owner.does["range.shoulder_pan"] = lambda: bench.box.swing("shoulder_pan", -0.5, 0.4)
    with pytest.raises(DeskhandError, match=r"shoulder_pan was turned by 5\d degrees; from stop to stop it has about 220") as caught:
        bench.arm.ranges()
    assert caught.value.code == "invalid_input" and bench.owner.asked.count("range.shoulder_pan") == 3
    bench.owner.does["range.shoulder_pan"] = lambda: bench.box.swing("shoulder_pan", -0.9, 1.92)  # a stop was not reached
    with pytest.raises(DeskhandError, match="a stop was not reached"):
        bench.arm.ranges()


def test_a_joint_that_was_homed_at_its_stop_goes_over_the_end_and_is_refused() -> None:
    bench = Bench().numbered()
    pose = bench.owner.pose

    def wrong() -> None:
        pose()
        bench.box.turn("elbow_flex", 1.69)

    bench.owner.does["home.pose"] = wrong
    bench.arm.home()
    with pytest.raises(DeskhandError, match="elbow_flex"):
        bench.arm.ranges()


def test_complaints() -> None:
    arm = Bench().arm
    assert "over the end" in arm.complaint("elbow_flex", Travel(3, 2500))
    assert "over the end" in arm.complaint("elbow_flex", Travel(900, 3000, wrapped=True))
    assert "more than" in arm.complaint("elbow_flex", Travel(500, 3600))
    assert "middle" in arm.complaint("wrist_flex", Travel(1200, 3600))
    # as on real arms
    for name, low, high in (("shoulder_pan", 884, 3320), ("shoulder_lift", 756, 3353), ("elbow_flex", 868, 3061), (GRIPPER, 1899, 3363)):
        assert arm.complaint(name, Travel(low, high)) == ""


def test_the_range_is_told_while_it_grows() -> None:
    bench = Bench().homed()
    bench.arm.ranges()
    told = [line for line in bench.owner.told if "shoulder_lift: " in line]
    assert len(told) > 5 and told[-1].strip().startswith("shoulder_lift: ")


def test_a_calibration_of_lerobot_gives_the_same_arm(tmp_path: Path) -> None:
    bench = Bench(2).calibrated(tmp_path / "arm.yaml")
    file = tmp_path / "follower.json"
    write_lerobot(file, bench.arm.calibrations())
    data = json.loads(file.read_text())
    assert set(data["wrist_roll"]) == {"id", "drive_mode", "homing_offset", "range_min", "range_max"}
    assert (data["wrist_roll"]["range_min"], data["wrist_roll"]["range_max"]) == (0, 4095)
    motors = read_lerobot(file, bench.arm.ids)
    asked = len(bench.owner.asked)
    travels = bench.arm.take(motors)
    assert len(bench.owner.asked) == asked  # the servos hold it already
    unit = load_arm(str(tmp_path / "arm.yaml"))
    for joint in ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex"):
        assert travels[joint].middle == unit.driver.servos[joint].zero
    for servo in bench.box.units.values():
        servo["homing_offset"] = 0
        servo.keep()
    bench.arm.take(motors)
    assert bench.owner.asked[-1] == "lerobot.write" and bench.arm.calibrations() == motors
    broken = replace(motors["elbow_flex"], range_max=1200)
    with pytest.raises(DeskhandError, match="elbow_flex was turned by"):
        bench.arm.take({**motors, "elbow_flex": broken})


def test_files_that_are_none_of_lerobots_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for text in ("", "[]", '{"elbow_flex": 3}', '{"elbow_flex": {"id": 3}}', json.dumps({"elbow_flex": dict.fromkeys(("id", "drive_mode"), 3)})):
        file.write_text(text)
        with pytest.raises(DeskhandError) as caught:
            read_lerobot(file, {"elbow_flex": 3})
        assert caught.value.code == "config_error"
    file.write_text(json.dumps({"elbow_flex": {"id": 4, "drive_mode": 0, "homing_offset": 0, "range_min": 800, "range_max": 3000}}))
    with pytest.raises(DeskhandError, match="elbow_flex with the ids 3"):
        read_lerobot(file, {"elbow_flex": 3})


def test_the_jaws_table_follows_its_arc() -> None:
    angles = np.linspace(-0.15, 1.7, 6)
    table = smooth([(1900 + angle * 652, ARM.gripper.width_of(angle)) for angle in angles])
    for ticks, width in table:
        assert width == pytest.approx(ARM.gripper.width_of((ticks - 1900) / 652), abs=0.0007)
    with pytest.raises(DeskhandError, match="must grow"):
        smooth([(100, 0.01), (200, 0.03), (300, 0.02), (400, 0.05)])


def test_a_jaw_that_something_holds_is_said_and_let_go() -> None:
    bench = Bench().homed()
    bench.arm.ranges()
    shaft = bench.box.units[GRIPPER].servo.shaft
    shaft.stop_low = shaft.stop_high = shaft.position
    with pytest.raises(DeskhandError, match="instead of") as caught:
        measure_jaw(bench.bus, 6, bench.owner)
    assert caught.value.code == "servo_fault"
    assert not bench.box.units[GRIPPER].servo.torque
