"""The driver of bus servos against emulated ones: it follows, measures, refuses, stops and comes back."""

from __future__ import annotations

import numpy as np
import pytest
from driven import ARM, GRIPPER, HOME, MODEL, OUT, SERVOS, smooth, started

from deskhand.arms.bus import rrc
from deskhand.arms.emulate.rig import Rig
from deskhand.arms.follower import PATH_TOLERANCE_VIOLATED
from deskhand.errors import DeskhandError


def moves(rig: Rig) -> list[bytes]:
    """Watch the frames that the driver sends."""
    seen: list[bytes] = []
    obey = rig.port.receive
    rig.port.receive = lambda data: (seen.append(data), obey(data))[1]
    return seen


@pytest.mark.parametrize("kind", ["hiwonder_rrc", "lx16a"])
def test_it_follows_a_trajectory_at_the_timing_of_its_bus(kind: str) -> None:
    rig = started(kind)
    follower = rig.finish(rig.driver.follow(smooth([HOME, OUT, HOME + 0.1, OUT], 1.2)))
    assert follower.code == 0, follower.message
    assert np.abs(rig.true_angles() - OUT).max() < 0.015
    status = rig.driver.status()
    assert 0 < status.tracking_error < 0.12
    assert status.tracking_rms < 0.04
    assert status.counters.unanswered == 0


def test_positions_are_measured_not_echoed() -> None:
    rig = started()
    rig.emulator.servos[2].shaft.stop_low = rig.emulator.servos[2].position() - 1  # the upper arm cannot come down
    rig.emulator.servos[2].shaft.stop_high = rig.emulator.servos[2].position() + 1
    follower = rig.finish(rig.driver.follow(smooth([HOME, OUT], 1.5)))
    assert follower.code == PATH_TOLERANCE_VIOLATED
    assert "joint2" in follower.message
    measured = rig.driver.joint_state().of(ARM.joints)
    assert abs(measured[1] - HOME[1]) < 0.01
    rig.run(0.3)
    assert rig.emulator.servos[2].load < 0.5, "it goes on pushing"


def test_nothing_moves_when_it_starts_and_torque_comes_at_the_measured_pose() -> None:
    rig = Rig(MODEL)
    for servo in rig.emulator.servos.values():
        servo.set_torque(False)
        servo.shaft.position += 7.4
    before = rig.true_angles()
    rig.run(0.5)
    assert all(servo.torque for servo in rig.emulator.servos.values())
    assert np.abs(rig.true_angles() - before).max() < ARM.resolution


def test_a_cancel_stops_the_arm_within_100_ms() -> None:
    rig = started()
    for delay in np.linspace(0.3, 0.9, 9):
        start = rig.driver.joint_state().of(ARM.joints)
        follower = rig.driver.follow(smooth([start, OUT if abs(start[0]) < 0.3 else HOME], 1.2))
        rig.run(delay)
        asked, positions = rig.clock(), []
        rig.driver.cancel(follower)
        while rig.clock() < asked + 0.3:
            rig.step()
            positions.append((rig.clock() - asked, rig.true_angles()))
        later = [angles for since, angles in positions if since >= 0.1]
        assert np.abs(later[0] - later[-1]).max() < 0.004
        assert follower.cancelled and not follower.active


@pytest.mark.parametrize(
    ("change", "said"), [(lambda servo: setattr(servo, "temperature", 75.0), "degrees"), (lambda servo: setattr(servo, "supply", 8.8), " V ")]
)
def test_a_hot_servo_and_a_low_voltage_stop_the_arm_holding(change: object, said: str) -> None:
    rig = started()
    follower = rig.driver.follow(smooth([HOME, OUT], 4.0))
    rig.run(1.0)
    change(rig.emulator.servos[3])  # type: ignore[operator]
    rig.finish(follower)
    assert follower.code != 0 and said in follower.message and "joint3" in follower.message
    rig.run(0.2)
    there = rig.true_angles()
    assert np.abs(there - OUT).max() > 0.3
    rig.run(1.0)
    assert np.abs(rig.true_angles() - there).max() < 0.004
    assert all(servo.torque for servo in rig.emulator.servos.values())
    with pytest.raises(DeskhandError) as caught:
        rig.driver.follow(smooth([there, OUT], 4.0))
    assert caught.value.code == "servo_fault"
    rig.emulator.servos[3].temperature, rig.emulator.servos[3].supply = 40.0, 11.8
    rig.run(3.0)
    assert rig.finish(rig.driver.follow(smooth([rig.driver.joint_state().of(ARM.joints), OUT], 2.0))).code == 0


