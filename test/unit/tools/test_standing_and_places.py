"""Stability, places and the scene graph on made scenes."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform
from deskhand.tools.cognition.graph import _path, described, region_of, regions
from deskhand.tools.cognition.stability import _contacts, _margin, falling
from deskhand.tools.perception.places import CELL, _distance, _grid, likelihood, understood
from deskhand.tools.perception.words import named_by
from deskhand.types import Scene, SceneObject, Table
from deskhand.world.spatial import relation_holds

EDGE = 0.04


def an_object(name, x, y, z=EDGE / 2, size=(EDGE, EDGE, EDGE), support="table", relation="on", **more):
    pose = make_transform(None, (x, y, z))
    label = name.rsplit("_", 1)[0]
    return SceneObject(name, label, "red", "box", np.array(size, float), pose, np.zeros((0, 3), np.float32), 1.0, support=support, relation=relation, **more)


def scene(*items):
    return Scene(tuple(items), Table(np.eye(4), (0.6, 0.9)), 0.0)


BRIDGE = (
    an_object("block_1", 0.0, 0.05),
    an_object("block_2", 0.0, -0.05),
    an_object("box_1", 0.0, 0.0, 0.05, (0.03, 0.14, 0.02), support="block_1"),
    an_object("block_3", 0.0, 0.0, 0.08, support="box_1"),
)


def falls(items, *removed):
    return falling(items, _contacts(items, scene(*items)), set(removed))


def test_a_bridge_falls_with_either_pillar_and_stands_without_its_load():
    assert falls(BRIDGE, "block_1") == falls(BRIDGE, "block_2") == {"box_1", "block_3"}
    assert falls(BRIDGE, "block_3") == set() and falls(BRIDGE, "box_1") == {"block_3"}


@pytest.mark.parametrize(("shift", "margin"), [(0.0, 0.0194), (0.01, 0.0094), (0.03, -0.0106)])
def test_the_margin_is_the_way_of_the_centre_to_the_edge_of_what_bears_it(shift, margin):
    lower, upper = an_object("block_1", 0, 0), an_object("block_2", shift, 0, 3 * EDGE / 2, support="block_1")
    contacts = [contact for contact in _contacts((lower, upper), scene(lower, upper)) if contact.upper == "block_2"]
    assert _margin([upper], contacts) == pytest.approx(margin, abs=0.0015)


def test_objects_that_stand_side_by_side_bear_nothing():
    pair = (an_object("block_1", 0.0, 0.0), an_object("block_2", EDGE, 0.0))
    assert {(c.upper, c.lower) for c in _contacts(pair, scene(*pair))} == {("block_1", "table"), ("block_2", "table")}


DESK = (an_object("cup_1", 0.0, 0.1), replace(an_object("block_1", 0.1, -0.1), color="blue"), an_object("box_1", -0.1, -0.1, size=(0.1, 0.06, EDGE)))


def test_a_phrase_becomes_references_and_what_is_none_is_refused():
    (first, second) = understood("to the left of the cup, and in front of the blue block", scene(*DESK))
    assert (first["relation"], first["object_id"]) == ("left_of", "cup_1") and (second["relation"], second["object_id"]) == ("in_front_of", "block_1")
    (between,) = understood("between the cup and the box", scene(*DESK))
    assert (between["object_id"], between["second_id"]) == ("cup_1", "box_1")
    for text, code in (("somewhere nice", "not_understood"), ("between the cup", "not_understood"), ("near the piano", "unknown_object")):
        with pytest.raises(DeskhandError) as caught:
            understood(text, scene(*DESK))
        assert caught.value.code == code


@pytest.mark.parametrize("relation", ["left_of", "right_of", "in_front_of", "behind", "near"])
def test_places_are_likely_only_where_the_relation_holds(relation):
    desk = scene(*DESK)
    grid = _grid(desk)
    weight = likelihood(desk, {"relation": relation, "object_id": "cup_1", "second_id": ""}, grid)
    field, good = grid.field(), 0.0
    for row, column in np.argwhere(weight > 0.02 * weight.max())[::7]:
        item = an_object("imagined_1", *field[row, column], 0.005, (0.01, 0.01, 0.01))
        holds = relation_holds(desk, item, relation, desk.get("cup_1"))[0]
        good += holds
        assert holds or relation == "near"
    assert good > 10


def test_the_distance_to_a_box_is_that_to_its_outline():
    away = _distance(DESK[2], np.array([[[-0.1, -0.1], [-0.04, -0.1], [-0.1, -0.03], [-0.02, -0.03]]]))[0]
    assert away == pytest.approx([-0.03, 0.01, 0.04, np.hypot(0.03, 0.04)], abs=1e-6) and CELL < 0.01


def test_words_name_objects_by_relation_too():
    desk = scene(*DESK)
    assert [item.id for item in named_by("the cup left of the block", desk)[0]] == ["cup_1"]
    assert named_by("the cup right of the block", desk)[0] == [] and named_by("the stapler", desk)[0] == []
    assert {item.id for item in described("everything", desk)} == {"cup_1", "block_1", "box_1"}


def test_regions_cover_the_desk_once_and_a_path_leads_down_to_the_top_of_a_stack():
    parts = regions(scene(*DESK))
    assert len({part.name for part in parts}) == 9 and sum((p.high[0] - p.low[0]) * (p.high[1] - p.low[1]) for p in parts) == pytest.approx(0.54)
    assert (
        region_of(scene(*DESK), an_object("block_9", 0.25, 0.4)) == "back_left" and region_of(scene(*DESK), an_object("block_9", -0.25, -0.4)) == "front_right"
    )
    assert _path(scene(*BRIDGE), BRIDGE[3]) == ["desk", "centre_middle", "block_1", "box_1", "block_3"]
