"""The real push on the simulated desk, with something close behind the object."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.arms.config import load_arm
from deskhand.bench.tools.worlds import BLUE, ORANGE, block, upright
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.push import BEHIND, push
from deskhand.skills.robot.local import Devices, make_local_robot

AWAY = np.pi / 2


def test_a_block_is_pushed_where_the_fingers_find_little_room_behind_it() -> None:
    arm = load_arm("wx250s")
    gap = arm.gripper.finger_breadth + BEHIND  # the fingers would touch the box where they come down otherwise
    world = WorldSpec((block("blue", 0.03, 0.0, BLUE), upright("box", "box", (0.09, 0.05, 0.04), 0.03, -0.0175 - gap - 0.025 + 0.004, ORANGE)))
    simulation = Simulation(world)
    with closing(SimCamera(simulation)) as camera:
        robot = make_local_robot(arm, Devices(SimArm(simulation), SimGripper(simulation), camera, SimClock(simulation)))
        ctx = SkillContext(robot, Belief())
        name = next(item.id for item in ctx.look().objects if item.color == "blue")
        before = {item.name: item.pose[:2, 3].copy() for item in simulation.truth().objects}
        result = push(ctx, name, AWAY, 0.05)
        assert result.ok, result.message
        truth = simulation.truth()
        assert truth.get("blue").pose[:2, 3] - before["blue"] == pytest.approx([0.0, 0.05], abs=0.01)
        assert truth.get("box").pose[:2, 3] == pytest.approx(before["box"], abs=0.001)