def test_a_warm_arm_takes_longer_and_arrives() -> None:
    rig = started()
    begun = rig.clock()
    assert rig.finish(rig.driver.follow(smooth([HOME, OUT], 1.5))).code == 0
    usual = rig.clock() - begun
    rig.emulator.servos[1].temperature = 66.0
    rig.run(3.0)
    begun = rig.clock()
    assert rig.finish(rig.driver.follow(smooth([OUT, HOME], 1.5))).code == 0
    assert rig.clock() - begun > 1.3 * usual


def test_what_it_cannot_follow_is_refused_and_small_excess_is_clamped() -> None:
    rig = started()
    outside = HOME.copy()
    outside[0] = 2.5
    with pytest.raises(DeskhandError, match="joint1 would go to"):
        rig.driver.follow(smooth([HOME, outside], 5.0))
    with pytest.raises(DeskhandError, match="first point"):
        rig.driver.follow(smooth([OUT, HOME], 2.0))
    with pytest.raises(DeskhandError, match="times as fast"):
        rig.driver.follow(smooth([HOME, OUT], 0.1))
    frames = moves(rig)
    rig.finish(rig.driver.follow(smooth([HOME, HOME * [1, 0, 1, 1, 1] + [0, 0.015, 0, 0, 0]], 4.0)))
    sent = [pulse for frame in frames if frame[2:3] == b"\x05" and frame[4] == rrc.MOVE for number, pulse in pulses(frame) if number == 2]
    assert sent and min(sent) >= round(SERVOS[1].pulse_of(0.0))


def pulses(frame: bytes) -> list[tuple[int, int]]:
    data = frame[5:-1]
    return [(data[3 + 3 * k], data[4 + 3 * k] | data[5 + 3 * k] << 8) for k in range(data[2])]


def test_the_gripper_tells_an_object_from_nothing_and_does_not_press_for_ever() -> None:
    rig = started()
    finger = rig.emulator.servos[GRIPPER.id]
    empty = rig.driver.grip(ARM.gripper.position_of(0.004))
    rig.run(2.0)
    assert empty.reached and not empty.stalled
    opened = rig.driver.grip(ARM.gripper.position_of(0.06))
    rig.run(2.0)
    assert opened.reached
    finger.shaft.stop_high = GRIPPER.ticks_of(0.035)  # a block of 35 mm
    closed = rig.driver.grip(ARM.gripper.position_of(0.004))
    rig.run(2.0)
    assert closed.done and closed.stalled and not closed.reached
    assert ARM.gripper.width_of(rig.driver.finger_position()) == pytest.approx(0.035, abs=0.001)
    assert 0 < finger.goal - finger.position() <= GRIPPER.squeeze
    assert rig.driver.finger_force() > 0


def test_letting_go_needs_somebodys_word() -> None:
    rig = started()
    with pytest.raises(DeskhandError) as caught:
        rig.driver.set_torque(False)
    assert caught.value.code == "permission_denied"
    rig.driver.set_torque(False, supported=True)
    rig.run(0.1)
    assert not any(servo.torque for servo in rig.emulator.servos.values())
    rig.driver.set_torque(True)
    rig.run(0.1)
    assert all(servo.torque for servo in rig.emulator.servos.values())


def test_a_pulled_cable_ends_the_motion_at_once_and_the_arm_comes_back_by_itself() -> None:
    rig = started()
    for _ in range(50):
        start = rig.driver.joint_state().of(ARM.joints)
        follower = rig.driver.follow(smooth([start, OUT if abs(start[0]) < 0.3 else HOME], 1.0))
        rig.run(0.3)
        rig.port.unplug()
        assert not rig.step()
        assert not follower.active and "connection" in follower.message
        with pytest.raises(DeskhandError, match="not connected"):
            rig.driver.joint_state()
        rig.clock.sleep(0.5)
        stood = rig.true_angles()
        rig.port.plug()
        assert rig.step()
        rig.run(0.1)
        assert np.abs(rig.true_angles() - stood).max() < ARM.resolution
    assert rig.driver.status().counters.opened == 51


def test_a_servo_that_falls_silent_stops_the_arm() -> None:
    rig = started()
    follower = rig.driver.follow(smooth([HOME, OUT], 4.0))
    rig.run(0.5)
    rig.emulator.servos[4].answers = False
    rig.finish(follower)
    assert "joint4" in follower.message and "position" in follower.message
    rig.emulator.servos[4].answers = True
    rig.run(1.0)
    assert not rig.driver.status().fault
