"""Servos as they are: late, noisy, yielding, with play, or silent; and boards that say that they failed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from driven import ARM, HOME, MODEL, OUT, SERVOS, smooth

from deskhand.arms.bus import lx16a, rrc
from deskhand.arms.config import load_arm
from deskhand.arms.emulate.reality import ServoReality, Slack, load_reality
from deskhand.arms.emulate.rig import Rig
from deskhand.arms.emulate.rrc import RrcEmulator
from deskhand.arms.gravity import GravityLoad
from deskhand.arms.model import RobotModel
from deskhand.arms.trim import MOST, Trim
from deskhand.errors import DeskhandError

BACK = HOME + np.array([0.15, 0.15, 0.15, 0.05, 0.15])
KINDS = ("hiwonder_rrc", "lx16a")


def taken(kind: str, reality: ServoReality, model: RobotModel = MODEL) -> Rig:
    rig = Rig(model, kind, reality=reality, seed=1)
    assert rig.step()
    return rig


def encoders(rig: Rig) -> np.ndarray:
    return np.array([servo.angle_of(rig.emulator.servos[servo.id].position()) for servo in rig.servos])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("latency", [0.022, 0.06])
def test_readings_that_come_late_are_expected(kind: str, latency: float) -> None:
    rig = taken(kind, ServoReality(read_latency=latency, command_latency=latency))
    for goal in (OUT, HOME):
        start = rig.driver.joint_state().of(ARM.joints)
        follower = rig.finish(rig.driver.follow(smooth([start, goal], 1.8)))
        assert follower.code == 0, follower.message
        assert np.abs(rig.true_angles() - goal).max() < 0.01
    status = rig.driver.status()
    assert latency < status.latency < latency + 0.01
    assert status.counters.unanswered == 0
    assert latency < status.lag < 4 * latency + 0.1, "how late the joints are is learnt from how they move"


@pytest.mark.parametrize("kind", KINDS)
def test_a_motion_whose_time_is_over_before_a_servo_heard_of_it_is_done_late(kind: str) -> None:
    """A machine with too much to do: from the moment the motion begins the driver's thread does not run for longer than the motion lasts."""
    rig = taken(kind, ServoReality())
    start = rig.driver.joint_state().of(ARM.joints)
    followers, read = [], rig.driver._bus.read_positions

    def held_up(servos: list[int]) -> dict[int, float]:
        answers = read(servos)
        if not followers and rig.servos[-1].id in servos:  # after the last question of a round
            followers.append(rig.driver.follow(smooth([start, start + 0.02], 0.5)))
            rig.clock.sleep(1.0)
        return answers

    rig.driver._bus.read_positions = held_up  # type: ignore[method-assign, assignment]
    assert rig.step() and followers
    follower = rig.finish(followers[0])
    assert follower.code == 0, follower.message
    assert np.abs(rig.true_angles() - start - 0.02).max() < 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_a_false_first_answer_moves_nothing(kind: str) -> None:
    for which in (0, 1, 3, 6, 8):
        rig = Rig(MODEL, kind)
        for servo in rig.emulator.servos.values():
            servo.set_torque(False)
        before, seen = rig.true_angles(), 0

        def lie(frame: bytes, send: Callable[[bytes], None] = rig.port.send, which: int = which) -> None:
            nonlocal seen
            position = rrc.read_answer(frame[4:-1], 1, rrc.READ_POSITION) if kind == "hiwonder_rrc" else lx16a.read_answer(frame, 1, lx16a.READ_POSITION)
            if position is not None:
                seen += 1
                if seen == which + 1:
                    false = (position[0] + 400).to_bytes(2, "little")
                    frame = rrc.answer_frame(1, rrc.READ_POSITION, false) if kind == "hiwonder_rrc" else lx16a.frame(1, lx16a.READ_POSITION, false)
            send(frame)

        rig.port.send = lie  # type: ignore[method-assign]
        rig.run(0.4)
        assert seen > which
        assert np.abs(rig.true_angles() - before).max() < ARM.resolution, f"answer {which} was believed"


