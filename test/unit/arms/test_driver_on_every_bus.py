"""The driver follows a trajectory on every emulated bus that an arm of the configuration has, in the bus's own time."""

from __future__ import annotations

import numpy as np
import pytest

from deskhand.arms.config import list_arms, load_arm
from deskhand.arms.emulate.choice import EMULATORS
from deskhand.arms.emulate.rig import Rig
from deskhand.arms.model import RobotModel
from deskhand.types import Trajectory

PAIRS = [(arm, kind) for arm in list_arms() for kind in load_arm(arm).driver.kinds if kind in EMULATORS]


@pytest.mark.parametrize(("arm", "kind"), PAIRS)
def test_the_arm_goes_where_it_is_sent(arm: str, kind: str) -> None:
    model = RobotModel.load(arm)
    rig = Rig(model, kind, seed=1)
    assert rig.step()
    rig.run(0.2)
    start = rig.driver.joint_state().of(model.arm.joints)
    assert rig.true_angles() == pytest.approx(start, abs=model.arm.resolution)
    goal = np.clip(start + 0.3, [model.limits[j][0] for j in model.arm.joints], [model.limits[j][1] for j in model.arm.joints])
    times = np.linspace(0, 1.5, 31)
    share = (10 * (times / 1.5) ** 3 - 15 * (times / 1.5) ** 4 + 6 * (times / 1.5) ** 5)[:, None]
    follower = rig.driver.follow(Trajectory(model.arm.joints, times, start + share * (goal - start), np.zeros((0, len(start))), np.zeros((0, len(start)))))
    rig.finish(follower)
    assert follower.code == 0, follower.message
    rig.run(0.3)
    assert rig.true_angles() == pytest.approx(goal, abs=0.01)
    command = rig.driver.grip(model.arm.gripper.position_of(model.arm.gripper.width_min))
    rig.run(4.0)
    assert command.reached
