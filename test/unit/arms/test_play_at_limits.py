"""A link may be by its play beyond what its servo is told: what is planned and told keeps that far away from where the joint ends."""

import math
from dataclasses import replace

import numpy as np
import pytest

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.joints import ArmJoints
from deskhand.arms.model import RobotModel

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
        assert np.allclose(np.subtract(planned.limits[name][:2], plain.limits[name][:2]), [PLAY, -PLAY])
    assert RobotModel.mechanical(load_arm("jetarm")) is plain


def test_a_servo_is_never_told_so_far_that_its_link_could_go_beyond_the_end(worn: ArmConfig) -> None:
    joints, ends = ArmJoints(RobotModel.load(worn)), RobotModel.mechanical(worn)
    for index, name in enumerate(worn.joints):
        low, high = ends.limits[name][:2]
        tick = abs(worn.driver.servos[name].step)
        for angle in (low - 1.0, high + 1.0):
            for lean in (-PLAY / 2, PLAY / 2):  # as it is believed to be; it may be the other
                joints.play.lean = np.full(len(worn.joints), lean)
                told = worn.driver.servos[name].angle_of(joints.ticks(index, angle))
                assert low - tick <= told - PLAY / 2 and told + PLAY / 2 <= high + tick
