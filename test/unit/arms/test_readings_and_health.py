"""What is believed of servos: positions that they can have reached, complaints that are confirmed."""

from __future__ import annotations

import pytest

from deskhand.arms.bus.base import Health
from deskhand.arms.driver_config import HealthLimits
from deskhand.arms.position_filter import PositionFilter
from deskhand.arms.servo_watch import HealthWatch

LIMITS = HealthLimits(warm=60, hot=70, low=9.6, high=13.0)


def test_a_leap_is_believed_only_when_it_is_read_twice() -> None:
    readings = PositionFilter((0, 1000), 2000.0)
    assert readings.take(1, 500, 0.0)
    assert readings.take(1, 535, 0.02)
    assert not readings.take(1, 900, 0.04), "further than it can turn in 20 ms"
    assert readings.position(1) == 535
    assert readings.take(1, 540, 0.06), "a single one is forgotten"
    assert not readings.take(1, 100, 0.08)
    assert readings.take(1, 103, 0.10), "two that agree are true: somebody turned it"
    assert readings.position(1) == 103 and readings.doubted == 2


def test_positions_out_of_the_servos_range_are_never_believed() -> None:
    readings = PositionFilter((0, 1000), 2000.0)
    assert not any(readings.take(1, position, stamp) for stamp, position in enumerate((-200, -200, 1300, 1300, 30000)))
    assert readings.take(1, -20, 9.0), "servos may read a little below 0"


def test_speed_is_that_of_the_readings() -> None:
    readings = PositionFilter((0, 1000), 2000.0)
    for step in range(60):
        readings.take(1, 100 + 4 * step, 0.02 * step)
    assert readings.speed(1) == pytest.approx(200, rel=0.01)


def test_one_bad_reading_stops_nothing_two_do_and_it_must_clearly_be_gone() -> None:
    watch = HealthWatch(LIMITS, {1: "joint1", 2: "joint2"})
    watch.take(1, Health(200.0, 11.8))
    assert not watch.fault() and watch.suspicious() == 1
    watch.take(1, Health(40.0, 11.8))
    assert not watch.fault() and watch.suspicious() is None
    for _ in range(2):
        watch.take(2, Health(71.0, 11.8))
    assert "joint2" in watch.fault()
    watch.take(2, Health(65.0, 11.8))
    assert watch.fault(), "it has not cooled down"
    watch.take(2, Health(57.0, 11.8))
    assert not watch.fault()
    for _ in range(2):
        watch.take(1, Health(fault="overload"))
    assert "overload" in watch.fault() and watch.health(1).temperature == 40.0


def test_the_warmer_the_slower() -> None:
    watch = HealthWatch(LIMITS, {1: "joint1"})
    scales = []
    for degrees in (25.0, 60.0, 63.0, 66.0, 69.9):
        watch.take(1, Health(degrees))
        scales.append(watch.scale())
    assert scales[:2] == [1.0, 1.0] and scales == sorted(scales, reverse=True)
    assert 0.29 < scales[-1] < scales[2] < 1


def test_an_overloaded_gripper_holds_on_and_an_overloaded_joint_stops_the_arm() -> None:
    watch = HealthWatch(HealthLimits(), {1: "elbow_flex", 6: "gripper"})
    for _ in range(3):
        watch.take(6, Health(30.0, 12.0, 0.2, strained=True))
    assert watch.fault() == ""
    for _ in range(3):
        watch.take(1, Health(30.0, 12.0, 0.2, strained=True))
    assert watch.fault() == "elbow_flex is overloaded"
