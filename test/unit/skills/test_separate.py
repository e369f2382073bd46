"""Things side by side: pushed out by the real skill on the simulated desk, and then grasped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.arms.config import load_arm
from deskhand.bench.tools.worlds import BLUE, RED, YELLOW, block, lying
from deskhand.local_robot import Devices, make_local_robot
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.skills.separate import separate


@contextmanager
def desk(world: WorldSpec) -> Iterator[tuple[Simulation, SkillContext]]:
    simulation = Simulation(world)
    camera = SimCamera(simulation)
    robot = make_local_robot(load_arm(world.arm), Devices(SimArm(simulation), SimGripper(simulation), camera, SimClock(simulation)))
    try:
        yield simulation, SkillContext(robot, Belief())
    finally:
        robot.close()
        camera.close()


def of_colour(ctx: SkillContext, colour: str) -> str:
    return next(item.id for item in ctx.look().objects if item.color == colour)


def test_of_two_pens_side_by_side_one_is_pushed_out_and_picked() -> None:
    random = np.random.default_rng(0)
    yaw, along = random.uniform(-np.pi, np.pi), random.uniform(-0.01, 0.01)
    off = 0.0096 * np.array([-np.sin(yaw), np.cos(yaw)]) + along * np.array([np.cos(yaw), np.sin(yaw)])
    x, y = random.uniform((-0.02, -0.1), (0.06, 0.1))
    world = WorldSpec((lying("pen", x, y, 0.12, RED, yaw=yaw), lying("other", x + off[0], y + off[1], 0.13, YELLOW, yaw=yaw)))
    with desk(world) as (simulation, ctx):
        name = of_colour(ctx, "red")
        before = simulation.truth().get("pen").pose[:2, 3]
        result = separate(ctx, name)
        assert result.ok, result.message
        moved = np.linalg.norm(simulation.truth().get("pen").pose[:2, 3] - before)
        assert moved == pytest.approx(result.data["moved"], abs=0.008)
        assert moved > 0.012
        picked = pick(ctx, name)
        assert picked.ok, picked.message
        assert simulation.truth().in_hand == ("pen",)
        assert separate(ctx, name).code == "already_holding"


def test_where_nothing_lies_beside_or_everything_around_it_nothing_moves() -> None:
    walls = [block(f"block_{number}", x, y, BLUE, edge=0.04) for number, (x, y) in enumerate([(0.0, 0.043), (0.0, -0.043), (0.043, 0.0), (-0.043, 0.0)])]
    world = WorldSpec((block("middle", 0.0, 0.0, RED, edge=0.04), *walls, block("alone", 0.1, 0.2, YELLOW)))
    with desk(world) as (simulation, ctx):
        before = simulation.truth()
        alone, middle = of_colour(ctx, "yellow"), of_colour(ctx, "red")
        assert separate(ctx, alone).code == "invalid_input"
        assert separate(ctx, middle).code == "no_free_space"
        for item in simulation.truth().objects:
            np.testing.assert_allclose(item.pose, before.get(item.name).pose, atol=1e-3)


@pytest.mark.parametrize(("x", "gap"), [(0.02, 0.030), (0.0, 0.006)])
def test_what_lies_along_the_wall_of_a_container_is_pushed_out_beyond_it_and_picked(x: float, gap: float) -> None:
    wall = -0.26 + 0.08
    box = {"kind": "box_open", "name": "box_open", "pose": {"x": 0.0, "y": -0.26, "yaw": 0.0}}
    pen = {"kind": "pen", "name": "pen", "color": "orange", "pose": {"x": x, "y": wall + gap + 0.005, "yaw": 0.05}}
    with desk(world_from_dict({"objects": [box, pen]})) as (simulation, ctx):
        name = of_colour(ctx, "orange")
        assert pick(ctx, name, attempts=1).code == "no_grasp", "else there is nothing to do"
        before = simulation.truth().get("box_open").pose[:3, 3]
        result = separate(ctx, name)
        assert result.ok, result.message
        picked = pick(ctx, name)
        assert picked.ok, picked.message
        assert simulation.truth().in_hand == ("pen",)
        assert np.linalg.norm(simulation.truth().get("box_open").pose[:3, 3] - before) < 0.01
