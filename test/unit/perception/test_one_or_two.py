"""Objects seen in pieces, and pieces that look like one: what stands before an object, and what touches another of its colour."""

import numpy as np
import pytest
from looked_at import COLORS, an_object, found_at, look

from deskhand.geometry import make_transform, rotation_about
from deskhand.perception.classify import Appearance, load_classifier
from deskhand.perception.segment.slices import round_from
from deskhand.sim.spec import ObjectSpec


def off(found, item):
    """Largest difference [m] of an extent."""
    return float(np.abs(np.sort(found.size) - np.sort(item.size)).max())


def across(kind, color, size, yaw, object_below, reach):
    """A pen or marker with its low end on the table that lies over the middle of a box, whose near edge it meets ``reach`` [m] from there."""
    slope = float(np.arctan((object_below.size[2] + 0.002) / reach))
    direction, half = np.array([np.cos(yaw), np.sin(yaw)]), size[0] / 2
    foot = object_below.pose[:2, 3] - (reach + min(object_below.size[:2]) / 2) * direction
    rotation = rotation_about((0, 0, 1), yaw) @ rotation_about((0, 1, 0), np.pi / 2 - slope)
    middle = foot + size[2] / 2 * np.cos(slope) * direction
    height = half * np.cos(slope) + size[2] / 2 * np.sin(slope)
    return ObjectSpec(kind, kind, size, COLORS[color], 0.01, make_transform(rotation[:3, :3], (*middle, height)))


@pytest.mark.parametrize(("kind", "color", "size"), [("sponge", "yellow", (0.072, 0.039, 0.024)), ("box", "red", (0.066, 0.037, 0.040))])
@pytest.mark.parametrize("color_above", ["purple", "orange"])
def test_a_object_that_a_marker_lies_across_is_one(kind, color, size, color_above):
    below = an_object(kind, color, size, 0.03, 0.0, np.pi / 2 + 0.2)
    one = look(below, across("marker", color_above, (0.017, 0.017, 0.118), np.pi + 0.2, below, 0.07), settle=0.0)
    scene = one.detect()
    found = found_at(scene, one.world.objects[0], 0.015)
    assert found is not None and found.label == kind
    assert off(found, below) < 0.005
    assert len(scene.objects) == 2


def test_cans_whose_lids_touch_are_two():
    cans = an_object("can", "blue", (0.036, 0.036, 0.068), 0.0, 0.072), an_object("can", "purple", (0.037, 0.037, 0.067), 0.0, 0.109)
    scene = look(*cans).detect()
    for can in cans:
        found = found_at(scene, can, 0.01)
        assert found is not None and found.label == "can" and off(found, can) < 0.004


@pytest.mark.parametrize("yaw", [0.1, 0.5, 0.8])
def test_a_cup_on_a_block_of_its_colour_is_two_objects(yaw):
    block, cup = an_object("block", "orange", (0.031,) * 3, 0.02, 0.05, yaw), an_object("cup", "orange", (0.041, 0.041, 0.053), 0.021, 0.049, z=0.0312)
    scene = look(block, cup).detect()
    lower, upper = found_at(scene, block, 0.012), found_at(scene, cup, 0.012)
    assert lower is not None and upper is not None and upper.label == "cup" and upper.support == lower.id
    assert off(upper, cup) < 0.006


@pytest.mark.parametrize(("kind", "size", "x", "y"), [("marker", (0.017, 0.017, 0.124), 0.055, 0.02), ("sponge", (0.073, 0.041, 0.023), 0.067, -0.005)])
def test_a_cup_that_stands_behind_an_object_of_its_colour_goes_down_to_the_table(kind, size, x, y):
    cup = an_object("cup", "yellow", (0.041, 0.041, 0.055), 0.02, 0.03)
    scene = look(cup, an_object(kind, "yellow", size, x, y, 1.0)).detect()
    found = found_at(scene, cup, 0.01)
    assert found is not None and found.label == "cup" and found.support == "table"
    assert off(found, cup) < 0.004


@pytest.mark.parametrize("turn", [0.0, 2.0, 4.0])
def test_a_pen_whose_tip_meets_another_pen_ends_there(turn):
    size = (0.0105, 0.0105, 0.134)
    direction = np.array([np.cos(turn), np.sin(turn)])
    pen = an_object("pen", "red", size, 0.03, 0.0, turn)
    side = np.cross((0, 0, 1), (*direction, 0))[:2]
    tip = pen.pose[:2, 3] - direction * (size[2] / 2 + 0.0055)
    other = an_object("pen", "purple", (0.010, 0.010, 0.130), *(tip + 0.02 * side), turn + np.pi / 2, name="other")
    found = found_at(look(pen, other).detect(), pen, 0.015)
    assert found is not None and found.label == "pen"
    assert off(found, pen) < 0.005