def test_a_servo_that_holds_already_is_told_nothing_when_the_arm_is_taken() -> None:
    reality = ServoReality(sag=math.radians(2))
    rig = Rig(MODEL, "hiwonder_rrc", reality=reality)
    rig.clock.sleep(1.0)
    before = rig.true_angles()
    rig.run(1.0)
    assert np.abs(rig.true_angles() - before).max() < 2e-3, "told to be where gravity has it, it would sink by as much again"


@pytest.mark.parametrize(("done", "failed"), [(rrc.DONE, rrc.FAILED), (1, 0), (1, rrc.FAILED), (0, 1)])
def test_a_reply_that_says_failed_is_never_a_position(done: int, failed: int) -> None:
    rig = Rig(MODEL, "hiwonder_rrc")
    assert isinstance(rig.emulator, RrcEmulator)
    rig.emulator._done, rig.emulator._failed = done, failed
    assert rig.step(), "which status means success is learnt"
    follower = rig.driver.follow(smooth([HOME, OUT], 4.0))
    rig.run(1.0)
    rig.emulator.servos[3].answers = False  # the controller answers for it: failed, position 0
    seen = []
    while follower.active:
        rig.step()
        seen.append(rig.driver.reading(3)[0])
    assert "joint3" in follower.message and min(seen) > 60, "no 0 is believed"


def test_a_board_that_says_the_same_of_servos_that_are_not_there_is_refused() -> None:
    rig = Rig(MODEL, "hiwonder_rrc")
    assert isinstance(rig.emulator, RrcEmulator)
    rig.emulator._failed = rrc.DONE
    assert not rig.step()
    assert rig.driver.failure is not None and "cannot be believed" in rig.driver.failure.message


@pytest.mark.parametrize("kind", KINDS)
def test_what_gravity_leaves_is_trimmed_and_learnt(kind: str) -> None:
    rig = taken(kind, ServoReality(sag=math.radians(2), dead_band=math.radians(0.2), noise=1.5, read_latency=0.01, command_latency=0.01))
    goals = [OUT, BACK, OUT]
    share = np.abs(GravityLoad(MODEL).shares(OUT)).max()
    assert share > 0.5, "gravity pulls there"
    for goal in goals:
        start = rig.driver.joint_state().of(ARM.joints)
        follower = rig.finish(rig.driver.follow(smooth([start, goal], 1.8)))
        assert follower.code == 0, follower.message
        assert np.abs(encoders(rig) - goal).max() < 3 * ARM.resolution
    assert np.abs(rig.driver._feed.trim.softness[1:3] - math.radians(2)).max() < math.radians(0.6), "how servos yield is learnt"
    told = np.array([servo.angle_of(rig.emulator.servos[servo.id].goal) for servo in SERVOS])
    assert np.abs(told - goals[-1]).max() > math.radians(0.7), "told beyond where it stands"


def test_a_trim_has_a_bound_and_keeps_to_the_joint_limits() -> None:
    trim = Trim(MODEL)
    for _ in range(5):
        trim.learn(OUT, np.full(len(ARM.joints), math.radians(20)))
        assert np.abs(trim.at(OUT)).max() <= MOST + 1e-9 and np.abs(trim.at(HOME)).max() <= MOST + 1e-9
    limit = RobotModel.load(ARM).limits["joint2"][1]
    rig = taken("hiwonder_rrc", ServoReality(sag=math.radians(2)))
    goal = HOME.copy()
    goal[1], goal[2] = limit, 0.0
    rig.finish(rig.driver.follow(smooth([rig.driver.joint_state().of(ARM.joints), goal], 4.0)))
    rig.run(1.0)
    assert SERVOS[1].angle_of(rig.emulator.servos[2].goal) <= limit + 0.01


