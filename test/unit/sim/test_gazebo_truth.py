"""The scorer's view of Gazebo, from what ``gz topic`` prints: here printed by a script of that name."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from deskhand.bringup.stack import gazebo_environment
from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_angle
from deskhand.sim.gazebo import truth as module
from deskhand.sim.gazebo.files import require_gazebo
from deskhand.sim.gazebo.robot import contact_topic
from deskhand.sim.gazebo.sdf import LINK
from deskhand.sim.gazebo.truth import POSES, GazeboTruth, poses_of, stamp_of
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at

WORLD = WorldSpec((ObjectSpec("cup", "block", (0.04, 0.04, 0.04), (1, 0, 0), 0.1, pose_at(0, 0, 0.02)),))


def poses(seconds: str, nanoseconds: int, x: float) -> dict[str, object]:
    """As Gazebo prints it: 64 bit numbers as text, zeros left out."""
    turn = {"z": float(np.sin(0.5)), "w": float(np.cos(0.5))}
    of_link = {"name": LINK, "id": 9, "position": {}, "orientation": {"w": 1}}
    header = {"stamp": {"sec": seconds, "nsec": nanoseconds}}
    return {"header": header, "pose": [{"name": "cup", "id": 8, "position": {"x": x, "z": 0.02}, "orientation": turn}, of_link]}


def contacts(seconds: str, link: str, model: str) -> dict[str, object]:
    header = {"stamp": {"sec": seconds}}
    pair = {"collision1": {"name": f"wx250s::{link}::{link}_collision_1"}, "collision2": {"name": f"{model}::{LINK}::collision_7"}}
    return {"header": header, "contact": [pair]}


def fake_gz(folder: Path, said: dict[str, list[dict[str, object]]]) -> None:
    """A program ``gz`` that prints the messages of a topic and then stays."""
    lines = ["#!/bin/sh", '[ "$GZ_PARTITION" = mine ] || exit 3', 'case "$4" in']
    for topic, messages in said.items():
        file = folder / f"{topic.replace('/', '_')}.json"
        file.write_text("".join(json.dumps(message) + "\n" for message in messages))
        lines.append(f"{topic}) cat {file};;")
    program = folder / "gz"
    program.write_text("\n".join([*lines, "esac", "exec sleep 60", ""]))
    program.chmod(0o755)


def wait_for(truth: GazeboTruth, held: tuple[str, ...]) -> None:
    end = time.monotonic() + 10
    while truth.get().in_hand != held:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_poses_time_and_speed_are_gazebos(path: Path) -> None:
    fake_gz(path, {POSES: [poses("4", 0, 0.10), poses("4", 50_000_000, 0.11)]})
    with GazeboTruth(WORLD, "mine") as truth:
        end = time.monotonic() + 10
        while truth.get().time < 4.05 - 1e-9 and time.monotonic() < end:
            time.sleep(0.01)
        seen = truth.get()
    cup = seen.get("cup")
    assert seen.time == pytest.approx(4.05) and cup.velocity == pytest.approx(0.2)
    assert cup.pose[:3, 3] == pytest.approx([0.11, 0, 0.02]) and rotation_angle(cup.pose, pose_at(0, 0, 0, 1.0)) < 1e-9
    assert (cup.kind, cup.size) == ("block", (0.04, 0.04, 0.04)) and seen.in_hand == ()


def test_in_the_hand_is_what_both_fingers_touch_now(path: Path) -> None:
    left, right = contact_topic("left_finger_link"), contact_topic("right_finger_link")
    said = {POSES: [poses("4", 0, 0.1)], left: [contacts("4", "left_finger_link", "cup")], right: [contacts("4", "right_finger_link", "cup")]}
    fake_gz(path, said)
    with GazeboTruth(WORLD, "mine") as truth:
        wait_for(truth, ("cup",))
    fake_gz(path, {**said, right: [contacts("3", "right_finger_link", "cup")]})  # a second ago
    with GazeboTruth(WORLD, "mine") as truth:
        assert truth.get().in_hand == ()


def test_silence_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST", 0.2)
    fake_gz(path, {})
    with GazeboTruth(WORLD, "mine") as truth, pytest.raises(DeskhandError, match="cup") as caught:
        truth.get()
    assert caught.value.code == "timeout"


def test_without_gazebo_there_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for start in (require_gazebo, lambda: GazeboTruth(WORLD, "mine")):
        with pytest.raises(DeskhandError, match="gz") as caught:
            start()
        assert caught.value.code == "missing_dependency" and "gazebo.md" in caught.value.hint


def test_messages_leave_zeros_out() -> None:
    assert stamp_of({}) == 0.0
    assert dict(poses_of({"pose": [{"name": "a", "orientation": {"w": 1}}]}))["a"] == pytest.approx(np.eye(4))


def test_gazebos_transport_stays_on_this_machine_and_among_its_own() -> None:
    environment = gazebo_environment("mine")
    assert environment["GZ_IP"] == "127.0.0.1" and environment["GZ_PARTITION"] == "mine"
