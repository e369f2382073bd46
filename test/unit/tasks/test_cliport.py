"""Scenes, words and rows of the tasks of CLIPort, and end states made by hand, of which each must be judged as what it is."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.language.intents import Build, Imitate, Place
from deskhand.language.parser import parse
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import Truth, TruthObject, pose_at
from deskhand.tasks.cliport.bowls import CliportBowls
from deskhand.tasks.cliport.pyramid import BELOW, CliportPyramid
from deskhand.tasks.cliport.scenes import HELD_OUT, ROW, ROWS

PYRAMID, BOWLS = CliportPyramid(), CliportBowls()
NONE, ORACLE, SHUFFLED = (ROWS.index(name) * ROW for name in ("none", "oracle", "shuffled"))


def start(task, seed):
    return Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in task.world(seed).objects))


def done(task, seed, **other):
    """The truth with every object that is meant where it belongs; ``other``: poses of some of them."""
    poses = {move.item: move.pose for move in task.setting(seed).moves} | other
    truth = start(task, seed)
    return replace(truth, objects=tuple(replace(item, pose=poses.get(item.name, item.pose)) for item in truth.objects))


def score(task, seed, end):
    return task.score(seed, start(task, seed), end)


def shifted(pose, x=0.0, y=0.0, z=0.0, yaw=0.0):
    moved = pose @ pose_at(0.0, 0.0, 0.0, yaw)
    moved[:3, 3] += [x, y, z]
    return moved


def test_a_demonstration_has_the_colours_of_the_scene_and_nothing_else_of_it():
    for task in (PYRAMID, BOWLS):
        for seed in range(12):
            setting = task.setting(seed)
            _, shown = setting.video
            assert [move.text for move in shown.moves] == [move.text for move in setting.moves]
            here, there = ({item.name: item for item in world.objects} for world in (setting.world, shown.world))
            moved = [np.linalg.norm(here[a.item].pose[:2, 3] - there[b.item].pose[:2, 3]) for a, b in zip(setting.moves, shown.moves, strict=True)]
            assert max(moved) > 0.02
            assert all(here[a.item].rgb != there[b.item].rgb for a, b in zip(setting.moves, shown.moves, strict=True))


def test_rows_of_a_seed_share_its_world_and_differ_in_what_is_told():
    for task in (PYRAMID, BOWLS):
        for seed in (0, 3, HELD_OUT):
            rows = [task.setting(seed + number * ROW) for number in range(len(ROWS))]
            assert [row.row for row in rows] == list(ROWS) == [task.group(seed + number * ROW) for number in range(len(ROWS))]
            assert all(np.allclose(row.world.objects[0].pose, rows[0].world.objects[0].pose) for row in rows)
            assert [row.video is not None for row in rows] == [True, False, False, True]
            right, wrong = rows[0].video[1].moves, rows[3].video[1].moves
            assert all(a.item != b.item for a, b in zip(right, wrong, strict=True))


def test_the_words_name_a_demonstration_or_say_it_and_never_the_same_in_both_halves():
    for seed in (*range(6), *range(HELD_OUT, HELD_OUT + 6)):
        for task in (PYRAMID, BOWLS):
            (wish,) = parse(task.instruction(seed)).intents
            assert isinstance(wish, Imitate) and wish.video == str(task.setting(seed).video[0]), task.instruction(seed)
        (wish,) = parse(PYRAMID.instruction(seed + ORACLE)).intents
        assert [step.text for step in wish.steps] == [move.text for move in PYRAMID.setting(seed).moves]
        assert isinstance(parse(PYRAMID.instruction(seed + NONE)).intents[0], Build)
        for row in (NONE, ORACLE):
            said = parse(BOWLS.instruction(seed + row)).intents
            assert len(said) == len(BOWLS.setting(seed).moves) and all(isinstance(item, Place) for item in said)
    dev, held_out = ({PYRAMID.instruction(first + seed).split("/")[0] for seed in range(40)} for first in (0, HELD_OUT))
    assert not dev & held_out


def test_scenes_can_be_built_and_the_expert_s_end_stands_by_itself():
    setting = PYRAMID.setting(1)
    poses = {move.item: move.pose for move in setting.moves}
    built = replace(setting.world, objects=tuple(replace(item, pose=poses[item.name]) for item in setting.world.objects))
    simulation = Simulation(built)
    simulation.step(2.0)
    assert score(PYRAMID, 1, simulation.truth()).success
    bowls = BOWLS.setting(1)
    simulation = Simulation(bowls.world)
    assert len(simulation.truth().objects) == len(bowls.world.objects)
    assert score(BOWLS, 1, simulation.truth()).score == 0.0


def test_a_pyramid_is_done_when_all_six_stand_at_their_places():
    for seed in range(4):
        assert score(PYRAMID, seed, done(PYRAMID, seed)).success
        assert score(PYRAMID, seed, start(PYRAMID, seed)).score == 0.0
        assert score(PYRAMID, seed + ORACLE, done(PYRAMID, seed)).success


@pytest.mark.parametrize(
    ("move", "right"),
    [
        ({"x": 0.008}, True),
        ({"yaw": np.pi / 2 + 0.2}, True),  # a quarter turn looks the same
        ({"x": 0.011}, False),
        ({"yaw": 0.3}, False),
        ({"z": 0.007}, False),  # held above its place
        ({"z": -0.02}, False),
    ],
)
def test_a_block_counts_within_a_centimetre_and_fifteen_degrees_and_at_its_height(move, right):
    top = PYRAMID.setting(0).moves[5]
    found = score(PYRAMID, 0, done(PYRAMID, 0, **{top.item: shifted(top.pose, **move)}))
    assert (found.success, found.score) == ((True, 1.0) if right else (False, pytest.approx(5 / 6)))


def test_a_block_on_a_wrong_one_does_not_count():
    moves = PYRAMID.setting(0).moves
    first, last = moves[0], moves[2]
    swapped = done(PYRAMID, 0, **{first.item: last.pose, last.item: first.pose})
    found = score(PYRAMID, 0, swapped)
    assert [row.right for row in found.objects] == [False, True, False, False, False, False] and len(BELOW) == 6
    held = replace(done(PYRAMID, 0), in_hand=(moves[5].item,))
    assert score(PYRAMID, 0, held).score == pytest.approx(5 / 6)
    falling = done(PYRAMID, 0)
    falling = replace(falling, objects=tuple(replace(item, velocity=0.2) if item.name == moves[5].item else item for item in falling.objects))
    assert not score(PYRAMID, 0, falling).success


def test_a_leaning_block_does_not_count():
    top = PYRAMID.setting(2).moves[5]
    lean = np.eye(4)
    lean[1:3, 1:3] = [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]
    assert not score(PYRAMID, 2, done(PYRAMID, 2, **{top.item: top.pose @ lean})).success


def test_blocks_are_in_their_bowls_alone_and_low():
    for seed in range(6):
        setting = BOWLS.setting(seed)
        assert score(BOWLS, seed, done(BOWLS, seed)).success
        first = setting.moves[0]
        for wrong in ({"x": 0.052}, {"z": 0.02}):
            assert not score(BOWLS, seed, done(BOWLS, seed, **{first.item: shifted(first.pose, **wrong)})).success
        held = replace(done(BOWLS, seed), in_hand=(first.item,))
        assert not score(BOWLS, seed, held).success
        other = next(item.name for item in setting.world.objects if item.name not in {move.item for move in setting.moves})
        shared = score(BOWLS, seed, done(BOWLS, seed, **{other: shifted(first.pose, x=0.03)}))
        assert not shared.success and "shares it" in shared.objects[0].reason


def test_what_is_dropped_is_a_problem():
    other = next(item.name for item in BOWLS.world(0).objects if item.name not in {move.item for move in BOWLS.setting(0).moves})
    found = score(BOWLS, 0, done(BOWLS, 0, **{other: pose_at(0.9, 0.0, -0.7)}))
    assert not found.success and found.problems == (f"{other} was dropped",)


def test_a_shuffled_demonstration_followed_to_the_letter_is_not_done():
    for task in (PYRAMID, BOWLS):
        for seed in range(4):
            setting = task.setting(seed)
            mine = {move.text: move for move in setting.moves}
            wrong = task.setting(seed + SHUFFLED).video[1].moves
            right = task.setting(seed).video[1].moves
            names = {b.item: mine[b.text].item for b in right}  # of the demonstration's objects, who plays them here
            poses = {names.get(w.item): mine[r.text].pose for w, r in zip(wrong, right, strict=True)}
            poses.pop(None, None)
            assert not score(task, seed, done(task, seed, **poses) if poses else start(task, seed)).success


def test_an_arm_that_does_not_reach_is_refused():
    with pytest.raises(DeskhandError, match="has no layout"):
        CliportPyramid("jetarm").world(0)
    with pytest.raises(DeskhandError, match="0 or more"):
        PYRAMID.world(-1)
