"""The checks of the free instructions on hand-made truths: each holds when it should, and can fail."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.sim.simulation import check_start
from deskhand.sim.spec import Truth, TruthObject
from deskhand.tasks import load_task
from deskhand.tasks.base import Word
from deskhand.tasks.free_instructions import settings

TASK = load_task("free_instructions")
NAMES = [case["name"] for case in settings()["cases"]]


def start(case: str) -> Truth:
    return Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in TASK.world(NAMES.index(case)).objects))


def with_at(truth: Truth, hand: tuple[str, ...] = (), **places: tuple[float, float, float]) -> Truth:
    objects = []
    for item in truth.objects:
        pose = item.pose.copy()
        if item.name in places:
            pose[:3, 3] = places[item.name]
        objects.append(replace(item, pose=pose))
    return Truth(9.0, tuple(objects), hand)


def score(case: str, end: Truth, **word: object):
    return TASK.score(NAMES.index(case), start(case), end, Word(**word))


def on(truth: Truth, name: str, other: str) -> tuple[float, float, float]:
    below = truth.get(other)
    return (*below.pose[:2, 3], below.pose[2, 3] + below.size[2] / 2 + truth.get(name).size[2] / 2)


def inside(truth: Truth, name: str, box: str, dx: float = 0.0) -> tuple[float, float, float]:
    x, y, _ = truth.get(box).pose[:3, 3]
    return x + dx, y, 0.004 + min(truth.get(name).size) / 2


def test_on_something_and_nothing_else_moved() -> None:
    before = start("superlatives")
    done = with_at(before, big=on(before, "big", "little_box"))
    assert score("superlatives", done).success
    assert not score("superlatives", with_at(before, big=on(before, "big", "large_box"))).success
    also = with_at(done, small=tuple(before.get("small").pose[:3, 3] + [0.08, 0.0, 0.0]))
    assert "small was moved by 8 cm" in score("superlatives", also).problems


def test_sorted_into_containers_or_into_heaps_on_the_desk() -> None:
    before = start("sort_by_colour")
    boxed = {
        name: inside(before, name, "tray" if name.startswith("red") else "bin", 0.04 * int(name[-1]) - 0.06) for name in ("red_1", "red_2", "blue_1", "blue_2")
    }
    assert score("sort_by_colour", with_at(before, **boxed)).success
    assert not score("sort_by_colour", with_at(before, **{**boxed, "red_1": inside(before, "red_1", "bin", 0.06)})).success
    heaps = {"red_1": (0.0, 0.1, 0.02), "red_2": (0.04, 0.1, 0.02), "blue_1": (0.0, -0.1, 0.02), "blue_2": (0.04, -0.1, 0.02)}
    assert score("sort_by_colour", with_at(before, **heaps)).success
    assert not score("sort_by_colour", with_at(before, **{**heaps, "red_1": (-0.04, -0.1, 0.02), "blue_1": (-0.04, 0.1, 0.02)})).success


def test_a_row_is_straight_and_in_order() -> None:
    row = {"high": (0.03, 0.08, 0.0375), "mid": (0.03, 0.0, 0.03), "low": (0.03, -0.08, 0.0225)}
    before = start("tallest_first")
    assert score("tallest_first", with_at(before, **row)).success
    assert not score("tallest_first", with_at(before, **{**row, "high": row["low"], "low": row["high"]})).success
    assert any("off a line" in problem for problem in score("tallest_first", with_at(before, **{**row, "mid": (0.07, 0.0, 0.03)})).problems)


@pytest.mark.parametrize(
    ("case", "name", "good", "bad"),
    [
        ("left_of", "block", (0.05, -0.06, 0.017), (0.05, -0.21, 0.017)),
        ("behind", "eraser", (0.12, 0.13, 0.007), (-0.02, 0.13, 0.007)),
        ("in_front", "eraser", (-0.02, 0.13, 0.007), (0.12, 0.13, 0.007)),
        ("between", "block", (0.05, 0.0, 0.017), (-0.08, 0.02, 0.017)),
    ],
)
def test_places_beside_others(case: str, name: str, good: tuple[float, float, float], bad: tuple[float, float, float]) -> None:
    assert score(case, with_at(start(case), **{name: good})).success
    assert not score(case, with_at(start(case), **{name: bad})).success


def test_room_changed_places_and_back_again() -> None:
    tidy = {"block": (0.02, 0.20, 0.017), "can": (0.0, -0.20, 0.033), "eraser": (0.14, 0.1, 0.007)}
    assert score("make_room", with_at(start("make_room"), **tidy)).success and not score("make_room", start("make_room")).success
    before = start("swap")
    (bx, by, bz), (cx, cy, cz) = (before.get(name).pose[:3, 3] for name in ("block", "can"))
    assert score("swap", with_at(before, block=(cx, cy, bz), can=(bx, by, cz))).success
    assert not score("swap", with_at(before, block=(cx, cy, bz))).success
    assert score("undo", start("undo")).success
    assert not score("undo", with_at(start("undo"), cup=inside(start("undo"), "cup", "tray"))).success


def test_what_is_said_asked_and_held_counts() -> None:
    before = start("count_colour")
    assert score("count_colour", before, success=True, summary="I see 3: …").success
    assert not score("count_colour", before, success=True, summary="I see 13: …").success
    assert not score("count_colour", before, success=True, summary="I see 3.", questions=("Which one?",)).success
    assert score("throw", start("throw"), code="impossible", summary="no").success and not score("throw", start("throw"), success=True).success
    assert score("hand_over", with_at(start("hand_over"), ("marker_right",), marker_right=(0.1, 0.0, 0.3))).success
    cups = start("other_cup")
    done = with_at(cups, green_cup=inside(cups, "green_cup", "tray"))
    assert score("other_cup", done, held_then=("red_cup",)).success and not score("other_cup", done, held_then=("green_cup",)).success


def test_what_fell_off_the_desk_is_no_success() -> None:
    before = start("two_of")
    names = ("red_1", "red_2")
    boxed = {name: inside(before, name, "tray", 0.05 * index) for index, name in enumerate(names)}
    assert score("two_of", with_at(before, **boxed)).success
    assert "green_1 was dropped" in score("two_of", with_at(before, **boxed, green_1=(0.6, 0.0, -0.5))).problems


@pytest.mark.parametrize("variation", [0, 1])
def test_every_scene_can_be_built_and_is_another_in_another_variation(variation: int) -> None:
    scenes = {TASK.setting(seed).name: seed for seed in range(0, len(NAMES), 7)}
    for seed in scenes.values():
        world = TASK.world(seed + variation * len(NAMES))
        check_start(world)
        assert world.objects == TASK.world(seed + variation * len(NAMES)).objects
    moved = (
        [item.pose for item in TASK.world(0).objects if item.kind == "block"],
        [item.pose for item in TASK.world(len(NAMES)).objects if item.kind == "block"],
    )
    assert not np.allclose(*moved)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(DeskhandError):
        TASK.world(-1)
