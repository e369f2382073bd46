"""The room that is left in containers, against what geometry says."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.skills.room import room_in
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.types import Scene, Table

BIN = next(item for item in one_of_each() if item.id == "bin_1")


def desk(*items):
    return Scene((BIN, *items), Table(np.eye(4), (0.9, 1.1)), 0.0)


def block(edge, x, y, z=0.0):
    return an_object(
        f"block_{int(1000 * (x + y + z))}", "box", (edge, edge, edge), (BIN.position[0] + x, BIN.position[1] + y, BIN.bottom + BIN.wall + edge / 2 + z)
    )


def test_an_empty_container_is_free_and_each_block_takes_its_volume():
    inner = (BIN.size[:2] - 2 * BIN.wall).prod() * (BIN.size[2] - BIN.wall)
    empty = room_in(desk(), BIN)
    assert empty.share == pytest.approx(1.0, abs=0.01) and empty.volume == pytest.approx(inner, rel=0.03)
    one, two = room_in(desk(block(0.03, 0.0, 0.0)), BIN), room_in(desk(block(0.03, 0.0, 0.0), block(0.03, 0.04, 0.03)), BIN)
    assert empty.volume - one.volume == pytest.approx(1.25 * 0.03**3, rel=0.25)  # cells at its edges count whole
    assert one.volume - two.volume == pytest.approx(empty.volume - one.volume, rel=0.25)


def test_what_lies_high_leaves_no_room_below_it_and_nothing_counts_above_the_rim():
    low, high = room_in(desk(block(0.03, 0.0, 0.0)), BIN), room_in(desk(block(0.03, 0.0, 0.0, z=BIN.size[2] - 0.04)), BIN)
    assert high.volume < low.volume and high.highest == pytest.approx(0.04 - 0.03 - BIN.wall, abs=0.003)
    heap = room_in(desk(block(0.06, 0.0, 0.0, z=BIN.size[2])), BIN)
    assert heap.volume > 0.3 * room_in(desk(), BIN).volume and heap.highest == 0.0


def test_points_that_belong_to_nothing_known_count_and_objects_beside_the_container_do_not():
    inside = BIN.position + np.random.default_rng(3).uniform(-0.02, 0.02, (400, 3)) * [1, 1, 0.1]
    assert room_in(replace(desk(), cloud=inside.astype(np.float32)), BIN).share == pytest.approx(0.965, abs=0.015)
    beside = an_object("block_9", "box", (0.03, 0.03, 0.03), (BIN.position[0] + BIN.size[0] / 2 + 0.02, BIN.position[1], 0.015))
    assert room_in(desk(beside), BIN).volume == room_in(desk(), BIN).volume


def test_a_place_tells_the_room_that_is_left_and_a_full_container_is_refused():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(SkillContext(robot, belief), "block_1").ok
    before = room_in(belief.scene, belief.scene.get("bin_1"))
    edge = (BIN.size[:2] - 2 * BIN.wall) / 4
    spots = [np.array([*((np.array(spot) - 1.5) * edge), BIN.wall / 2]) for spot in np.ndindex(4, 4)]
    full = [an_object("filler", "box", (*edge, BIN.size[2] - BIN.wall), BIN.pose[:3, :3] @ spot + BIN.position, 0.05, color="grey") for spot in spots]
    scene = belief.scene
    belief.scene = replace(scene, objects=(*scene.objects, *full))
    refused = place_in(SkillContext(robot, belief), "bin_1")
    assert refused.code == "no_free_space" and "full" in refused.message and belief.held is not None
    belief.scene = scene
    placed = place_in(SkillContext(robot, belief), "bin_1")
    assert placed.ok and placed.data["free_volume"] < before.volume and 0.5 < placed.data["free_share"] < 1.0
