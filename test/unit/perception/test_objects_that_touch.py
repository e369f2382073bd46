"""Objects side by side, on top of each other, and of several colours."""

import numpy as np
import pytest
from looked_at import an_object, found_at, look

CUBE = (0.035,) * 3


def check(one, scene):
    """Every object of the world is found once, with its name, where it is."""
    assert len(scene.objects) == len(one.world.objects), [(item.id, item.size) for item in scene.objects]
    for item in one.world.objects:
        found = found_at(scene, item, 0.02)
        assert found is not None, item.name
        assert found.label == item.kind
        assert np.linalg.norm(found.position - item.pose[:3, 3]) < 0.006


@pytest.mark.parametrize(
    "neighbours",
    [
        [an_object("block", "red", CUBE, 0.05, 0.0), an_object("block", "blue", CUBE, 0.05, 0.0355), an_object("ball", "green", (0.04,) * 3, 0.05, -0.039)],
        [an_object("block", "red", CUBE, 0.05, 0.0, name="a"), an_object("block", "red", CUBE, 0.05, 0.042, 0.5, name="b")],
        [an_object("block", "red", CUBE, 0.05, 0.0), an_object("ball", "red", (0.04,) * 3, 0.05, 0.039)],
        [an_object("can", "red", (0.04, 0.04, 0.08), 0.05, 0.0), an_object("block", "red", CUBE, 0.05, 0.039)],
        [
            an_object("can", "green", (0.0391, 0.0391, 0.0749), -0.024, 0.275, name="a"),
            an_object("can", "green", (0.0361, 0.0361, 0.0676), 0.006, 0.3, name="b"),
        ],
        [
            an_object("can", "yellow", (0.0395, 0.0395, 0.0712), -0.109, -0.285, name="a"),
            an_object("can", "green", (0.0366, 0.0366, 0.0736), -0.069, -0.283, name="b"),
        ],
    ],
    ids=["colours", "one colour, turned", "one colour, round and square", "one colour, high and low", "cans of one colour", "cans whose lids touch"],
)
def test_neighbours_are_told_apart(neighbours):
    one = look(*neighbours)
    check(one, one.detect())


def test_a_stack_is_two_objects_one_on_the_other():
    one = look(an_object("block", "red", CUBE, 0.05, 0.0), an_object("block", "blue", CUBE, 0.052, 0.002, 0.2, z=0.036))
    scene = one.detect()
    check(one, scene)
    lower, upper = (found_at(scene, item, 0.02) for item in one.world.objects)
    assert (upper.relation, upper.support) == ("on", lower.id)
    assert (lower.relation, lower.support) == ("on", "table")
    assert upper.bottom == pytest.approx(0.035, abs=0.004)


def test_a_can_with_a_metal_lid_is_one_object_of_the_colour_of_its_side():
    one = look(an_object("can", "green", (0.04, 0.04, 0.08), 0.03, 0.05))
    scene = one.detect()
    check(one, scene)
    assert scene.objects[0].color == "green"


def test_a_full_container_stays_a_container():
    tray = an_object("tray", "white", (0.21, 0.16, 0.03), 0.0, 0.28)
    colors = ["red", "blue", "green", "orange", "purple", "yellow"]
    spots = [(x, y) for y in (0.235, 0.28, 0.325) for x in (-0.035, 0.035)]
    blocks = [an_object("block", color, (0.036,) * 3, x, y, z=0.005) for color, (x, y) in zip(colors, spots, strict=True)]
    one = look(tray, *blocks)
    scene = one.detect()
    container = found_at(scene, tray)
    assert container is not None and container.label == "tray"
    assert sorted(item.color for item in scene.objects if item.support == container.id and item.relation == "in") == sorted(colors)


def test_two_objects_of_one_colour_in_a_row_are_no_container():
    one = look(an_object("ball", "brown", (0.041,) * 3, 0.016, -0.141), an_object("block", "brown", CUBE, -0.009, -0.072, 0.6))
    check(one, one.detect())


def test_a_tower_of_blocks_of_one_colour_is_as_many_blocks_each_on_the_one_below():
    one = look(*(an_object("block", "red", CUBE, 0.05 + 0.0008 * n, 0.001 * n, 0.8 + 0.03 * n, z=0.0352 * n, name=f"block {n}") for n in range(3)))
    scene = one.detect()
    check(one, scene)
    low, middle, high = (found_at(scene, item, 0.02) for item in one.world.objects)
    assert (low.support, middle.support, high.support) == ("table", low.id, middle.id)


def test_one_tall_box_is_no_tower():
    one = look(an_object("box", "red", (0.035, 0.035, 0.105), 0.05, 0.0))
    assert len(one.detect().objects) == 1


def test_pens_of_one_colour_that_meet_are_two_pens():
    pens = (
        an_object("pen", "blue", (0.010, 0.010, 0.13), 0.03, 0.0, 1.4, name="a"),
        an_object("pen", "blue", (0.010, 0.010, 0.13), 0.106, 0.02, 0.1, name="b"),
    )
    one = look(*pens)
    check(one, one.detect())


def test_a_cup_on_a_box_of_its_colour_stands_on_it():
    one = look(an_object("box", "green", (0.07, 0.06, 0.04), 0.05, 0.0), an_object("cup", "green", (0.04, 0.04, 0.055), 0.05, 0.0, z=0.0405))
    scene = one.detect()
    check(one, scene)
    box, cup = (found_at(scene, item, 0.02) for item in one.world.objects)
    assert cup.support == box.id and cup.size[2] == pytest.approx(0.055, abs=0.006)


def test_a_sponge_that_hides_what_it_stands_on_is_no_higher_than_it_is_seen():
    one = look(an_object("block", "yellow", CUBE, 0.04, 0.0), an_object("sponge", "blue", (0.08, 0.09, 0.025), 0.05, 0.0, z=0.0352))
    sponge = found_at(one.detect(), one.world.objects[1], 0.02)
    assert sponge is not None and sponge.size[2] == pytest.approx(0.025, abs=0.006)
