"""What the user said to leave alone is a rule; what may mean something else is none."""

import pytest
from test_loop_models import LOOK, finish, run, say

from deskhand.agent.left_alone import LeftAlone
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

NAMES = ("cup_1", "block_1", "pen_1", "phone_1", "bin_1")
DESK = [seen_object("cup_1"), seen_object("block_1", "blue"), seen_object("pen_1", "black"), seen_object("phone_1", "black"), seen_object("bin_1")]


def left(text: str) -> list[str]:
    words = LeftAlone()
    words.told(text)
    return [name for name in NAMES if words.holds(name, DESK)] + (["rest"] if words.rest else [])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tidy up, but don't touch the phone", ["phone_1"]),
        ("Do not move the blue block or the cup.", ["cup_1", "block_1"]),
        ("put the cup in the bin and leave the rest", ["rest"]),
        ("put the cup in the bin. Leave everything else alone!", ["rest"]),
        ("leave the pen where it is, the others go into the bin", ["pen_1"]),
        ("clear the desk except for the phone", ["phone_1"]),
        ("everything but the cup goes into the bin", ["cup_1"]),
        ("put the cup in the bin, not the pen", ["pen_1"]),
        ("don't leave the pen on the desk", []),
        ("leave me some space on the right", []),
        ("keep the blocks together", []),
        ("leave the cup in the bin", []),
        ("throw away what I need no more: the pen", []),
        ("put the pen beside the cup, not on it", []),
        ("the cup must not stand on the phone", []),
        ("don't drop the cup", []),
        ("everything that is not a cup goes into the bin", []),
    ],
)
def test_only_plain_words_forbid(text: str, names: list[str]) -> None:
    assert left(text) == names


def moved(*names: str) -> list:
    return [call for name in names for call in (say("pick", object_id=name), say("place_in", container_id="bin_1"))]


def test_what_was_left_alone_stays_and_nobody_is_asked() -> None:
    desk = SymbolicDesk(*DESK)
    outcome = run([LOOK, *moved("phone_1", "cup_1"), finish("partly", "")], "make it look nice but don't touch the phone", desk)
    assert desk.where() == {"cup_1": "bin_1", "block_1": "table", "pen_1": "table", "phone_1": "table"}
    assert [step.code for step in outcome.steps if step.tool == "pick"] == ["permission_denied", ""]


def test_the_rest_is_what_neither_the_words_nor_the_plan_name() -> None:
    desk = SymbolicDesk(*DESK)
    plan = say("submit_plan", subgoals=[{"object_id": "pen_1", "relation": "in", "target_id": "bin_1"}])
    run([LOOK, *moved("pen_1"), plan, *moved("pen_1", "cup_1"), finish()], "what one writes with goes into the bin, leave the rest", desk)
    assert desk.where() == {"cup_1": "table", "block_1": "table", "pen_1": "bin_1", "phone_1": "table"}


def test_a_later_word_lifts_it() -> None:
    said = ["the phone as well", None]
    desk = SymbolicDesk(*DESK)
    inbox = lambda: said.pop(0) if len(desk.calls) > 1 and said else None  # noqa: E731
    run([LOOK, say("find_objects"), *moved("phone_1"), finish()], "put the cup in the bin, don't touch the phone", desk, inbox=inbox)
    assert desk.where()["phone_1"] == "bin_1"
