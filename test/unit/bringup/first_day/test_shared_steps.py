"""The steps that all arms share, on emulated servos with a person who sees what really happens."""

import numpy as np
import pytest
import yaml

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.bench.rehearsal.hands import hands_of
from deskhand.bench.rehearsal.nodes import RehearsedNodes
from deskhand.bench.rehearsal.person import Person
from deskhand.bench.rehearsal.unit import Unit
from deskhand.bringup.first_day import camera, dry_run, envelope, pick, system
from deskhand.bringup.first_day.base import Day
from deskhand.errors import DeskhandError
from deskhand.geometry import identity
from deskhand.safety.settings import load_safety
from deskhand.types import CameraIntrinsics, Frame, SceneObject


class Answers:
    """A person who answers from a mapping, by the usual value else."""

    def __init__(self, **given):
        self.given, self.said = {key.replace("__", "."): value for key, value in given.items()}, []

    def say(self, text):
        self.said.append(text)

    def act(self, key, text):
        """Done."""

    def confirm(self, key, text):
        return self.given.get(key, True)

    def number(self, key, text, default):
        return self.given.get(key, default)

    def choose(self, key, text, options, default):
        return self.given.get(key, default)


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    """Makes a day on an emulated JetArm; what is given is written over how it really is."""
    monkeypatch.setattr(dry_run, "SECONDS", 0.4)
    made = []

    def make(**servos):
        unit = Unit("jetarm", tmp_path / "rehearsal", seed=3)
        unit.data["driver"]["servos"].update(servos)
        shown = []
        person = Person(shown.append)
        day = Day("jetarm", tmp_path, person, settings={"port": str(tmp_path / "port"), "driver": "hiwonder_rrc"}, rehearsal=True)
        nodes = day.workplace = RehearsedNodes(day, unit, day.settings["port"])
        person.stand_at(nodes, hands_of("jetarm", nodes))
        nodes.servos.open()
        made.append(nodes)
        return day

    yield make
    for nodes in made:
        nodes.close()


def test_every_joint_is_moved_and_seen_to_move_as_announced(emulated):
    day = emulated()
    moved = dry_run.run(day)["moved_degrees"]
    assert list(moved) == list(load_arm("jetarm").joints)
    assert all(4 < abs(angle) < 8 for angle in moved.values())
    servos = day.workplace.servos
    assert all(servo.torque for servo in servos.emulator.servos.values()), "the arm is held when the step has ended"


def test_a_joint_that_turns_the_wrong_way_is_caught_at_that_joint(emulated):
    day = emulated(joint5={"at_0": 120, "at_1000": -120})
    with pytest.raises(DeskhandError, match="joint5 does not move as the arm's file says") as caught:
        dry_run.run(day)
    assert caught.value.code == "config_error"


def test_nothing_moves_without_a_yes(emulated):
    day = emulated()
    before = day.workplace.servos.angles()
    day.operator = Answers(dry_run__start=False)
    with pytest.raises(DeskhandError, match="nothing was moved"):
        dry_run.run(day)
    assert day.workplace.servos.angles() == pytest.approx(before)


def test_a_joint_that_is_blocked_is_said(emulated):
    day = emulated()
    shaft = day.workplace.servos.emulator.servos[1].shaft
    shaft.stop_low = shaft.stop_high = shaft.position
    with pytest.raises(DeskhandError) as caught:
        dry_run.run(day)
    assert caught.value.code in ("servo_fault", "controller_failed", "timeout")


def test_directions_are_those_that_a_person_behind_the_arm_sees():
    model = RobotModel.load("wx250s")
    ahead = np.array([0, 0, 0, 0, 0, 0], dtype=float)  # forearm level, straight ahead
    assert dry_run.direction(model, ahead, 0, 0.1) == "the fingers move to the left"
    assert dry_run.direction(model, ahead, 0, -0.1) == "the fingers move to the right"
    assert dry_run.direction(model, ahead, 4, 0.1) == "the fingers move down"
    assert dry_run.direction(model, ahead, 5, 0.1) == "the gripper turns clockwise, seen along the fingers"
    assert dry_run.direction(model, ahead, 5, -0.1) == "the gripper turns counter-clockwise, seen along the fingers"