@pytest.mark.parametrize("yaw", [-0.1, 0.15, 0.4])
def test_a_block_behind_a_can_is_as_deep_as_it_is_wide(yaw):
    block, can = an_object("block", "green", (0.037,) * 3, -0.02, -0.2, yaw), an_object("can", "purple", (0.038, 0.038, 0.07), 0.018, -0.178)
    found = found_at(look(block, can).detect(), block, 0.02)
    assert found is not None and found.label == "block"
    assert off(found, block) < 0.005


@pytest.mark.parametrize(("kind", "size"), [("block", (0.036,) * 3), ("eraser", (0.048, 0.022, 0.013))])
@pytest.mark.parametrize("yaw", [0.4, 1.0])
def test_of_what_a_bin_hides_half_a_corner_of_its_top_is_no_round_object(kind, size, yaw):
    hidden = an_object(kind, "green", size, 0.035, 0.26, yaw, z=0.004)
    one = look(an_object("bin", "black", (0.17, 0.14, 0.07), 0.0, 0.27), hidden)
    found = found_at(one.detect(), hidden, 0.02)
    assert found is not None and found.shape == "box"


def test_long_objects_that_lie_round_a_piece_of_desk_are_no_tray():
    one = look(
        an_object("marker", "purple", (0.017, 0.017, 0.128), 0.028, 0.181, 1.65, name="first"),
        an_object("pen", "orange", (0.011, 0.011, 0.127), -0.009, 0.185, 1.68, name="second"),
        an_object("marker", "purple", (0.018, 0.018, 0.128), -0.056, 0.173, 1.62, name="third"),
    )
    scene = one.detect()
    assert sorted(item.label for item in scene.objects) == ["marker", "marker", "pen"]


def test_cans_on_each_other_meet_in_the_middle_of_their_rims():
    lower, upper = an_object("can", "orange", (0.036, 0.036, 0.071), -0.05, -0.03), an_object("can", "purple", (0.036, 0.036, 0.066), -0.049, -0.03, z=0.0712)
    scene = look(lower, upper).detect()
    for can in (lower, upper):
        found = found_at(scene, can, 0.02)
        assert found is not None and found.label == "can" and off(found, can) < 0.004


def wall(random, half_width, low, high, square):
    """Points (400, 3) on the near half of an upright wall, round or of a box turned by 0.6."""
    angle = random.uniform(-np.pi / 2, np.pi / 2, 400)
    around = half_width * np.array([np.cos(angle), np.sin(angle)])
    if square:
        side = random.uniform(-half_width, half_width, 400)
        near = np.where(random.random(400) < 0.5, 1.0, 0.0)
        box = np.array([np.where(near == 1.0, half_width, side), np.where(near == 1.0, side, half_width)])
        around = np.array([[np.cos(0.6), np.sin(0.6)], [-np.sin(0.6), np.cos(0.6)]]) @ box
    return np.column_stack([*(around + random.normal(0, 0.0005, (2, 400))), random.uniform(low, high, 400)])


@pytest.mark.parametrize("seed", range(5))
def test_a_round_wall_is_told_from_a_box_below_it(seed):
    random = np.random.default_rng(seed)
    above = wall(random, 0.020, 0.030, 0.085, square=False)
    height = round_from(np.concatenate([above, wall(random, 0.0165, 0.0, 0.030, square=True)]), 0.085)
    assert height == pytest.approx(0.030, abs=0.003)
    assert round_from(np.concatenate([above, wall(random, 0.020, 0.0, 0.030, square=False)]), 0.085) is None
    assert round_from(wall(random, 0.018, 0.0, 0.085, square=True), 0.085) is None


@pytest.mark.parametrize("yaw", [0.3, 0.7])
def test_a_can_on_a_block_of_its_colour_and_about_its_width_is_two_objects(yaw):
    block, can = an_object("block", "purple", (0.030,) * 3, 0.05, -0.15, yaw), an_object("can", "purple", (0.035, 0.035, 0.072), 0.048, -0.151, z=0.0302)
    found = found_at(look(block, can).detect(), can, 0.012)
    assert found is not None and found.label == "can" and off(found, can) < 0.005


def test_erasers_on_each_other_are_two():
    lower, upper = (
        an_object("eraser", "green", (0.051, 0.021, 0.013), 0.03, -0.06, 1.4),
        an_object("eraser", "red", (0.046, 0.022, 0.012), 0.033, -0.06, 0.9, z=0.0132),
    )
    scene = look(lower, upper).detect()
    found = found_at(scene, upper, 0.01)
    assert found is not None and found.label == "eraser" and off(found, upper) < 0.005


def test_a_can_is_round_about_its_length():
    classifier = load_classifier()
    assert classifier.label(Appearance("cylinder", np.array([0.042, 0.042, 0.036]), "red"))[0] != "can"
    assert classifier.label(Appearance("cylinder", np.array([0.037, 0.037, 0.066]), "red"))[0] == "can"
    assert classifier.label(Appearance("cylinder", np.array([0.085, 0.085, 0.040]), "red"))[0] == "can"  # of tuna
