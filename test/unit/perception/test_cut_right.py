"""Desks of scenarios on which objects were seen in pieces, as one with what is beside or around them, or the robot's foot as a stain."""

import pytest

pytest.importorskip("mujoco")

from deskhand.bench.tools.run import all_scenarios, own_desk
from deskhand.tools.base import load_tools

REGISTRY = load_tools()[0]


def looked(tool, name, seed):
    """The desk of a scenario and a seed, looked at once."""
    desk = own_desk(next(item for item in all_scenarios() if (item.tool, item.name) == (tool, name)), REGISTRY, seed)
    desk.begin(f"{tool} {name}")
    desk.look()
    return desk


def test_two_pens_of_two_colours_side_by_side_are_two():
    """The border along both was taken for print, and one flat box explained them."""
    with looked("separate", "two_pens", 719) as desk:
        assert sorted((item.label, item.color) for item in desk.belief.scene.objects) == [("pen", "red"), ("pen", "yellow")]


def test_a_block_in_a_bin_is_not_what_goes_on_behind_the_wall_of_the_bin():
    """The bin's own wall hid the way from its rim to the block, whose top lies in one plane with the rest of the bin."""
    with looked("build_scene_graph", "carriers", 719) as desk:
        inside = [item for item in desk.belief.scene.objects if item.relation == "in"]
        assert [(item.label, item.color) for item in inside] == [("block", "red")]


def test_the_foot_of_a_block_on_a_pan_is_a_part_of_the_block():
    """The border of the pan's part ran 9 mm up the block, and the strip below, as long as the block is wide, was an object."""
    with looked("place_on_pan", "beside_another", 719) as desk:
        assert sorted(item.color for item in desk.belief.scene.objects if item.size.max() < 0.06) == ["blue", "red", "yellow"]


def test_the_foot_of_the_robot_is_no_stain():
    """It is outside of where objects are looked for, and its lowest pixels are as low as the table."""
    with looked("find_stains", "one_stain", 911) as desk:
        told = [item for item in desk.call("find_stains")["stains"] if item["position"][0] ** 2 + item["position"][1] ** 2 < 0.35**2]
        assert [item["color"] for item in told] == ["brown"]


def test_a_beam_on_which_a_block_stands_is_one_though_its_end_is_seen_aslant():
    """The end of the solid was a millimetre beyond that of the beam, and so the camera seemed to look through it."""
    with looked("check_stability", "pillar_removed", 412) as desk:
        assert sorted(item.color for item in desk.belief.scene.objects) == ["blue", "green", "green", "red", "yellow"]
