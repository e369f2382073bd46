"""Every word of an instruction has a part in what is done, or the instruction is refused: nothing is half done."""

from typing import Any

import pytest
from paraphrases import CASES, RIGHT, WRONG, classify

from deskhand.language.coverage import OPERATORS
from deskhand.language.intents import Build, Unclear
from deskhand.language.parser import parse, understood

ALL = [case for cases in CASES.values() for case in cases]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case["say"][:60])
def test_an_everyday_sentence_ends_as_a_person_would_say_by_hand(case: dict[str, Any]) -> None:
    found, outcome = classify(case)
    assert found == case["outcome"], outcome.summary


def test_no_sentence_is_silently_misread() -> None:
    assert [len(cases) for cases in CASES.values()] == [38, 60, 57, 77]
    assert WRONG not in {case["outcome"] for case in ALL}
    assert sum(case["outcome"] == RIGHT for case in ALL) >= 20


PLAIN = (
    "put the red block in the tray", "put all blocks in the tray and the cup in the bin", "clean the desk", "stack the red block on the blue block",
    "sort the blocks by colour", "swap the cup and the can", "move the cup 5 cm to the left", "hand me the red cup", "build a tower of three blocks",
    "if there is a cup, put it in the tray", "pick up the can", "blocks belong in the tray, the rest goes into the bin", "line up the blocks by height",
    "build a tower of three blocks, red at the bottom", "clear the left side of the desk", "make room for the laptop in the middle",
)  # fmt: skip
TURNING = OPERATORS - {"not", "no", "nothing", "but", "except", "excluding", "without", "instead", "most"}
"""Those that no place in a sentence gives a part to; of the others see below."""


@pytest.mark.parametrize("plain", PLAIN)
def test_a_word_that_is_put_anywhere_into_a_sentence_is_never_skipped(plain: str) -> None:
    assert understood(parse(plain))
    words = plain.split()
    for more in (*TURNING, "glorp", "heavy", "tomorrow"):
        for place in range(len(words) + 1):
            text = " ".join([*words[:place], more, *words[place:]])
            assert not understood(parse(text)), text


@pytest.mark.parametrize("turning", ["not", "but", "except", "excluding", "without", "instead", "no", "nothing"])
@pytest.mark.parametrize("plain", PLAIN)
def test_a_word_that_may_have_a_part_changes_what_is_read(plain: str, turning: str) -> None:
    before, words = parse(plain).intents, plain.split()
    for place in range(1, len(words) + 1):
        text = " ".join([*words[:place], turning, *words[place:]])
        assert not understood(parse(text)) or parse(text).intents != before or text == "if there is a cup, but put it in the tray", text


@pytest.mark.parametrize(
    "text",
    [
        "put the cup in the bin without the lid", "put the blocks in the tray but the cup in the bin", "put the ball not in the bin",
        "put any block in the tray", "put some blocks in the tray", "put every second block in the tray", "one block goes in each container",
        "put everything except a block in the bin",
        "put the wooden blocks in the tray", "move the cup 5 cm left and 3 cm forward", "thank you for not touching the cup. Clean the desk.",
        "My sister comes at five. Clean the desk.", "The cup. Put the can in the bin.", "swap the cup and the heavy can", "make room for a huge laptop",
        "if there is a cup, put half of the blocks in the tray", "besides the cup, put the can in the bin", "which blocks are not red?",
    ],
)  # fmt: skip
def test_what_is_only_half_read_is_not_read(text: str) -> None:
    assert not understood(parse(text))


@pytest.mark.parametrize(
    "text",
    ["build a tower of three blocks without the red one", "don't build a tower of three blocks", "build a tower of two blocks or three", "build a heavy house"],
)
def test_a_structure_is_built_only_when_every_word_is_read(text: str) -> None:
    (found,) = parse(text).intents
    assert isinstance(found, Unclear) or (isinstance(found, Build) and found.unclear)


def test_what_is_not_of_a_kind_is_all_but_that_kind() -> None:
    (place,) = parse("everything that isn't a block goes into the bin").intents
    assert [(ref.kinds, ref.count) for ref in place.objects[0].excluded] == [(frozenset({"block"}), 0)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "räum den Tisch auf", "Setze den roten Block in die Kiste", "metti il blocco rosso nella scatola", "mets le bloc rouge dans la boîte",
        "pon el bloque rojo en la caja", "zet het rode blok in de doos", "把红色的方块放进盒子里", "положи красный кубик в коробку", "赤いブロックを箱に入れて",
    ],
)  # fmt: skip
def test_another_language_is_refused_with_what_to_do(text: str) -> None:
    (found,) = parse(text).intents
    assert isinstance(found, Unclear) and "say it in English, or start me with a model" in found.why


def test_english_that_nobody_knows_is_not_taken_for_another_language() -> None:
    for text in ("the touch screen of the phone is broken", "water the plants please", "put the gizmo under the thingamajig"):
        assert all("English" not in item.why for item in parse(text).intents if isinstance(item, Unclear))