def test_the_envelope_is_what_the_person_measured_and_the_nodes_are_given_it(tmp_path):
    person = Answers(
        safety__front=45.0, safety__back=30.0, safety__left=40.0, safety__right=35.0, safety__height=80.0, safety__obstacle_2=False,
        **{"safety__obstacle_1__x": 35.0, "safety__obstacle_1__y": -20.0}, safety__obstacle_1__depth=10.0, safety__obstacle_1__width=20.0,
        safety__obstacle_1__height=40.0,
    )  # fmt: skip
    day = Day("wx250s", tmp_path, person)
    envelope.run(day)
    settings, base = load_safety(day.safety_file), load_arm("wx250s").world_T_base[:3, 3]
    assert settings.lower == pytest.approx([base[0] - 0.30, -0.35, -0.005]) and settings.upper == pytest.approx([base[0] + 0.45, 0.40, 0.80])
    (zone,) = settings.keep_out
    assert zone.pose[:3, 3] == pytest.approx([base[0] + 0.35, -0.20, 0.20]) and zone.shapes[0].size == pytest.approx((0.11, 0.21, 0.41))
    named = yaml.safe_load(day.parameter_file.read_text())
    assert {node: section["ros__parameters"]["settings"] for node, section in named.items()} == {
        f"/**/{node}": str(day.safety_file) for node in ("motion", "safety", "tool_server")
    }
    assert "&" not in day.parameter_file.read_text(), "rcl reads no aliases"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"safety__height": 30.0}, "is outside by"),
        ({"safety__front": 4500.0}, "is not between"),
        (
            {
                "safety__obstacle_2": False, "safety__obstacle_1__x": 0.0, "safety__obstacle_1__y": 0.0, "safety__obstacle_1__depth": 10.0,
                "safety__obstacle_1__width": 10.0, "safety__obstacle_1__height": 60.0,
            },
            "within keep_out:obstacle_1",
        ),
    ],
)  # fmt: skip
def test_an_envelope_that_the_arm_cannot_rest_in_is_refused_and_nothing_is_written(tmp_path, given, message):
    answers = {"safety__obstacle_1": "safety__obstacle_1__x" in given, "safety__front": 60.0, **given}
    day = Day("wx250s", tmp_path, Answers(**answers))
    with pytest.raises(DeskhandError, match=message):
        envelope.run(day)
    assert not day.safety_file.exists() and not day.parameter_file.exists()


def _frame(light=120, depth=0.7, holes=0.0):
    rng = np.random.default_rng(1)
    values = np.full((48, 64), depth, np.float32)
    values[rng.random(values.shape) < holes] = np.nan
    return Frame(np.full((48, 64, 3), light, np.uint8), values, CameraIntrinsics(64, 48, 60, 60, 31.5, 23.5), identity(), 1.0)


def test_a_picture_that_shows_nothing_is_refused():
    assert camera.checked(_frame(holes=0.2)) == (pytest.approx(0.8, abs=0.03), pytest.approx(0.7))
    for bad, message in ((_frame(light=3), "black"), (_frame(light=255), "white"), (_frame(holes=0.9), "have a depth"), (_frame(depth=700.0), "700")):
        with pytest.raises(DeskhandError, match=message):
            camera.checked(bad)


def test_a_block_is_in_the_tray_only_within_its_walls():
    pose = identity()
    pose[:3, 3] = 0.1, 0.2, 0.015
    tray = SceneObject("tray_1", "tray", "grey", "box", np.array([0.12, 0.10, 0.03]), pose, np.zeros((0, 3), np.float32), 0.9, is_container=True)
    assert pick.within(tray, np.array([0.15, 0.22, 0.03])) and not pick.within(tray, np.array([0.10, 0.26, 0.03]))


def test_what_nothing_works_without_is_never_passed_over(tmp_path, monkeypatch):
    from deskhand.bringup.doctor import software as doctor
    from deskhand.bringup.doctor.base import Check

    for name in ("python", "libraries", "ros", "interfaces", "shared_memory", "ports"):
        monkeypatch.setattr(doctor, f"check_{name}", lambda name=name: Check(name, True, "fine"))
    monkeypatch.setattr(doctor, "check_ports", lambda: Check("ports", False, "no loopback", "Open it."))
    day = Day("jetarm", tmp_path, Answers(), rehearsal=True)
    assert system.run(day)["not_ok"] == ["ports"]
    day.operator = Answers(system__go_on=False)
    with pytest.raises(DeskhandError, match="no loopback"):
        system.run(day)
    monkeypatch.setattr(doctor, "check_ros", lambda: Check("ros", False, "no rclpy", "Install it."))
    day.operator = Answers()
    with pytest.raises(DeskhandError, match="no rclpy") as caught:
        system.run(day)
    assert caught.value.code == "missing_dependency" and "Install it." in caught.value.hint
