"""Scenes, words and goals of eb_pick and eb_stack, and end states made by hand, of which each must be judged as what it is."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, Truth, TruthObject, WorldSpec, pose_at
from deskhand.tasks.eb_goals import Stacked, middle_of, unmet
from deskhand.tasks.eb_manipulation import HELD_OUT, SUBSETS, EbPick, EbStack, settings
from deskhand.tasks.placement import footprint_of, outline
from deskhand.types.colors import lab_of

PICK, STACK = EbPick(), EbStack()
SEEDS = range(15)


def start(task, seed):
    return Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose, 0.0, item.shape) for item in task.world(seed).objects))


def put(truth, name, x, y, z, **changed):
    """The truth with an object upright, its underside at height z."""
    item = truth.get(name)
    new = replace(item, pose=pose_at(x, y, z + item.size[2] / 2), **changed)
    return replace(truth, objects=tuple(new if other.name == name else other for other in truth.objects))


def in_container(truth, name, container, aside=0.0, z=0.004):
    x, y = truth.get(container).pose[:2, 3]
    return put(truth, name, x + aside, y, z)


def on_top(truth, top, bottom, aside=0.0, gap=0.0, **changed):
    below = truth.get(bottom)
    x, y = below.pose[:2, 3]
    return put(truth, top, x + aside, y, below.pose[2, 3] + below.size[2] / 2 + gap, **changed)


# ---------------------------------------------------------------- scenes and words


@pytest.mark.parametrize("task", [PICK, STACK])
def test_scenes_are_as_promised(task):
    for seed in SEEDS:
        setting = task.setting(seed)
        assert setting.subset == task.group(seed) == SUBSETS[seed % 5]
        shapes = [item for item in setting.world.objects if item.kind not in CONTAINER_KINDS]
        boxes = [item for item in setting.world.objects if item.kind in CONTAINER_KINDS]
        low, high = (0.026, 0.034) if task is PICK else (0.022, 0.034)
        assert all(low <= max(item.size[:2]) <= high for item in shapes)
        assert len(boxes) == (2 if task is PICK else 0)
        spots = [footprint_of(item) for item in setting.world.objects]
        assert min(a.distance(b) for a, b in itertools.combinations(spots, 2)) >= 0.030, seed  # along a side; 45 mm from corner to corner
        for group in (shapes, boxes):
            for one, other in itertools.combinations(group, 2):
                assert np.linalg.norm(lab_of(np.array(one.rgb) * 255) - lab_of(np.array(other.rgb) * 255)) >= 30
        if task is STACK:
            assert len(shapes) == 4 and len({(item.kind, item.shape) for item in shapes}) == 1


@pytest.mark.parametrize("task", [PICK, STACK])
def test_the_words_mean_one_object_each(task):
    for seed in SEEDS:
        setting = task.setting(seed)
        assert all(name in setting.instruction for name in setting.named.values())
        assert len(set(setting.named.values())) == len(setting.named), setting.instruction


def test_what_is_named_by_its_place_stands_out_there():
    at = {"left": (1, 1), "right": (1, -1), "front": (0, 1), "rear": (0, -1)}
    for task, seed in itertools.product((PICK, STACK), range(4, 100, 20)):
        setting = task.setting(seed)
        places = {item.name: item.pose[:2, 3] for item in setting.world.objects}
        looks = {item.name: (item.kind, item.shape) for item in setting.world.objects}
        for name, words in setting.named.items():
            if (place := words.split()[0]) in at:
                axis, sign = at[place]
                alike = [other for other in places if looks[other] == looks[name] and other != name]
                assert alike and all(sign * (places[name] - places[other])[axis] > 0.03 for other in alike), (seed, words)


def test_no_sentence_is_in_both_lists():
    config = settings()
    for family in config["wordings"].values():
        for subset in family.values():
            assert not set(subset["dev"]) & set(subset["heldout"])
    for subset in config["names"].values():
        for shape in config["shapes"]:
            assert not set(subset["dev"][shape]) & set(subset["heldout"][shape])
    said = {seed: PICK.instruction(seed) for seed in [*SEEDS, *range(HELD_OUT, HELD_OUT + 15)]}
    assert not any("{" in text or "  " in text for text in said.values())
    assert not {said[seed] for seed in SEEDS} & {text for seed, text in said.items() if seed >= HELD_OUT}


# ---------------------------------------------------------------- ends made by hand


def test_a_shape_has_to_lie_in_the_container_that_was_named():
    goal = PICK.setting(0).goal
    begin = start(PICK, 0)
    other = next(name for name in ("container_1", "container_2") if name != goal.container)
    right = in_container(begin, goal.item, goal.container)
    assert PICK.score(0, begin, right).success
    ends = {
        "nothing was done": begin,
        "in the other container": in_container(begin, goal.item, other),
        "another shape": in_container(begin, "object_2", goal.container),
        "beside the container": in_container(begin, goal.item, goal.container, aside=0.075, z=0.0),
        "on its wall": in_container(begin, goal.item, goal.container, aside=0.053, z=0.045),
        "held above it": in_container(begin, goal.item, goal.container, z=0.08),
        "held within": replace(right, in_hand=(goal.item,)),
    }
    for what, end in ends.items():
        score = PICK.score(0, begin, end)
        assert not score.success and score.score == 0.0 and score.problems, what


def test_a_stack_stands_by_itself_the_first_one_at_the_bottom():
    begin = start(STACK, 0)
    right = on_top(begin, "object_2", "object_1")
    edge = min(begin.get("object_1").size[:2])
    assert STACK.score(0, begin, right).success
    assert STACK.score(0, begin, on_top(begin, "object_2", "object_1", aside=0.45 * edge)).success
    ends = {
        "nothing was done": begin,
        "turned about": on_top(begin, "object_1", "object_2"),
        "another colour on top": on_top(begin, "object_3", "object_1"),
        "on another colour": on_top(begin, "object_2", "object_3"),
        "too far to the side": on_top(begin, "object_2", "object_1", aside=0.55 * edge),
        "not released": replace(right, in_hand=("object_2",)),
        "still above": on_top(begin, "object_2", "object_1", gap=0.006),
        "falling": on_top(begin, "object_2", "object_1", velocity=0.1),
        "the third of a tower": on_top(on_top(begin, "object_1", "object_3"), "object_2", "object_1"),
    }
    for what, end in ends.items():
        score = STACK.score(0, begin, end)
        assert not score.success and score.score == 0.0 and score.problems, what


def test_the_underside_of_a_shape_is_its_own_and_not_that_of_its_box():
    lying = np.eye(4)
    lying[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]  # its corner, which points along x, down
    item = TruthObject("prism", "mesh", (0.0277, 0.032, 0.030), lying, shape="triangle_prism")
    tilted = replace(item, pose=lying @ np.array([[np.cos(0.5), -np.sin(0.5), 0, 0], [np.sin(0.5), np.cos(0.5), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
    boxed = replace(tilted, shape="")
    assert outline(item)[:, 2].min() == pytest.approx(-0.0277 / 2, abs=1e-6)
    assert outline(boxed)[:, 2].min() < outline(tilted)[:, 2].min() - 0.004


@pytest.mark.parametrize("shape", ["triangle_prism", "moon_prism"])
def test_what_counts_of_a_stack_is_the_centre_of_mass_and_not_that_of_the_box_about_a_shape(shape):
    size = (0.0277, 0.032, 0.030)
    simulation = Simulation(WorldSpec((ObjectSpec("one", "mesh", size, (1, 0, 0), 0.02, pose_at(0.0, 0.1, 0.016, 0.7), shape=shape),)))
    (truth,) = simulation.truth().objects
    body = simulation.model.body("one").id
    assert middle_of(truth) == pytest.approx(simulation.data.xipos[body][:2], abs=0.0006), "as the physics has it"

    def stacked(turn, beside):
        bottom = TruthObject("bottom", "mesh", size, pose_at(0.0, 0.0, 0.015), 0.0, shape)
        top = replace(bottom, name="top", pose=pose_at(0.0, 0.0, 0.045, turn))
        pose = top.pose.copy()
        pose[:2, 3] += middle_of(bottom) - middle_of(top) + beside
        return unmet(Stacked("bottom", "top"), Truth(0.0, (bottom, replace(top, pose=pose))), {})

    assert stacked(np.pi, [0.0, 0.0]) == "" == stacked(0.0, [0.0, 0.0])
    assert "beside the middle" in stacked(np.pi, [0.016, 0.0]) and "beside the middle" in stacked(1.0, [0.0, -0.016])


def test_in_physics_a_shape_let_fall_is_in_the_container_and_a_stack_of_stars_stands():
    for task, moves, success in ((PICK, lambda begin, goal: in_container(begin, goal.item, goal.container, z=0.02), True),
                                 (STACK, lambda begin, goal: on_top(begin, goal.top, goal.bottom, gap=0.001), True),
                                 (STACK, lambda begin, goal: on_top(begin, goal.top, goal.bottom, aside=0.016, gap=0.001), False)):  # fmt: skip
        setting, begin = task.setting(0), start(task, 0)
        placed = {item.name: item.pose for item in moves(begin, setting.goal).objects}
        simulation = Simulation(replace(setting.world, objects=tuple(replace(item, pose=placed[item.name]) for item in setting.world.objects)))
        simulation.step(1.0)
        assert task.score(0, begin, simulation.truth()).success == success
