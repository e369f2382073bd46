"""Scoring on made-up ends of trials."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.geometry import rotation_about
from deskhand.sim.spec import CONTAINER_KINDS, Truth, TruthObject, pose_at
from deskhand.tasks.desk_cleaning import DeskCleaning
from deskhand.tasks.placement import is_inside

TASK = DeskCleaning()
SEED = 0


def start(seed=SEED):
    return Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in TASK.world(seed).objects))


def resting(item, x, y, floor):
    """``item`` as it lay, moved to (x, y) on a floor at this height."""
    pose = item.pose.copy()
    pose[:3, 3] += [x - pose[0, 3], y - pose[1, 3], floor]
    return replace(item, pose=pose)


def solved(seed=SEED):
    truth, goal = start(seed), TASK.setting(seed).goal
    objects = []
    for item in truth.objects:
        if item.name in goal:
            container = truth.get(goal[item.name])
            item = resting(item, container.pose[0, 3], container.pose[1, 3], 0.004)
        objects.append(item)
    return replace(truth, time=60.0, objects=tuple(objects))


def change(truth, name, **changes):
    return replace(truth, objects=tuple(replace(item, **changes) if item.name == name else item for item in truth.objects))


def first_object(seed=SEED):
    return next(iter(TASK.setting(seed).goal))


@pytest.mark.parametrize("seed", range(0, 40))
def test_all_in_place_is_success_and_nothing_done_is_none(seed):
    done, nothing = TASK.score(seed, start(seed), solved(seed)), TASK.score(seed, start(seed), start(seed))
    assert done.success and done.score == 1.0 and not done.problems
    assert not nothing.success and nothing.score == 0.0
    assert {row.found for row in nothing.objects} == {"table"}


def test_one_object_elsewhere_costs_its_share():
    name, count = first_object(), len(TASK.setting(SEED).goal)
    truth = change(solved(), name, pose=start().get(name).pose)
    score = TASK.score(SEED, start(), truth)
    assert not score.success and score.score == pytest.approx((count - 1) / count)
    row = next(row for row in score.objects if row.name == name)
    assert not row.right and row.found == "table" and "on the table" in row.reason


def test_the_wrong_container_is_named():
    name = first_object()
    goal = TASK.setting(SEED).goal
    wrong = next(item.name for item in TASK.world(SEED).objects if item.kind in CONTAINER_KINDS and item.name != goal[name])
    end = solved()
    container, item = end.get(wrong), start().get(name)
    end = change(end, name, pose=resting(item, container.pose[0, 3], container.pose[1, 3], 0.004).pose)
    row = next(row for row in TASK.score(SEED, start(), end).objects if row.name == name)
    assert row.found == wrong and goal[name] in row.reason


def test_dropped_held_and_moving_objects_are_not_in_place():
    name = first_object()
    floor = pose_at(0.5, 0.7, -0.7)
    dropped = TASK.score(SEED, start(), change(solved(), name, pose=floor))
    assert not dropped.success and f"{name} was dropped" in dropped.problems
    held = TASK.score(SEED, start(), replace(solved(), in_hand=(name,)))
    assert not held.success and "in the gripper" in next(row for row in held.objects if row.name == name).reason
    moving = TASK.score(SEED, start(), change(solved(), name, velocity=0.4))
    assert not moving.success and "moves" in next(row for row in moving.objects if row.name == name).reason


def test_a_container_knocked_over_spoils_the_trial():
    container = next(item for item in solved().objects if item.kind in CONTAINER_KINDS)
    pose = container.pose.copy()
    pose[:3, :3] = rotation_about([1, 0, 0], np.deg2rad(80)) @ pose[:3, :3]
    score = TASK.score(SEED, start(), change(solved(), container.name, pose=pose))
    assert not score.success and any("knocked over" in problem for problem in score.problems)


TRAY = TruthObject("tray", "tray", (0.16, 0.20, 0.04), pose_at(0.1, -0.3, 0.02, 0.4))
CUBE = TruthObject("block_1", "block", (0.03, 0.03, 0.03), np.eye(4))


def at(local, rotation=None, item=CUBE):
    pose = np.eye(4)
    pose[:3, 3] = TRAY.pose[:3, :3] @ np.asarray(local) + TRAY.pose[:3, 3]
    pose[:3, :3] = rotation if rotation is not None else np.eye(3)
    return replace(item, pose=pose)


@pytest.mark.parametrize(
    ("local", "inside"),
    [
        ((0, 0, -0.001), True),
        ((0.06, 0.08, -0.001), True),
        ((0, 0, 0.025), True),  # on top of something flat: its bottom is still below the rim
        ((0, 0, 0.04), False),  # above the rim
        ((0.085, 0, 0.035), False),  # on the wall
        ((0.12, 0, -0.005), False),  # beside it
    ],
)
def test_inside_means_between_the_walls_and_below_the_rim(local, inside):
    assert is_inside(at(local), TRAY, 0.004) is inside


def test_a_pen_that_leans_on_the_rim_from_inside_is_in_and_one_that_lies_across_is_not():
    pen = TruthObject("pen_1", "pen", (0.01, 0.01, 0.14), np.eye(4))
    leaning = at((0.02, 0.0, 0.01), rotation_about([0, 1, 0], np.deg2rad(70)), pen)
    across = at((0.0, 0.0, 0.025), rotation_about([0, 1, 0], np.deg2rad(90)), pen)
    outside = at((0.075, 0.0, 0.012), rotation_about([0, 1, 0], np.deg2rad(-65)), pen)
    assert is_inside(leaning, TRAY, 0.004)
    assert not is_inside(across, TRAY, 0.004)
    assert not is_inside(outside, TRAY, 0.004), "its low end stands on the table outside"
