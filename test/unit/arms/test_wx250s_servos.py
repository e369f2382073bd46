"""config/arms/wx250s.yaml against what the vendor says of the arm: interbotix_xsarm_control/config/wx250s.yaml, interbotix_xs_driver."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.driver_config import DynamixelLayout
from deskhand.arms.layout import DYNAMIXEL
from deskhand.arms.model import RobotModel

ARM = load_arm("wx250s")
DRIVER = ARM.driver
GRIPPER = DRIVER.gripper
# id: drive mode, secondary id, least and greatest position
MOTORS = {
    1: (0, 255, 0, 4095),
    2: (0, 255, 819, 3345),
    3: (1, 2, 819, 3345),
    4: (0, 255, 648, 3094),
    5: (1, 4, 648, 3094),
    6: (0, 255, 0, 4095),
    7: (1, 255, 910, 3447),
    8: (0, 255, 0, 4095),
    9: (0, 255, 0, 4095),
}
HORN, LINK = 0.014, 0.024  # [m]
FINGERS = (0.015, 0.037)  # [m]


def finger(ticks: float) -> float:
    """Position [m] of a finger, by the vendor's formula: the horn's end lies on a circle, the link reaches from there to the finger's line."""
    angle = (ticks - 2048) * math.tau / 4096
    return HORN * math.sin(angle) + math.sqrt(LINK**2 - (HORN * math.cos(angle)) ** 2)


def test_ids_drive_modes_shadows_and_limits_are_the_vendors() -> None:
    assert [DRIVER.servos[joint].id for joint in ARM.joints] == [1, 2, 4, 6, 7, 8] and GRIPPER.id == 9
    layout = DRIVER.dynamixel
    assert layout.reversed == {number for number, motor in MOTORS.items() if motor[0] & 1}
    assert layout.shadows == {number: motor[1] for number, motor in MOTORS.items() if motor[1] != 255}
    assert {number: layout.limits.get(number, (0, 4095)) for number in MOTORS} == {number: motor[2:] for number, motor in MOTORS.items()}
    assert (DRIVER.baud, layout.velocity_limit) == (1_000_000, 131)
    assert layout.output[9] * 885 == pytest.approx(350, abs=5)


def test_the_servos_reach_the_joints_limits_and_none_turns_farther() -> None:
    limits = RobotModel.load(ARM).limits
    for joint, servo in DRIVER.servos.items():
        low, high = MOTORS[servo.id][2:]
        assert servo.angle_of(low) == pytest.approx(limits[joint][0], abs=0.002), joint
        assert servo.angle_of(high) == pytest.approx(limits[joint][1], abs=0.002), joint
        assert servo.pulse_of(0.0) == 2048 and servo.step > 0
    assert 131 * 0.229 * math.tau / 60 == pytest.approx(float(ARM.max_velocity[0]), abs=0.001)


def test_the_grippers_table_is_the_linkages() -> None:
    config = ARM.gripper
    ticks = [row[0] for row in GRIPPER.table]
    for position, row in zip(FINGERS, (GRIPPER.table[0], GRIPPER.table[-1]), strict=True):
        assert finger(row[0]) == pytest.approx(position, abs=2e-5)
    for each in np.linspace(ticks[0], ticks[-1], 200):
        assert GRIPPER.width_of(each) == pytest.approx(config.width_of(finger(each)), abs=1.5e-4)
    straight = np.interp(ticks, [ticks[0], ticks[-1]], [GRIPPER.table[0][1], GRIPPER.table[-1][1]])
    assert np.abs(straight - [row[1] for row in GRIPPER.table]).max() > 0.002, "a straight line would have done"


def test_a_section_that_says_what_there_is_not_is_refused() -> None:
    said = [str(problem) for problem in DYNAMIXEL.check({"shadow_list": {}, "output": {9: 350}}, "driver.dynamixel")]
    assert len(said) == 2 and "driver.dynamixel.shadow_list" in said[0] and "driver.dynamixel.output.9" in said[1]
    assert DynamixelLayout.read({}).reversed is None