def test_play_that_was_measured_is_allowed_for(tmp_path: object) -> None:
    file = tmp_path / "unit.yaml"  # type: ignore[operator]
    file.write_text("extends: jetarm\ndriver:\n  servos:\n" + "".join(f"    {joint}: {{ backlash: 1.4 }}\n" for joint in ARM.joints))
    reality = ServoReality(backlash=math.radians(1.5), sag=math.radians(1))
    off = {}
    for name, model in (("unknown", MODEL), ("measured", RobotModel.load(load_arm(str(file))))):
        rig = taken("hiwonder_rrc", reality, model)
        found = []
        for goal in (OUT, BACK, OUT - 0.2):
            assert rig.finish(rig.driver.follow(smooth([rig.driver.joint_state().of(ARM.joints), goal], 1.8))).code == 0
            rig.run(0.5)
            found.append(np.linalg.norm((MODEL.tcp_pose(MODEL.arm_joints(rig.true_angles())) - MODEL.tcp_pose(MODEL.arm_joints(goal)))[:3, 3]))
        off[name] = float(np.median(found))
    assert off["unknown"] > 0.004
    assert off["measured"] < 0.003


def test_a_silent_servo_is_refused_unless_the_owner_says_where_it_stands(tmp_path: object) -> None:
    rig = Rig(MODEL, "hiwonder_rrc", reality=ServoReality(silent=(5,)))
    assert not rig.step()
    with pytest.raises(DeskhandError, match=r"servos \[5\] do not answer"):
        rig.driver.wait_connected(0.0)
    file = tmp_path / "unit.yaml"  # type: ignore[operator]
    file.write_text("extends: jetarm\ndriver: { servos: { joint5: { open_loop: 0 } } }\n")
    rig = Rig(RobotModel.load(load_arm(str(file))), "hiwonder_rrc", reality=ServoReality(silent=(5,)))
    assert rig.step()
    status = rig.driver.status()
    assert status.open_loop == ("joint5",) and status.scale <= 0.5, "flagged, slower"
    with pytest.raises(DeskhandError, match="being brought"):
        rig.driver.follow(smooth([HOME, OUT], 2.0))
    rig.run(4.5)
    begun = rig.clock()
    follower = rig.finish(rig.driver.follow(smooth([HOME, OUT], 1.8)))
    assert follower.code == 0, follower.message
    assert rig.clock() - begun > 3.0
    rig.run(0.3)
    assert np.abs(rig.true_angles() - OUT).max() < 0.015
    assert abs(rig.driver.joint_state().of(ARM.joints)[4] - OUT[4]) < 0.01


def test_a_link_lies_against_the_side_to_which_gravity_pulls_it_and_else_trails() -> None:
    slack = Slack(backlash=2.0, sag=0.0, dead_band=0.0, start=0.0)
    for step in range(1, 11):
        slack.follow(0.3 * step, 0.0, 0.01)
    assert slack.play == pytest.approx(-1.0), "it trails"
    slack.follow(2.5, 0.0, 0.01)
    assert slack.play == pytest.approx(-0.5), "and stays where it is when the servo turns back"
    for _ in range(30):
        slack.follow(2.5, 0.5, 0.01)
    assert slack.play == pytest.approx(1.0)


def test_servos_are_chosen_by_name_or_file_and_nonsense_is_refused(tmp_path: object) -> None:
    assert load_reality("worn").backlash == pytest.approx(math.radians(1.5))
    assert load_reality("real").zero_of(1) == 0.0
    file = tmp_path / "mine.yaml"  # type: ignore[operator]
    file.write_text("backlash: 40\n")
    for name, said in ((str(file), "backlash must be 0 to 10"), ("broken", "valid: real, worn")):
        with pytest.raises(DeskhandError, match=said):
            load_reality(name)
    file.write_text("slack: 1\n")
    with pytest.raises(DeskhandError, match="unknown: slack"):
        load_reality(str(file))
