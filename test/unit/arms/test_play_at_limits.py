"""A link may be by its play beyond what its servo is told: what is planned and told keeps that far away from where the joint ends."""

import math
from dataclasses import replace

import numpy as np
import pytest

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.joints import ArmJoints
from deskhand.arms.model import RobotModel
from deskhand.motion.search import PADDINGS, paddings_of

PLAY = math.radians(1.5)


@pytest.fixture(scope="module")
def worn() -> ArmConfig:
    arm = load_arm("jetarm")
    servos = {name: replace(servo, backlash=PLAY) for name, servo in arm.driver.servos.items()}
    return replace(arm, driver=replace(arm.driver, servos=servos))


def test_limits_leave_room_for_the_play(worn: ArmConfig) -> None:
    plain, planned, ends = RobotModel.load("jetarm"), RobotModel.load(worn), RobotModel.mechanical(worn)
    for name in worn.joints:
        assert ends.limits[name] == plain.limits[name]
        assert np.allclose(np.subtract(planned.limits[name][:2], plain.limits[name][:2]), [PLAY / 2, -PLAY / 2])
    assert RobotModel.mechanical(load_arm("jetarm")) is plain


def test_a_servo_is_never_told_so_far_that_its_link_could_go_beyond_the_end(worn: ArmConfig) -> None:
    joints, ends = ArmJoints(RobotModel.load(worn)), RobotModel.mechanical(worn)
    for index, name in enumerate(worn.joints):
        low, high = ends.limits[name][:2]
        tick = abs(worn.driver.servos[name].step)
        for angle in (low - 1.0, high + 1.0):
            told = worn.driver.servos[name].angle_of(joints.ticks(index, angle))
            assert low - tick <= told - PLAY / 2 and told + PLAY / 2 <= high + tick


def test_an_arm_with_play_keeps_farther_from_obstacles_where_there_is_room(worn: ArmConfig) -> None:
    assert paddings_of(load_arm("jetarm")) == PADDINGS
    off = worn.reach * PLAY / 2 * math.sqrt(len(worn.joints))
    assert paddings_of(worn) == (pytest.approx(off), pytest.approx(off / 2), *PADDINGS)
