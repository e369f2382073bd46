"""Into a drawer that stands open, and lids that are closed, in physics."""

from dataclasses import replace

import numpy as np

from deskhand.bench.tools.worlds import open_furniture
from deskhand.geometry import inverse, transform_points
from deskhand.perception.lids import find_open_lid
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.sim.reality.file import load_reality
from deskhand.skills.articulated import close_drawer
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.lids import close_lid
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.trials.local import local_robot


def test_a_block_goes_into_an_open_drawer_which_is_shut_on_it_and_a_lid_falls_shut(tmp_path):
    world = replace(open_furniture(np.random.default_rng(5)), reality=load_reality("mild", 5), seed=5)
    with EpisodeWriter(tmp_path) as writer, local_robot(world, writer, tmp_path / "m.sqlite") as parts:
        parts.wait(0.5)
        ctx = SkillContext(parts.robot, Belief())
        scene = ctx.look()
        drawer = next(item.id for item in scene.objects if item.label == "drawer")
        block = next(item.id for item in scene.objects if item.color == "red")
        assert pick(ctx, block).ok
        placed = place_in(ctx, drawer)
        assert placed.ok, placed.message
        fixture = next(one for one in world.fixtures if one.name == "drawer")

        def inside():
            block = next(one for one in parts.simulation.truth().objects if one.name == "block")
            x, y, z = transform_points(inverse(fixture.pose), block.pose[:3, 3])
            return abs(y) < fixture.size[1] / 2 and x < fixture.size[0] / 2 and z < 0.035

        assert inside()
        pushed = close_drawer(ctx, drawer)
        assert pushed.ok, pushed.message
        assert parts.simulation.truth().joints["drawer/drawer"] < 0.006 and inside()
        assert ctx.belief.shut.get(drawer) in {item.id for item in ctx.belief.scene.objects}, "it is known to be in its case"

        lid = next(item.id for item in ctx.belief.scene.objects if find_open_lid(ctx.belief.scene.cloud, item) is not None)
        shut = close_lid(ctx, lid)
        assert shut.ok, shut.message
        parts.simulation.step(1.0)
        assert np.degrees(parts.simulation.truth().joints["lid_box/lid"]) < 3.0
        assert shut.data["height_after"] < 0.7 * shut.data["height_before"]
        again = [close_lid(ctx, item.id).code for item in ctx.belief.scene.objects]
        assert set(again) == {"no_lid"}, "nothing stands open any more"
