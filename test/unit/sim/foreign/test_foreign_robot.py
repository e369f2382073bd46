"""A robot in a foreign simulator: bytes of the protocol, trajectories, gripper, pictures, and that truth has a connection of its own."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign_stand_in import PERIOD, START, Served, StandIn

from deskhand.arms.config import load_arm
from deskhand.arms.follower import straight
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import look_at
from deskhand.sim.foreign.control import MOST_TURN, slowed
from deskhand.sim.foreign.devices import ForeignArm, ForeignBody, ForeignCamera, ForeignClock, ForeignGripper
from deskhand.sim.foreign.link import ForeignProcess
from deskhand.sim.foreign.robot import surface_height
from deskhand.sim.foreign.served import wire
from deskhand.types import CameraIntrinsics, Frame

ARM = load_arm("panda")


@pytest.fixture
def served():
    made = Served()
    yield made
    made.close()


def test_a_message_is_a_head_and_the_bytes_of_its_arrays(served: Served) -> None:
    head = json.dumps({"ask": "step", "arrays": [["goals", "float64", [1, 7]], ["grip", "float64", [1]]]}).encode()
    served.raw.sendall(struct.pack(">I", len(head)) + head + START.tobytes() + struct.pack("<d", -1.0))
    answer, arrays = wire.receive(served.raw)
    assert answer["steps"] == 1 and arrays["positions"].shape == (7,) and arrays["positions"].dtype == np.float64
    goal, sign = served.world.received[0]
    assert np.array_equal(goal, START) and sign == -1.0


@pytest.mark.parametrize("damage", [b"\x00\x00\x00\x02[]", b"\xff\xff\xff\xff", b'\x00\x00\x00\x1c{"arrays": [["a","O",[1]]]}\n'])
def test_what_is_no_message_ends_the_connection(served: Served, damage: bytes) -> None:
    served.raw.sendall(damage)
    served.thread.join(5.0)
    assert not served.thread.is_alive()


def test_the_robot_is_told_nothing_of_the_truth(served: Served) -> None:
    for what in ("truth", "masks", "outcome", "load", "quit"):
        with pytest.raises(DeskhandError, match="a robot cannot ask"):
            served.robot.ask(what)
    told = json.dumps([served.robot.ask(what)[0] for what in ("hello", "state")]) + str(served.robot.ask("picture", camera="agentview", width=8, height=6)[0])
    assert "cube_1" not in told and served.scorer.truth()["objects"].keys() == {"cube_1"}
    with pytest.raises(DeskhandError, match="a scorer cannot ask"):
        served.scorer._link.ask("step")


def test_nothing_is_there_before_a_case_is_loaded() -> None:
    made = Served(load=False)
    with pytest.raises(DeskhandError, match="no case"):
        made.robot.ask("hello")
    with pytest.raises(DeskhandError, match="no such task"):
        made.scorer.load({"task": "broken"})
    made.close()


def test_a_trajectory_is_followed_to_a_milliradian(served: Served) -> None:
    body = ForeignBody(served.robot, ARM)
    goal = START + np.array([0.4, 0.3, -0.3, 0.4, 0.2, -0.3, 0.5])
    motion, clock = ForeignArm(body).follow(straight(ARM.joints, START, goal, 2.0)), ForeignClock(body)
    worst = 0.0
    while not motion.done():
        clock.sleep(0.02)
        worst = max(worst, float(np.abs(body.follower.error).max()))
    assert motion.error() == "" and worst < 4e-3
    clock.sleep(0.3)
    assert np.abs(body.positions - goal).max() < 1e-3
    assert clock.now() == pytest.approx(body.time, abs=PERIOD)


def test_a_hand_that_would_turn_too_fast_takes_longer(served: Served) -> None:
    model, goal = RobotModel.load(ARM), START.copy()
    goal[6] += 1.5
    fast = straight(ARM.joints, START, goal, 1.0)
    slow, factor = slowed(fast, model)
    assert factor == pytest.approx(1.5 * 1.875 / MOST_TURN, rel=0.02)
    assert slow.times[-1] == pytest.approx(fast.times[-1] * factor)
    assert np.abs(slow.velocities[:, 6]).max() == pytest.approx(MOST_TURN, rel=0.02)
    same, one = slowed(straight(ARM.joints, START, START + 0.01, 1.0), model)
    assert one == 1.0 and same.times[-1] == 1.0


@pytest.mark.parametrize(("held", "stalled", "width"), [(0.0, False, 0.0), (0.042, True, 0.042)])
def test_fingers_close_to_nothing_or_on_what_is_between(held: float, stalled: bool, width: float) -> None:
    made = Served(StandIn(held))
    body = ForeignBody(made.robot, ARM)
    motion = ForeignGripper(body).move(0.0, 10.0)
    while not motion.done():
        body.sleep(PERIOD)
    report = motion.report()
    assert (report.stalled, report.reached) == (stalled, not stalled) and report.width == pytest.approx(width, abs=1e-9)
    assert report.effort == pytest.approx(5.0)
    back = ForeignGripper(body).move(0.077, 10.0)
    while not back.done():
        body.sleep(PERIOD)
    assert back.report().reached and back.report().width > 0.076
    made.close()


def test_fingers_that_were_opened_before_close_all_the_way() -> None:
    """A world that rests with its fingers told to open fully: closing by as many steps as from half open would leave them 3 cm apart, squeezing nothing."""
    served = Served(StandIn(target=0.08))
    body = ForeignBody(served.robot, ARM)
    gripper = ForeignGripper(body)
    for width in (0.05, 0.0):
        motion = gripper.move(width, 10.0)
        for _ in range(40):
            body.sleep(PERIOD)
        assert motion.done()
    assert served.world.target == pytest.approx(0.0, abs=1e-9)
    served.close()


def test_part_way_the_fingers_open_at_least_as_far_as_asked(served: Served) -> None:
    body = ForeignBody(served.robot, ARM)
    for wanted in (0.077, 0.033, 0.055, 0.021):
        motion = ForeignGripper(body).move(wanted, 10.0)
        while not motion.done():
            body.sleep(PERIOD)
        assert -1e-3 <= motion.report().width - wanted < 0.0101


def test_a_picture_is_in_the_world_of_the_arm_and_newer_than_asked(served: Served) -> None:
    body = ForeignBody(served.robot, ARM)
    camera = ForeignCamera(body, RobotModel.load(ARM), "agentview", (32, 24))
    first = camera.capture()
    second = camera.capture(newer_than=first.stamp)
    assert second.stamp > first.stamp and second.color.shape == (24, 32, 3) and second.intrinsics.cx == 15.5
    assert second.world_T_camera[:3, 3] == pytest.approx([ARM.world_T_base[0, 3] + 1.5, 0.0, 0.5])
    with pytest.raises(DeskhandError, match="agentview"):
        ForeignCamera(body, RobotModel.load(ARM), "birdview")


def test_a_simulator_that_is_gone_is_said_to_be(served: Served) -> None:
    body = ForeignBody(served.robot, ARM)
    served.scorer._link.close()
    served.thread.join(5.0)
    with pytest.raises(DeskhandError) as caught:
        body.sleep(1.0)
    assert caught.value.code == "node_unavailable"


def test_an_environment_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(DeskhandError, match="cannot be started") as caught, ForeignProcess(tmp_path / "python", "libero", tmp_path / "log"):
        pass
    assert "deskhand bench libero install" in caught.value.hint


def test_another_arm_is_refused(served: Served) -> None:
    with pytest.raises(DeskhandError, match="panda_joint1"):
        ForeignBody(served.robot, load_arm("wx250s"))


def test_the_simulators_side_imports_nothing_of_ours() -> None:
    for file in Path(wire.__file__).parent.glob("*.py"):
        assert "import deskhand" not in file.read_text() and "from deskhand" not in file.read_text(), file


def desk_seen(height: float, noise: float) -> Frame:
    """A level surface ``height`` [m] above the base's foot, its far half hidden by what falls off to the camera, with ``noise`` [m] in each pixel."""
    camera = CameraIntrinsics(640, 480, 580.0, 580.0, 319.5, 239.5)
    frame = Frame(np.zeros((480, 640, 3), np.uint8), np.ones((480, 640), np.float32), camera, look_at((1.0, 0, 0.7), (0, 0, 0)), 0.0)
    rays = frame.points() - frame.world_T_camera[:3, 3]
    depth = (height - frame.world_T_camera[2, 3]) / rays[..., 2]
    depth[:, 400:] *= np.linspace(1.0, 0.8, 240)
    depth += np.random.default_rng(3).normal(0.0, noise, depth.shape)
    depth[::7, ::5] = np.nan
    return replace(frame, depth=depth.astype(np.float32))


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.003])
def test_a_surface_is_measured_whatever_the_noise_of_its_pixels(noise: float) -> None:
    assert surface_height(desk_seen(-0.011, noise)) == pytest.approx(-0.011, abs=0.001)


def test_a_picture_without_a_level_surface_near_the_foot_is_told() -> None:
    with pytest.raises(DeskhandError, match="level surface") as caught:
        surface_height(desk_seen(-0.5, 0.001))
    assert caught.value.code == "no_table"
