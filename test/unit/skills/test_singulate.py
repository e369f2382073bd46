"""Objects side by side: pushed out by the real skill on the simulated desk, and then grasped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.arms.config import load_arm
from deskhand.bench.tools.worlds import BLUE, RED, YELLOW, block, lying
from deskhand.geometry import make_transform, rotation_about
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.skills.robot.local import Devices, make_local_robot
from deskhand.skills.singulate import _lengthwise, separate
from deskhand.types import SceneObject


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("pen", 0.0231, 0.1173, -2.428, 0.1344, 0.0106), ("marker", 0.0118, 0.1349, 0.803, 0.1247, 0.0182)),
        (("marker", 0.0147, 0.0006, 2.831, 0.1279, 0.0182), ("marker", 0.0116, -0.0180, -0.311, 0.1144, 0.0176)),
    ],
)
def test_pens_whose_ends_a_small_arm_does_not_reach_are_turned_until_one_can_be_picked(one: tuple, other: tuple) -> None:
    objects = []
    for name, (kind, x, y, yaw, length, width) in (("one", one), ("other", other)):
        pose = {"x": x, "y": y, "yaw": yaw}
        objects.append({"kind": kind, "name": name, "color": "orange" if name == "one" else "blue", "size": [width, width, length], "pose": pose})
    with desk(world_from_dict({"arm": "jetarm", "objects": objects})) as (simulation, ctx):
        colours = {"one": "orange", "other": "blue"}
        codes = {pick(ctx, of_colour(ctx, colour), attempts=1).code for colour in colours.values()}
        assert codes == {"no_grasp"}, "else there is nothing to do"
        turned = []
        for name, colour in [*colours.items()] * 2:
            before = simulation.truth().get(name).pose[:3, 2]
            result = separate(ctx, of_colour(ctx, colour))
            if result.ok and "turned by" in result.message:
                after = simulation.truth().get(name).pose[:3, 2]
                turned.append((result.data["turned"], float(np.arccos(min(1.0, abs(float(before @ after)))))))
            if any(pick(ctx, of_colour(ctx, other), attempts=1).ok for other in colours.values() if not simulation.truth().in_hand):
                break
        assert len(simulation.truth().in_hand) == 1
        assert turned and all(said == pytest.approx(true, abs=np.deg2rad(4.0)) for said, true in turned)


def test_the_way_along_an_object_is_that_of_its_longest_side() -> None:
    pose = make_transform(rotation_about((0, 0, 1), 0.3), (0.1, 0.0, 0.009))
    marker = SceneObject("marker_1", "marker", "red", "box", np.array([0.018, 0.13, 0.017]), pose, np.zeros((0, 3), np.float32), 1.0)
    np.testing.assert_allclose(_lengthwise(marker)[0], [-np.sin(0.3), np.cos(0.3), 0.0], atol=1e-9)


def test_where_the_freed_end_would_be_out_of_reach_the_neighbour_is_pushed_out() -> None:
    along = np.array([np.cos(0.22), np.sin(0.22)])
    aside = 0.0093 * np.array([-along[1], along[0]])
    world = WorldSpec((lying("pen", 0.126, -0.046, 0.12, RED, yaw=0.22), lying("other", 0.126 + aside[0], -0.046 + aside[1], 0.13, YELLOW, yaw=0.22)))
    with desk(world) as (simulation, ctx):
        name = of_colour(ctx, "red")
        before = {item.name: item.pose[:2, 3].copy() for item in simulation.truth().objects}
        result = separate(ctx, name)
        assert result.ok and result.data["pushed"] != name, result.message
        went = {item.name: float(np.linalg.norm(item.pose[:2, 3] - before[item.name])) for item in simulation.truth().objects}
        assert went["other"] == pytest.approx(result.data["moved"], abs=0.008) and went["pen"] < 0.008
        assert pick(ctx, name).ok and simulation.truth().in_hand == ("pen",)
