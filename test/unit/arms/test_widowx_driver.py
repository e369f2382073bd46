"""The driver of Dynamixel servos on an emulated WidowX 250s: what its servos were told for good is read, checked and obeyed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from widowx import ARM, HOME, NUMBERS, OUT, Widow, ramp, started

from deskhand.arms.bus import dynamixel_table as table
from deskhand.arms.bus.dynamixel import WATCHDOG
from deskhand.arms.emulate.dynamixel import packet
from deskhand.errors import DeskhandError

PWM, REVERSED, TIMED = 16, 1, 4


def refusal(arm: Widow) -> DeskhandError:
    """Why the arm is not taken; nothing holds or has moved."""
    before = arm.true_angles()
    assert not arm.step()
    assert arm.driver.failure is not None
    assert not any(arm.unit(number).servo.torque for number in NUMBERS)
    assert np.abs(arm.true_angles() - before).max() < 1e-9
    return arm.driver.failure


@pytest.mark.parametrize("timed", [False, True], ids=["profile by speed", "profile by time"])
def test_a_move_takes_the_time_that_it_was_given(timed: bool) -> None:
    arm = started(timed)
    begun = arm.bus.read_positions([1, 2])
    at = arm.clock()
    arm.bus.move({1: begun[1] + 900, 2: begun[2] + 450}, 2.0)
    arrived: dict[int, float] = {}
    while len(arrived) < 2 and arm.clock() < at + 5:
        here = arm.bus.read_positions([1, 2])
        for servo, way in ((1, 900), (2, 450)):
            if abs(here[servo] - begun[servo] - way) < 5:
                arrived.setdefault(servo, arm.clock() - at)
    # by time it would have taken 0.37 s, had the driver sent a speed
    assert arrived[1] == pytest.approx(2.0, abs=0.1) and arrived[2] == pytest.approx(2.0, abs=0.15)


def test_a_trajectory_is_followed_whatever_the_profiles_are() -> None:
    for modes in ({}, dict.fromkeys(NUMBERS, True), {1: True, 4: True, 5: True, 7: True}):
        arm = Widow(timed=False)
        for number in modes:
            arm.unit(number)["drive_mode"] |= TIMED
        assert arm.step()
        begun = arm.clock()
        follower = arm.finish(arm.driver.follow(ramp(HOME, OUT, 2.0)))
        assert follower.code == 0, follower.message
        assert 2.0 <= arm.clock() - begun < 2.5, "with what the trim of the last ticks takes"
        assert np.abs(arm.true_angles() - OUT).max() < 0.01
        status = arm.driver.status()
        assert status.tracking_error < 0.08 and status.counters.unanswered == 0
        for first, shadow in ((2, 3), (4, 5)):
            assert abs(arm.unit(first).present() - arm.unit(shadow).present()) <= 1


def test_nothing_moves_when_it_is_taken_and_every_servo_holds() -> None:
    arm = Widow()
    before = arm.true_angles()
    arm.run(0.5)
    assert all(arm.unit(number).servo.torque for number in NUMBERS)
    assert np.abs(arm.true_angles() - before).max() < ARM.resolution
    assert arm.unit(9)["goal_pwm"] == 354 and arm.unit(8)["goal_pwm"] == 885
    assert [arm.unit(number)["watchdog"] for number in NUMBERS] == [25] * 9
    assert all(arm.unit(number)["profile_acceleration"] == 0 for number in NUMBERS)


def test_servos_that_hold_already_are_taken_as_those_that_do_not() -> None:
    arm = Widow()
    for number in NUMBERS:
        arm.unit(number).store(64, b"\1")
    arm.run(0.5)
    assert arm.unit(9)["goal_pwm"] == 354
    assert [arm.unit(number)["watchdog"] for number in NUMBERS] == [25] * 9


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda arm: arm.unit(7).__setitem__("drive_mode", TIMED), "servo 7 counts forwards"),
        (lambda arm: arm.unit(6).__setitem__("drive_mode", TIMED | REVERSED), "servo 6 counts backwards"),
        (lambda arm: arm.unit(9).__setitem__("mode", PWM), r"servo 9 is in operating mode 16 \(PWM\)"),
        (lambda arm: arm.unit(3).__setitem__("mode", 0), r"servo 3 is in operating mode 0 \(current\)"),
        (lambda arm: arm.unit(3).__setitem__("secondary_id", 255), "servo 3 follows nobody instead of servo 2"),
        (lambda arm: arm.unit(5).__setitem__("secondary_id", 2), "servo 5 follows servo 2 instead of servo 4"),
        (lambda arm: arm.unit(3).__setitem__("drive_mode", REVERSED), "servos 2 and 3 turn one joint and differ in their meaning of the profile velocity"),
        (lambda arm: arm.unit(5).__setitem__("mode", 4), "servos 4 and 5 turn one joint and differ in their operating mode: 3 and 4"),
        (lambda arm: arm.unit(3).__setitem__("homing_offset", 60), "servos 2 and 3 turn one joint, but stand 60 ticks apart"),
        (lambda arm: arm.unit(8).__setitem__("hardware_error", 32), "servo 8 has let go: overload"),
    ],
)
def test_servos_that_are_not_this_arms_are_refused_before_anything_holds(spoil: Callable[[Widow], None], said: str) -> None:
    arm = Widow()
    spoil(arm)
    error = refusal(arm)
    assert error.code == "servo_fault" and error.hint
    with pytest.raises(DeskhandError, match=said):
        raise error


def test_a_servo_that_comes_later_is_waited_for_and_nothing_holds_until_then() -> None:
    arm = Widow()
    arm.unit(5).servo.answers = False
    arm.run(1.0)
    assert not arm.driver.status().connected and not any(arm.unit(number).servo.torque for number in NUMBERS)
    arm.unit(5).servo.answers = True
    arm.run(1.0)
    assert arm.driver.status().connected and all(arm.unit(number).servo.torque for number in NUMBERS)


def test_what_a_servo_keeps_is_set_only_while_it_has_let_go_and_then_the_arm_is_taken() -> None:
    arm = Widow(hold=False)
    arm.unit(9)["mode"], arm.unit(3)["homing_offset"] = PWM, 60
    arm.step()
    assert arm.bus.traits(9).mode == PWM
    arm.bus.configure(9, table.MODE, 3)
    arm.bus.configure(3, table.HOMING, 0)
    arm.bus.configure(3, table.HOMING, -3)
    arm.bus.configure(9, table.RETURN_DELAY, 0)
    assert (arm.unit(9)["mode"], arm.unit(3)["homing_offset"]) == (3, -3)
    arm.driver.set_torque(True)
    arm.run(0.2)
    assert all(arm.unit(number).servo.torque for number in NUMBERS)
    with pytest.raises(DeskhandError, match="servo 9 holds; its operating mode"):
        arm.bus.configure(9, table.MODE, PWM)
    assert arm.unit(9)["mode"] == 3


def test_a_servo_that_shuts_itself_down_stops_the_arm_and_a_restart_brings_it_back() -> None:
    arm = started()
    follower = arm.driver.follow(ramp(HOME, OUT, 6.0))
    arm.run(1.0)
    arm.unit(5)["hardware_error"] = 32
    arm.finish(follower)
    assert follower.code != 0
    assert "elbow reports: servo 5, its shadow: overload (hardware error 32)" in follower.message and "restarted" in follower.message
    with pytest.raises(DeskhandError, match="overload"):
        arm.driver.follow(ramp(arm.true_angles(), HOME, 4.0))
    arm.driver.set_torque(True)
    assert not arm.step() and "servo 5 has let go" in str(arm.driver.failure)
    arm.driver.failure = None
    arm.bus.open()
    assert arm.bus.restart(5)
    arm.run(2.0)
    assert arm.unit(5).servo.torque and not arm.driver.status().fault
    assert arm.finish(arm.driver.follow(ramp(arm.driver.joint_state().of(ARM.joints), HOME, 3.0))).code == 0


def test_servos_whose_driver_is_gone_stop_by_themselves_and_go_nowhere_when_it_comes_back() -> None:
    arm = started()
    start = arm.bus.read_positions([1])[1]
    arm.bus.move({1: start + 1500}, 4.0)  # farther than any command along a trajectory
    arm.clock.sleep(1.5)
    arm.emulator._idle()
    stopped = arm.unit(1).servo.position()
    assert start + 1500 * WATCHDOG / 4 - 60 < stopped < start + 1500 * 1.5 / 4
    arm.clock.sleep(1.0)
    assert abs(arm.unit(1).servo.position() - stopped) < 1
    assert arm.unit(1)["watchdog"] == arm.unit(3)["watchdog"] == 255
    arm.run(1.0)
    assert abs(arm.unit(1).servo.position() - stopped) < 12, "it went on to the old goal"
    assert arm.unit(1)["watchdog"] == arm.unit(3)["watchdog"] == 25
    assert arm.finish(arm.driver.follow(ramp(arm.driver.joint_state().of(ARM.joints), OUT, 3.0))).code == 0


def test_a_pulled_cable_leaves_the_arm_standing_and_it_is_taken_again() -> None:
    arm = started()
    follower = arm.driver.follow(ramp(HOME, OUT, 4.0))
    arm.run(1.0)
    arm.port.unplug()
    arm.step()
    assert not follower.active and follower.code != 0
    arm.clock.sleep(0.3)
    arm.emulator._idle()
    there = arm.true_angles()
    arm.clock.sleep(2.0)
    arm.emulator._idle()
    arm.port.plug()
    arm.run(1.0)
    assert arm.driver.status().connected and np.abs(arm.true_angles() - there).max() < 0.01
    assert arm.finish(arm.driver.follow(ramp(arm.driver.joint_state().of(ARM.joints), HOME, 3.0))).code == 0


def test_goals_at_the_edge_of_what_a_servo_takes_are_not_ignored() -> None:
    arm = started()
    goal = HOME.copy()
    goal[2] = math.radians(92)  # 3094.7 ticks: rounded, the servo would take no notice
    assert arm.finish(arm.driver.follow(ramp(HOME, goal, 3.0))).code == 0
    assert arm.bus.read_positions([4])[4] == pytest.approx(3094, abs=2)


def test_a_joint_found_outside_of_its_servos_limits_is_not_torn_back() -> None:
    arm = Widow()
    arm.unit(4).servo.shaft.position = 3160.0
    arm.step()
    begun = arm.clock()
    fastest, last = 0.0, arm.unit(4).servo.position()
    while arm.clock() < begun + 1.0:
        arm.step()
        here = arm.unit(4).servo.position()
        fastest, last = max(fastest, abs(here - last) / 0.02), here
    assert 3090 < last < 3161 and fastest < 200, "ticks a second"


def test_the_gripper_tells_an_object_from_nothing() -> None:
    arm = started()
    opened = arm.driver.grip(ARM.gripper.position_of(0.045))
    arm.run(2.0)
    assert opened.reached
    gripper = ARM.driver.gripper
    arm.unit(9).servo.shaft.stop_low = gripper.ticks_of(0.030)
    closed = arm.driver.grip(ARM.gripper.position_of(0.006))
    arm.run(2.0)
    assert closed.stalled and not closed.reached
    assert ARM.gripper.width_of(arm.driver.finger_position()) == pytest.approx(0.030, abs=0.0005)
    assert 0 < arm.unit(9).servo.position() - arm.unit(9)["goal"] <= gripper.squeeze
    arm.run(4.0)
    assert not arm.driver.status().fault, "it pressed until the servo gave up"


def test_a_late_answer_to_another_question_is_not_taken() -> None:
    arm = started()
    confirmation, position, status = (packet(7, 0x55, bytes(1 + count)) for count in (0, 4, 35))
    questions = (lambda: arm.bus.hardware_error(7), lambda: arm.bus.torque_on(7), lambda: arm.bus.read_health(7), lambda: arm.bus.traits(7))
    for question, late in itertools.product((*questions, lambda: arm.bus.read_positions([7])), (confirmation, position, status)):
        arm.bus._traits.clear()
        honest, obey = question(), arm.port.receive
        arm.bus._traits.clear()
        arm.port.receive = lambda data, late=late, obey=obey: (arm.port.send(late) if data else None, obey(data))[1]
        if not (late is status and question in questions[:3]) and not (late is position and question not in questions):
            assert question() == honest, "a late answer of another length was taken"
        arm.port.receive = obey


def test_all_nine_servos_are_read_within_a_round() -> None:
    arm = started()
    arm.run(1.0)
    assert arm.driver.status().round_time < 0.01
