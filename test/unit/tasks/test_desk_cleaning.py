"""Scenes, words and goals of desk_cleaning over many seeds."""

from collections import Counter

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.sim.spec import CONTAINER_KINDS, CameraSpec
from deskhand.tasks import list_tasks, load_task
from deskhand.tasks.desk_cleaning import DeskCleaning, settings
from deskhand.tasks.placement import footprint_of, outline
from deskhand.tasks.wording import Rule, phrase

SEEDS = range(80)
TASK = DeskCleaning()


def objects(seed):
    return [item for item in TASK.world(seed).objects if item.kind not in CONTAINER_KINDS]


def bins(seed):
    return [item for item in TASK.world(seed).objects if item.kind in CONTAINER_KINDS]


def test_counts_and_kinds_are_as_promised():
    kinds, counts = Counter(), Counter()
    for seed in SEEDS:
        kinds.update(item.kind for item in objects(seed))
        counts[len(objects(seed)), len(bins(seed))] += 1
        assert len({item.kind for item in objects(seed)}) >= min(6, len(objects(seed)))
    assert set(kinds) == {"block", "ball", "cup", "can", "pen", "marker", "box", "eraser", "sponge"}
    assert {n for n, _ in counts} == {4, 5, 6, 7, 8} and {n for _, n in counts} == {2, 3}
    assert len(objects(0)) >= 6, "the demo's scene shows at least six kinds"


def test_nothing_overlaps_and_the_hand_fits_between():
    for seed in SEEDS:
        spots = [footprint_of(item) for item in TASK.world(seed).objects]
        gaps = [a.distance(b) for i, a in enumerate(spots) for b in spots[:i]]
        assert min(gaps) >= 0.024, seed


def test_everything_is_within_reach_and_within_the_picture():
    camera = CameraSpec()
    focal = camera.height / 2 / np.tan(camera.fovy / 2)
    for seed in SEEDS:
        for item in TASK.world(seed).objects:
            assert 0.18 <= np.hypot(item.pose[0, 3] + 0.30, item.pose[1, 3]) <= 0.46, (seed, item.name)
            corners = footprint_of(item).corners()
            points = np.vstack([np.column_stack([corners, np.full(4, z)]) for z in (0.0, footprint_of(item).height)])
            seen = (points - camera.world_T_camera[:3, 3]) @ camera.world_T_camera[:3, :3]
            u, v = focal * seen[:, 0] / seen[:, 2] + 320, focal * seen[:, 1] / seen[:, 2] + 240
            assert (u > 4).all() and (u < 636).all() and (v > 4).all() and (v < 476).all(), (seed, item.name)


def test_the_gripper_can_hold_one_side_of_everything():
    for seed in SEEDS:
        for item in objects(seed):
            extents = np.asarray(item.size)
            horizontal = [extents[axis] for axis in range(3) if axis != int(np.argmax(np.abs(item.pose[2, :3])))]
            assert 0.005 < min(horizontal) <= 0.043, (seed, item.name)
            assert item.mass <= 0.1


def test_everything_stands_on_the_table():
    for seed in SEEDS:
        for item in TASK.world(seed).objects:
            height = np.abs(item.pose[2, :3]) @ (np.asarray(item.size) / 2) if item.kind not in ("pen", "marker") else item.size[0] / 2
            assert item.pose[2, 3] == pytest.approx(height, abs=1e-6)


def test_every_object_belongs_in_exactly_one_container_and_every_container_gets_something():
    for seed in SEEDS:
        setting = TASK.setting(seed)
        assert sorted(setting.goal) == sorted(item.name for item in objects(seed))
        assert set(setting.goal.values()) == {item.name for item in bins(seed)}
        assert sorted(name for rule in setting.rules for name in rule.objects) == sorted(setting.goal)


def test_a_container_has_room_for_what_belongs_in_it():
    for seed in SEEDS:
        setting = TASK.setting(seed)
        for item in bins(seed):
            inner = np.asarray(item.size[:2]) - 2 * item.wall
            inside = [obj for obj in objects(seed) if setting.goal[obj.name] == item.name]
            assert all(max(obj.size) < inner.min() for obj in inside), seed


def test_the_rule_can_be_read_from_the_instruction():
    for seed in SEEDS:
        setting, said = TASK.setting(seed), TASK.instruction(seed)
        for rule in setting.rules[:-1]:
            assert rule.what.lower() in said.lower()
        for rule in setting.rules:
            assert {"bin": "bin", "tray": "tray", "box_open": "box"}[rule.container] in said
        assert "{" not in said and said[0].isupper() and said[-1] in ".?!"


def test_boxes_on_the_desk_and_the_box_to_put_objects_in_are_told_apart():
    for seed in SEEDS:
        if any(item.kind == "box_open" for item in bins(seed)) and any(item.kind == "box" for item in objects(seed)):
            assert "open box" in TASK.instruction(seed)


def test_at_least_twelve_wordings_are_used():
    wordings = settings()["wordings"]
    rules = [Rule("pens", "tray", ()), Rule("cups", "box_open", ()), Rule("balls", "bin", ())]
    said = {phrase(wording, rules, []) for wording in wordings}
    assert len(said) == len(wordings) >= 12
    assert all("tray" in text and "box" in text and "bin" in text for text in said)
    starts = Counter(TASK.instruction(seed).split()[0] for seed in SEEDS)
    assert len(starts) >= 9


def test_the_same_seed_gives_the_same_and_another_seed_another_scene():
    first, again, other = (load_task("desk_cleaning").world(seed) for seed in (3, 3, 4))
    assert [item.name for item in first.objects] == [item.name for item in again.objects]
    assert all(np.array_equal(a.pose, b.pose) for a, b in zip(first.objects, again.objects, strict=True))
    assert not np.array_equal(first.objects[-1].pose, other.objects[-1].pose)


def test_outline_touches_the_table():
    from deskhand.sim.spec import TruthObject

    for item in objects(1):
        assert outline(TruthObject(item.name, item.kind, item.size, item.pose))[:, 2].min() == pytest.approx(0.0, abs=1e-6)


def test_unknown_task_and_bad_seed_say_what_is_valid():
    with pytest.raises(DeskhandError, match="desk_cleaning") as error:
        load_task("fly")
    assert error.value.code == "invalid_input"
    assert "desk_cleaning" in list_tasks()
    with pytest.raises(DeskhandError, match="0 or more"):
        TASK.world(-1)
