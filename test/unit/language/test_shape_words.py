"""Words of shape and of direction, as people mean them."""

import pytest

from deskhand.language.answers import answer
from deskhand.language.intents import Ask, Impossible, Shift, Unclear
from deskhand.language.parser import parse
from deskhand.language.resolve import forms_of


@pytest.mark.parametrize(
    ("shape", "size", "forms"),
    [
        ("sphere", (0.04, 0.04, 0.04), {"sphere", "round"}),
        ("cylinder", (0.04, 0.04, 0.07), {"cylinder", "round"}),
        ("cylinder", (0.14, 0.01, 0.01), {"cylinder"}),
        ("cylinder", (0.08, 0.08, 0.01), {"cylinder", "round"}),
        ("box", (0.034, 0.036, 0.035), {"box", "square", "cube"}),
        ("box", (0.08, 0.075, 0.02), {"box", "square"}),
        ("box", (0.09, 0.06, 0.03), {"box"}),
    ],
)
def test_what_is_round_square_or_a_cube_is_told_by_its_proportions(shape: str, size: tuple[float, float, float], forms: set[str]) -> None:
    assert forms_of({"id": "x", "shape": shape, "size": size}) == forms


@pytest.mark.parametrize(("said", "sign"), [("move the cup closer to me", 1), ("move the cup closer", -1), ("move the cup away from me", -1)])
def test_me_is_the_person_across_from_the_robot(said: str, sign: int) -> None:
    (shift,) = parse(said).intents
    assert isinstance(shift, Shift) and shift.by[0] * sign > 0


@pytest.mark.parametrize("said", ["turn the cup over", "flip the sponge over", "put the can upside down", "lay the can on its side"])
def test_objects_are_turned_about_the_vertical_only(said: str) -> None:
    assert isinstance(parse(said).intents[0], Impossible | Unclear)


@pytest.mark.parametrize(
    "said", ["move the cup to the left edge of the desk", "put the yellow things left, the blue things right", "order the balls by colour"]
)
def test_what_would_be_done_in_part_is_not_done(said: str) -> None:
    assert isinstance(parse(said).intents[0], Impossible | Unclear)


def test_what_is_left_out_of_a_count_may_be_said_last() -> None:
    (ask,) = parse("how many things are on the desk that are not blocks?").intents
    assert isinstance(ask, Ask) and ask.about is not None and [ref.kinds for ref in ask.about.excluded] == [{"block"}]


@pytest.mark.parametrize(
    ("said", "told"), [("is there anything in the tray?", "No, I see nothing in the tray."), ("what is in the tray?", "I see nothing in the tray.")]
)
def test_an_empty_container_is_told_in_plain_words(said: str, told: str) -> None:
    (ask,) = parse(said).intents
    tray = {
        "id": "tray_1",
        "label": "tray",
        "color": "white",
        "shape": "box",
        "size": (0.2, 0.15, 0.04),
        "position": (0, 0, 0.02),
        "is_container": True,
        "support": "table",
    }
    assert isinstance(ask, Ask) and answer(ask, [tray]) == told
