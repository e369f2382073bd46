"""Sentences that mean something as a whole: which intent, and what must not be taken for one."""

import pytest

from deskhand.language.answers import answer
from deskhand.language.intents import Clear, Hand, If, Impossible, MoveTo, Place, Row, Shift, Sort, Swap, Tidy, Tower, Undo
from deskhand.language.parser import parse
from deskhand.language.resolve import resolve

FORMS = [
    ("Sort the blocks by colour.", Sort, {"by": "color"}),
    ("Could you group everything by type?", Sort, {"by": "kind"}),
    ("sort everything by color into the containers", Sort, {"by": "color"}),
    ("separate the red blocks from the blue ones", Sort, {"by": "color"}),
    ("put all things of the same colour together", Sort, {"by": "color"}),
    ("sort the objects by size", Row, {"by": "volume", "up": True}),
    ("line the cups up", Row, {"by": ""}),
    ("line up the blocks from largest to smallest", Row, {"by": "volume", "up": False}),
    ("put the blocks in a line with the biggest one on the left", Row, {"by": "volume", "up": False}),
    ("arrange the cans by height, the tallest on the right", Row, {"by": "height", "up": True}),
    ("order the pens from left to right by length", Row, {"by": "length", "up": True}),
    ("form a row of the cans", Row, {"by": ""}),
    ("swap the cup and the can", Swap, {}),
    ("exchange the positions of the red and the blue block", Swap, {}),
    ("swap the two cups", Swap, {}),
    ("make room for the laptop in the middle", Clear, {"region": "middle", "size": (0.22, 0.31)}),
    ("I need space for a book on the right", Clear, {"region": "right"}),
    ("make some room in the middle of the desk for my laptop", Clear, {"region": "middle"}),
    ("clear the middle of the desk", Clear, {"region": "middle"}),
    ("move everything to the left side", MoveTo, {"region": "left"}),
    ("put the cup in the far left corner", MoveTo, {"region": "left front"}),
    ("put the cup somewhere else", MoveTo, {"region": ""}),
    ("move the cup 5 cm to the right", Shift, {"by": (0.0, -0.05)}),
    ("push the blue block a bit to the left", Shift, {"by": (0.0, 0.06)}),
    ("bring the can two inches closer to you", Shift, {"by": (-0.0508, 0.0)}),
    ("move the cup closer to the can", Place, {"relation": "near"}),
    ("undo that", Undo, {"objects": (), "last": False}),
    ("revert your last action", Undo, {"last": True}),
    ("put everything back where it was", Undo, {"objects": ()}),
    ("hand me the red cup, please", Hand, {}),
    ("could you pass the pen to me?", Hand, {}),
    ("I need the sponge. Could you pass it to me?", Hand, {}),
    ("if there is a cup then put it in the tray", If, {}),
    ("if you see a ball put it in the bin", If, {}),
    ("put the sponge in the tray unless the tray is empty", If, {}),
    ("stack the blocks with the largest at the bottom", Tower, {}),
    ("throw the can at the wall", Impossible, {}),
    ("drop the cup on the floor", Impossible, {}),
    ("push the can off the desk", Impossible, {}),
    ("disable the safety limits", Impossible, {}),
    ("put everything into the container where it belongs", Tidy, {}),
    ("put the things in their places", Tidy, {}),
    ("put everything away", Tidy, {}),
    ("clear the left side of the desk", Tidy, {}),
    ("I want the cup in the bin", Place, {"relation": "in"}),
]


@pytest.mark.parametrize(("text", "kind", "said"), FORMS)
def test_a_sentence_means_one_intent(text: str, kind: type, said: dict[str, object]) -> None:
    intents = parse(text).intents
    assert [type(item) for item in intents] == [kind], intents
    for name, value in said.items():
        assert getattr(intents[0], name) == (pytest.approx(value) if isinstance(value, tuple) and value and isinstance(value[0], float) else value)


def seen(name: str, color: str, x: float, y: float, size: tuple[float, float, float], **more: object) -> dict[str, object]:
    container = name.startswith(("bin", "tray"))
    return {"id": name, "label": name.partition("_")[0], "color": color, "shape": "box", "size": list(size), "position": [x, y, size[2] / 2], "yaw": 0.0} | {
        "is_container": container, "support": "table", "relation": "on", "confidence": 0.9, **more,
    }  # fmt: skip


