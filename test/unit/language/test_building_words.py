"""What an instruction to build asks for: every wording of the task, and words of others."""

import pytest

from deskhand.language.intents import Build, Tower, Unclear
from deskhand.language.parser import parse
from deskhand.tasks.block_building import BlockBuilding


def _build(text: str) -> Build:
    (found,) = parse(text).intents
    assert isinstance(found, Build), found
    return found


def test_every_wording_of_the_task_is_understood():
    for seed in range(300):
        setting = BlockBuilding().setting(seed)
        wish = _build(setting.instruction)
        if wish.file or wish.plan is not None:
            assert bool(wish.file) == bool(setting.picture)
            continue
        colors = tuple(slot.color for slot in setting.slots)
        assert wish.structure == setting.name, setting.instruction
        assert wish.colors == (colors if any(colors) else ()), setting.instruction
        assert setting.name not in ("row", "tower") or wish.count == len(setting.slots)


@pytest.mark.parametrize(
    ("text", "colors"),
    [
        ("build a tower of three blocks, red at the bottom", ("red",)),
        ("make a tower of 3 cubes with the red one on top", ("", "", "red")),
        ("Make a tower of four cubes, blue at the bottom and yellow on top", ("blue", "", "", "yellow")),
        ("stack the blocks into a tower with green on top, then blue, then red at the bottom", ("red", "blue", "green")),
        ("Line up three blocks from right to left: red, green, blue", ("blue", "green", "red")),
    ],
)
def test_colours_come_from_the_bottom_up_and_from_left_to_right(text, colors):
    assert _build(text).colors == colors


def test_a_plan_in_the_text_is_read_as_json_and_as_yaml():
    assert _build('Build this: {"structure": "tower", "count": 2}').plan == {"structure": "tower", "count": 2}
    assert _build("Build this:\nblocks:\n  - at: [0, 0]\n  - on: 0\n").plan == {"blocks": [{"at": [0, 0]}, {True: 0}]}  # YAML's own reading of "on"
    assert _build("build what plans/house.yaml says").file == "plans/house.yaml"
    assert isinstance(parse("Build this: {structure: [}").intents[0], Unclear)


def test_what_cannot_be_told_is_asked_and_other_towers_are_left_to_the_grammar():
    assert isinstance(parse("build a pyramid with a red block").intents[0], Unclear)
    assert isinstance(parse("build a tower of two blocks: red, green, blue").intents[0], Unclear)
    assert isinstance(parse("build a tower of the blocks").intents[0], Tower)
    assert not any(isinstance(item, Build) for item in parse("put the blocks in the tray and the house in the bin").intents)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("build a pyramid", 0), ("build a 3-2-1 pyramid of blocks", 0), ("build a pyramid of three blocks", 3), ("a pyramid two levels high, build it", 3),
        ("make a pyramid of 6 cubes: three, two and one on top", 6), ("build a pyramid of ten blocks", 10),
    ],
)  # fmt: skip
def test_how_large_a_pyramid_is_may_be_said(text: str, count: int) -> None:
    assert (_build(text).structure, _build(text).count) == ("pyramid", count)


@pytest.mark.parametrize("text", ["build a bridge with five blocks", "build a house of ten blocks", "build a pyramid and a tower"])
def test_what_would_be_built_otherwise_than_it_was_said_is_unclear(text: str) -> None:
    assert isinstance(parse(text).intents[0], Unclear)
