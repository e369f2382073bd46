"""The task's scenes, and its judgement: a structure that stands is right, one that is off, has a wrong colour or lies is not."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from deskhand.errors import DeskhandError
from deskhand.planning.structures import GAP, Blocks, footprint, from_spec, levels, structure, to_spec
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import WorldSpec, pose_at
from deskhand.tasks.block_building import BlockBuilding
from deskhand.tasks.standing import heights


def _built(seed: int, x: float = 0.0, y: float = 0.0, yaw: float = 0.7, spoil=lambda number, pose: None):
    """Score of a scene in which the structure stands at (x, y) turned by yaw, after a second of physics."""
    task = BlockBuilding()
    setting = task.setting(seed)
    c, s = np.cos(yaw), np.sin(yaw)
    objects = list(setting.world.objects)
    for number, (slot, z) in enumerate(zip(setting.slots, heights(setting.slots, setting.edge, setting.plank_height), strict=True)):
        pose = pose_at(x + c * slot.x - s * slot.y, y + s * slot.x + c * slot.y, z + 0.0002 * number, yaw + slot.yaw)
        spoil(number, pose)
        objects[number] = replace(objects[number], pose=pose)
    for number in range(len(setting.slots), len(objects)):
        objects[number] = replace(objects[number], pose=pose_at(-0.1, 0.3 + 0.1 * (number - len(setting.slots)), objects[number].size[2] / 2))
    simulation = Simulation(WorldSpec(tuple(objects)))
    start = simulation.truth()
    simulation.step(1.0)
    return task.score(seed, start, simulation.truth())


def _first(name: str, colored: bool = False) -> int:
    return next(seed for seed in range(200) if (s := BlockBuilding().setting(seed)).name == name and bool(s.slots[0].color) == colored and len(s.slots) > 2)


@pytest.mark.parametrize("name", ["row", "tower", "bridge", "pyramid", "house"])
def test_a_structure_stands_wherever_it_was_built(name):
    score = _built(_first(name))
    assert score.success and score.score == 1.0


def test_a_block_that_is_off_counts_alone():
    seed = _first("row")
    score = _built(seed, yaw=0.0, spoil=lambda number, pose: pose.__setitem__((0, 3), pose[0, 3] + (0.03 if number == 0 else 0.0)))
    count = len(BlockBuilding().setting(seed).slots)
    assert not score.success and score.score == pytest.approx((count - 1) / count)
    assert _built(seed, yaw=0.0, spoil=lambda number, pose: pose.__setitem__((0, 3), pose[0, 3] + (0.005 if number == 0 else 0.0))).success


def test_the_wrong_order_of_colours_is_not_the_tower():
    seed = next(s for s in range(300) if (t := BlockBuilding().setting(s)).name == "tower" and t.slots[0].color and t.slots[0].color != t.slots[1].color)
    assert _built(seed).success
    setting = BlockBuilding().setting(seed)
    low, high = heights(setting.slots, setting.edge, 0.0)[:2]
    swapped = _built(seed, spoil=lambda number, pose: pose.__setitem__((2, 3), {0: high, 1: low}.get(number, pose[2, 3])))
    assert not swapped.success


def test_nothing_built_is_no_success():
    task = BlockBuilding()
    for seed in range(6):
        truth = Simulation(task.world(seed)).truth()
        assert not task.score(seed, truth, truth).success


def test_scenes_come_from_the_seed_and_fit_both_arms():
    for arm in ("wx250s", "jetarm"):
        task = BlockBuilding(arm)
        for seed in range(25):
            setting = task.setting(seed)
            assert len(setting.world.objects) >= len(setting.slots)
            assert setting.instruction == BlockBuilding(arm).instruction(seed)
            assert bool(task.pictures(seed)) == (setting.picture is not None)
    Simulation(BlockBuilding("jetarm").world(1))


def test_plans_are_read_back_as_they_were_said():
    blocks = Blocks(0.03, (0.09, 0.02))
    for name in ("row", "tower", "bridge", "pyramid", "house"):
        slots = structure(name, blocks)
        assert levels(from_spec(to_spec(slots), blocks)) == levels(slots)
    assert footprint(structure("row", blocks, 4), blocks) == pytest.approx((0.03, 4 * 0.03 + 3 * GAP))
    assert [slot.color for slot in structure("tower", blocks, 3, ["red"])] == ["red", "", ""]


@pytest.mark.parametrize(("count", "rows"), [(0, [0, 0, 0, 1, 1, 2]), (3, [0, 0, 1]), (6, [0, 0, 0, 1, 1, 2]), (10, [0] * 4 + [1] * 3 + [2] * 2 + [3])])
def test_a_pyramid_has_as_many_blocks_as_it_is_asked_to_have(count, rows):
    blocks = Blocks(0.03)
    slots = structure("pyramid", blocks, count)
    assert levels(slots) == rows
    for slot in slots:
        assert not slot.on or slot.y == pytest.approx(sum(slots[below].y for below in slot.on) / 2)


def test_on_may_be_said_in_yaml_where_it_means_true():
    assert from_spec(yaml.safe_load("blocks: [{at: [0, 0]}, {on: 0}]"), Blocks(0.03))[1].on == (0,)


@pytest.mark.parametrize(
    "plan",
    [
        [],
        {"structure": "castle"},
        {"structure": "tower", "count": 30},
        {"structure": "pyramid", "count": 4},
        {"blocks": []},
        {"blocks": [{"on": [0]}]},
        {"blocks": [{"at": [0, "a"]}]},
        {"blocks": [{"at": [0, 0], "shape": "ball"}]},
        {"blocks": [{"at": [0, 0], "colour": "red"}]},
    ],
)
def test_plans_that_make_no_sense_are_refused_with_a_reason(plan):
    with pytest.raises(DeskhandError) as told:
        from_spec(plan, Blocks(0.03))
    assert told.value.code == "invalid_input" and len(told.value.message) > 15
