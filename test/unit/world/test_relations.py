"""One meaning of spatial words, whoever asks; how objects lie, whatever axis of theirs points up."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.geometry import make_transform, rotation_about
from deskhand.language.resolve import beside
from deskhand.planning.goals import Goal, satisfied
from deskhand.tools.objects import object_data
from deskhand.types import Scene, SceneObject, Table
from deskhand.world.level import level, turn_between
from deskhand.world.relations import DIRECTIONS, RELATIONS, Body, between, gap, sideways
from deskhand.world.spatial import beside_holds, relation_holds

TABLE = Table(pose=np.eye(4), size=np.array([1.0, 1.0]))


def an_object(name, x, y, size=(0.03, 0.03, 0.03), rotation=None, shape="box", support="table"):
    pose = make_transform(np.eye(3) if rotation is None else rotation, [x, y, 0.02])
    return SceneObject(name, "block", "red", shape, np.array(size), pose, np.zeros((0, 3), np.float32), 1.0, support=support)


def test_all_who_ask_get_the_same_answer_of_drawn_pairs():
    rng = np.random.default_rng(3)
    answers = {relation: [] for relation in (*DIRECTIONS, "near")}
    for _ in range(400):
        a, b = (
            an_object(name, *rng.uniform(-0.2, 0.2, 2), rng.uniform(0.01, 0.12, 3), rotation_about([0, 0, 1], rng.uniform(-3, 3)))
            for name in ("block_1", "block_2")
        )
        scene = Scene((a, b), TABLE, 0.0)
        seen = [object_data(a), object_data(b)]
        for relation in answers:
            measured = relation_holds(scene, a, relation, b)[0]
            assert beside(relation, *seen) is measured, (relation, seen)
            assert satisfied(Goal("block_1", relation, "block_2"), seen) is beside_holds(scene, a, relation, b)[0]
            answers[relation].append(measured)
    assert all(0.05 < np.mean(values) < 0.6 for values in answers.values())


def test_thirty_centimetres_to_the_left_is_left_but_not_beside():
    a, b = an_object("block_1", 0.0, 0.3), an_object("block_2", 0.0, 0.0)
    scene = Scene((a, b), TABLE, 0.0)
    assert relation_holds(scene, a, "left_of", b)[0] and beside("left_of", object_data(a), object_data(b))
    holds, why = beside_holds(scene, a, "left_of", b)
    assert not holds and "gap is 270 mm" in why
    assert not satisfied(Goal("block_1", "left_of", "block_2"), [object_data(a), object_data(b)])


def test_of_two_objects_apart_one_direction_holds_and_its_opposite_the_other_way_round():
    rng = np.random.default_rng(4)
    opposite = {"left_of": "right_of", "right_of": "left_of", "behind": "in_front_of", "in_front_of": "behind"}
    for _ in range(200):
        a, b = (Body(name, rng.uniform(-0.3, 0.3, 2), (0.03, 0.03), 0.0) for name in "ab")
        holds = [relation for relation in DIRECTIONS if sideways(a, b, relation)]
        assert holds == [relation for relation in DIRECTIONS if sideways(b, a, opposite[relation])]
        assert len(holds) == 1 or max(abs(a.centre - b.centre)) < 0.01
    assert set(RELATIONS) == {"on", "in", "near", *DIRECTIONS}


def test_the_gap_of_two_outlines():
    long = Body("a", np.zeros(2), (0.2, 0.01), np.pi / 4)
    assert gap(long, Body("b", np.array([0.1, 0.1]), (0.02, 0.02), np.pi / 4)) == pytest.approx(np.hypot(0.1, 0.1) - 0.11, abs=1e-9)
    assert gap(long, Body("b", np.array([0.05, 0.05]), (0.02, 0.02), 0.0)) == 0.0


def test_between():
    ends = [Body("a", np.array([-0.1, 0.0]), (0.02, 0.02), 0.0), Body("b", np.array([0.1, 0.0]), (0.02, 0.02), 0.0)]
    assert between(Body("c", np.array([0.02, 0.04]), (0.02, 0.02), 0.0), ends)
    assert not between(Body("c", np.array([0.02, 0.06]), (0.02, 0.02), 0.0), ends)
    assert not between(Body("c", np.array([0.09, 0.0]), (0.02, 0.02), 0.0), ends)


@pytest.mark.parametrize("heading", [-1.2, 0.0, 0.8])
@pytest.mark.parametrize("roll", [-2.0, 0.0, 0.7])
def test_a_lying_cylinder_has_the_heading_of_its_long_axis(heading, roll):
    lying = rotation_about([0, 0, 1], heading) @ rotation_about([0, 1, 0], np.pi / 2) @ rotation_about([0, 0, 1], roll)
    pen = an_object("pen_1", 0.1, 0.0, (0.012, 0.012, 0.14), lying, "cylinder")
    lies = level(pen.pose, pen.size)
    assert lies.oblong and abs(turn_between(lies.yaw, heading)) < 1e-9
    assert lies.size == pytest.approx([0.14, 0.012, 0.012])
    told = object_data(pen)
    assert told["size"] == [0.14, 0.012, 0.012] and abs(turn_between(told["yaw"], heading)) < 1e-3


def test_a_standing_box_keeps_its_axes_and_a_wide_one_heads_along_its_longer_side():
    turned = rotation_about([0, 0, 1], 0.4)
    assert level(make_transform(turned), [0.03, 0.03, 0.06]).yaw == pytest.approx(0.4)
    wide = level(make_transform(turned), [0.03, 0.08, 0.06])
    assert wide.size == pytest.approx([0.08, 0.03, 0.06]) and abs(turn_between(wide.yaw, 0.4 + np.pi / 2)) < 1e-9


def test_what_the_fingers_cannot_close_about_is_beyond_the_reach_of_the_arm():
    arm = load_arm("wx250s")
    x, y = arm.world_T_base[:2, 3]
    most = arm.work_radius[1]
    turned = rotation_about([0, 0, 1], np.pi / 4)
    for distance, size, rotation, beyond in (
        (most + 0.03, (0.04, 0.04, 0.04), None, True),
        (most + 0.005, (0.04, 0.04, 0.04), None, False),
        (most + 0.025, (0.06, 0.06, 0.12), turned, True),  # its corner is within reach, its middle is not
        (most + 0.05, (0.15, 0.01, 0.01), None, False),  # a pen that points at the arm is taken by its near end
        (most + 0.05, (0.01, 0.15, 0.01), None, True),
        (most - 0.1, (0.04, 0.04, 0.04), None, False),
    ):
        item = an_object("block_1", x + distance, y, size, rotation)
        assert object_data(item, arm).get("beyond_reach", False) is beyond, distance
