import numpy as np
import pytest

from deskhand.testing.desk_scene import desk
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.world.relations import DIRECTIONS
from deskhand.world.spatial import footprint_gap, inside, relation_holds

CUBE = (0.04, 0.04, 0.04)


def cube(name, x, y, z=0.02, yaw=0.0, **more):
    return an_object(name, "box", CUBE, (x, y, z), yaw, **more)


def holds(a, relation, b, *others):
    return relation_holds(desk(a, *([b] if b else []), *others), a, relation, b)[0]


@pytest.mark.parametrize(("offset", "relation"), [((0.0, 0.1), "left_of"), ((0.0, -0.1), "right_of"), ((0.1, 0.0), "behind"), ((-0.1, 0.0), "in_front_of")])
def test_directions_are_as_seen_from_the_robot(offset, relation):
    a, b = cube("a", *offset), cube("b", 0, 0)
    assert [name for name in DIRECTIONS if holds(a, name, b)] == [relation]


def test_a_object_far_to_the_side_is_not_behind():
    assert holds(cube("a", 0.1, 0.1), "behind", cube("b", 0, 0)) and holds(cube("a", 0.1, 0.1), "left_of", cube("b", 0, 0))
    assert not holds(cube("a", 0.04, 0.2), "behind", cube("b", 0, 0))
    assert not holds(cube("a", 0.0, 0.005), "left_of", cube("b", 0, 0))


@pytest.mark.parametrize("seed", range(20))
def test_the_gap_of_two_boxes_is_at_most_that_of_their_points(seed):
    random = np.random.default_rng(seed)
    a, b = (cube(name, *random.uniform(-0.1, 0.1, 2), yaw=random.uniform(-3, 3)) for name in "ab")
    points = np.linalg.norm(a.points[:, None, :2] - b.points[None, :, :2], axis=-1).min()
    gap = footprint_gap(a, b)
    assert gap <= points + 1e-6
    assert gap >= 0.7 * points - 0.02  # separating axes may say less at corners


def test_near_is_about_the_gap_not_the_centres():
    long = an_object("long", "box", (0.4, 0.03, 0.03), (0.0, 0.0, 0.015))
    assert holds(cube("a", 0.18, 0.06), "near", long)
    assert not holds(cube("a", 0.18, 0.15), "near", long)


def test_on_and_in_follow_what_carries_what():
    bin_ = an_object("bin", "box", (0.16, 0.16, 0.08), (0, 0.3, 0.04), label="bin", is_container=True, wall=0.004)
    low = cube("low", 0, 0.3, 0.024, support="bin", relation="in")
    high = cube("high", 0, 0.3, 0.064, support="low", relation="on")
    free = cube("free", 0.1, 0.0)
    others = (low, high, free)
    assert holds(low, "in", bin_, *others) and holds(high, "in", bin_, *others) and not holds(free, "in", bin_, *others)
    assert holds(high, "on", low, bin_, free) and not holds(high, "on", free, bin_, low)
    assert holds(free, "on", None, *others[:2], bin_) and not holds(low, "on", None, bin_)
    assert not holds(low, "in", free, bin_)  # no container
    assert not holds(low, "in", low)


def test_inside_is_judged_by_geometry_when_perception_says_nothing():
    bin_ = an_object("bin", "box", (0.16, 0.16, 0.08), (0, 0.3, 0.04), 0.5, label="bin", is_container=True, wall=0.004)
    assert inside(cube("a", 0.02, 0.28, 0.03), bin_) and holds(cube("a", 0.02, 0.28, 0.03), "in", bin_)
    assert not inside(cube("a", 0.0, 0.3, 0.12), bin_)  # above the rim
    assert not inside(cube("a", 0.0, 0.17, 0.02), bin_)  # beside it


def test_what_is_held_is_nowhere():
    held, other = cube("a", 0, 0, 0.06, support="gripper", relation="held"), cube("b", 0, 0)
    answer, reason = relation_holds(desk(held, other), held, "on", other)
    assert not answer and "gripper" in reason