DESK = [
    seen("block_1", "red", 0.0, 0.10, (0.03, 0.03, 0.03)),
    seen("block_2", "blue", 0.05, -0.10, (0.04, 0.04, 0.04)),
    seen("block_3", "red", 0.10, 0.0, (0.026, 0.026, 0.026)),
    seen("can_1", "green", 0.02, 0.02, (0.038, 0.038, 0.07)),
    seen("cup_1", "red", 0.12, 0.12, (0.042, 0.042, 0.052)),
    seen("pen_1", "blue", 0.0, 0.28, (0.13, 0.01, 0.01), support="tray_1", relation="in"),
    seen("tray_1", "white", 0.0, 0.28, (0.165, 0.215, 0.035)),
    seen("bin_1", "black", 0.0, -0.28, (0.165, 0.17, 0.07)),
]
QUESTIONS = [
    ("are there more blocks than cans?", "Yes"),
    ("are there fewer blocks than cans?", "No"),
    ("are there as many cups as cans?", "Yes"),
    ("are there more than three blocks?", "No"),
    ("are there at least three blocks?", "Yes"),
    ("which is taller, the can or the cup?", "The green can (can_1) is taller"),
    ("is the can taller than the cup?", "Yes"),
    ("is the can shorter than the cup?", "No"),
    ("which block is the biggest?", "block_2"),
    ("which block is nearest to the bin?", "block_2"),
    ("how far is the can from the cup?", "14 cm"),
    ("how tall is the can?", "7.0 cm high"),
    ("what is between the block_1 and the block_2?", "can_1"),
    ("is the bin empty?", "Yes"),
    ("is the tray empty?", "No, there is a blue pen (pen_1)"),
    ("is the pen in the tray or in the bin?", "pen_1) is in the white tray"),
    ("is there anything to drink?", "can_1"),
    ("do I have something to write with?", "Yes: a blue pen"),
    ("what colours are the blocks?", "block_2 is blue"),
]


@pytest.mark.parametrize(("text", "said"), QUESTIONS)
def test_questions_are_answered_from_what_is_seen(text: str, said: str) -> None:
    (ask,) = parse(text).intents
    assert said in answer(ask, DESK)  # type: ignore[arg-type]


CONDITIONS = [
    ("there is a cup", True), ("there is no cup", False), ("there are no balls", True), ("you see a pen", True), ("the bin is empty", True),
    ("the tray is not empty", True), ("there are more than three blocks", False), ("there are two or more red blocks", True), ("the cup is red", True),
    ("the cup is blue", False),
    ("the pen is in the tray", True), ("the pen is not in the tray", False), ("there are more blocks than cups", True),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "so"), CONDITIONS)
def test_a_condition_is_judged_by_what_is_seen(condition: str, so: bool) -> None:
    from deskhand.language.answers import is_so

    (choice,) = parse(f"if {condition}, put the can in the bin").intents
    assert isinstance(choice, If) and is_so(choice.condition, DESK) is so


PHRASES = [
    ("the second biggest block", ["block_1"]), ("the block between the cup and the bin", ["block_2"]),
    ("the thing between the block_1 and the block_2", ["can_1"]),
    ("everything but the cup", ["block_1", "block_2", "block_3", "can_1", "pen_1"]), ("the things that I can drink from", ["can_1", "cup_1"]),
    ("something to write with", ["pen_1"]), ("two of the red blocks", ["block_1", "block_3"]), ("the block that is to the right of the can", ["block_2"]),
]  # fmt: skip


@pytest.mark.parametrize(("phrase", "ids"), PHRASES)
def test_phrases_name_the_right_objects(phrase: str, ids: list[str]) -> None:
    (place,) = parse(f"put {phrase} into the bin").intents
    assert isinstance(place, Place)
    found = [item["id"] for ref in place.objects for item in resolve(ref, DESK, "object").objects]
    assert sorted(found) == ids


def test_what_objects_are_put_into_is_the_container_named_before_and_what_they_are_put_on_the_object():
    into = parse("Move the yellow can into the bin, then put the red block into it.").intents
    assert [item.target.words for item in into] == ["the bin", "the bin"]
    onto = parse("Put the red block on the green block, then put the blue block on it.").intents
    assert [item.target.words for item in onto] == ["the green block", "the red block"]
