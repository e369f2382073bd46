"""Towers of Hanoi: scenes, words, the seven moves, and end states made by hand, of which each must be judged as what it is."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.language.intents import Imitate
from deskhand.language.parser import parse, understood
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import Truth, TruthObject, pose_at
from deskhand.tasks.cliport.hanoi import CliportHanoi, at, solution
from deskhand.tasks.cliport.scenes import HELD_OUT, ROW, ROWS

TASK = CliportHanoi()
NONE, ORACLE, SHUFFLED = (ROWS.index(name) * ROW for name in ("none", "oracle", "shuffled"))


def after(seed, moves, **other):
    """The truth when so many moves of the sequence are done; ``other``: poses of some rings."""
    setting = TASK.setting(seed)
    poses = {item.name: item.pose for item in setting.world.objects} | {move.item: move.pose for move in setting.moves[:moves]} | other
    return Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, poses[item.name]) for item in setting.world.objects))


def score(seed, end):
    return TASK.score(seed, after(seed, 0), end)


def test_the_shortest_way_never_puts_a_ring_onto_a_smaller_one():
    for count in (1, 2, 3, 4):
        pegs = [list(range(count)), [], []]
        for ring, peg in solution(count, 0, 2):
            (here,) = (one for one in pegs if ring in one)
            assert here.pop() == ring and all(below < ring for below in pegs[peg])
            pegs[peg].append(ring)
        assert pegs == [[], [], list(range(count))] and len(solution(count, 0, 2)) == 2**count - 1


def test_the_score_is_the_share_of_the_moves_that_are_done():
    for seed in range(4):
        assert [score(seed, after(seed, moves)).score for moves in range(8)] == pytest.approx([moves / 7 for moves in range(8)])
        assert [score(seed, after(seed, moves)).success for moves in (0, 6, 7)] == [False, False, True]


def test_end_states_that_are_not_right():
    setting = TASK.setting(0)
    stand, last = setting.world.fixtures[0], setting.moves[-1]
    small, middle = last.item, setting.moves[-2].item
    lean = last.pose.copy()
    lean[1:3, 1:3] = [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]
    beside, high = last.pose.copy(), last.pose.copy()
    beside[0, 3] += 0.006
    high[2, 3] += 0.008
    for wrong in (lean, beside, high):
        found = score(0, after(0, 7, **{small: wrong}))
        assert not found.success and found.score == 0.0
    swapped = after(0, 7, **{small: at(stand, 2, 1), middle: at(stand, 2, 2)})
    assert not score(0, swapped).success
    assert not score(
        0, after(0, 7, **{item.name: at(stand, 1, level) for level, item in enumerate(sorted(setting.world.objects, key=lambda r: -r.size[0]))})
    ).success
    held = replace(after(0, 7), in_hand=(small,))
    falling = after(0, 7)
    falling = replace(falling, objects=tuple(replace(item, velocity=0.2) if item.name == small else item for item in falling.objects))
    dropped = score(0, after(0, 7, **{small: pose_at(0.9, 0.0, -0.7)}))
    assert not score(0, held).success and not score(0, falling).success and not dropped.success and dropped.problems == (f"{small} was dropped",)


def test_the_expert_s_end_stands_by_itself():
    setting = TASK.setting(1)
    poses = {item.name: item.pose for item in setting.world.objects} | {move.item: move.pose for move in setting.moves}
    simulation = Simulation(replace(setting.world, objects=tuple(replace(item, pose=poses[item.name]) for item in setting.world.objects)))
    simulation.step(2.0)
    assert TASK.score(1, after(1, 0), simulation.truth()).success


def test_a_demonstration_has_the_colours_of_the_scene_and_nothing_else_of_it():
    for seed in range(8):
        setting = TASK.setting(seed)
        _, shown = setting.video
        assert [move.text for move in shown.moves] == [move.text for move in setting.moves]
        here, there = (world.fixtures[0].pose for world in (setting.world, shown.world))
        assert np.linalg.norm(here[:2, 3] - there[:2, 3]) > 0.002 or abs(here[0, 0] - there[0, 0]) > 0.01
        assert not score(seed, after(seed, 7, **_followed(seed + SHUFFLED))).success


def _followed(seed):
    """Where rings come to be by a demonstration of this row."""
    setting, shown = TASK.setting(seed), TASK.setting(seed).video[1]
    ends = {move.item: move.pose for move in shown.moves}
    (theirs,), (mine,) = shown.world.fixtures, setting.world.fixtures
    return {name: mine.pose @ np.linalg.inv(theirs.pose) @ pose for name, pose in ends.items()}


def test_the_words_name_a_demonstration_or_say_every_move():
    for seed in (0, 1, 2, 3, HELD_OUT, HELD_OUT + 1, HELD_OUT + 2):
        (wish,) = parse(TASK.instruction(seed)).intents
        assert isinstance(wish, Imitate) and wish.video == str(TASK.setting(seed).video[0]), TASK.instruction(seed)
        (wish,) = parse(TASK.instruction(seed + ORACLE)).intents
        assert [step.text for step in wish.steps] == [move.text for move in TASK.setting(seed).moves]
        assert not understood(parse(TASK.instruction(seed + NONE))), "nobody has told it how"
