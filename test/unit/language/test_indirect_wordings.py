"""Long and indirect requests: what is said around them is set aside, and nothing is done that was only mentioned, denied or told of others."""

import pytest
from indirect import CASES, RIGHT, WRONG, classify

from deskhand.language.asides import without_asides
from deskhand.language.parser import parse, understood
from deskhand.language.wishes import asked_plainly


@pytest.mark.parametrize("case", [case for cases in CASES.values() for case in cases], ids=lambda case: case["say"][:40])
def test_a_sentence_comes_to_what_is_written_beside_it(case: dict[str, str]) -> None:
    assert classify(case) == case["outcome"], parse(case["say"]).intents


def test_none_is_silently_wrong_and_what_asks_for_nothing_is_never_done() -> None:
    assert all(case["outcome"] != WRONG for cases in CASES.values() for case in cases)
    assert all(case["outcome"] == RIGHT for cases in CASES.values() for case in cases if not case["means"])


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("since i have guests, please put the cup in the tray", "please put the cup in the tray"),
        ("put the cup in the tray because i need room", "put the cup in the tray"),
        ("my sister loves the cup, so put it in the tray", "there is the cup ; put it in the tray"),
        ("the tray is empty, so put the cup in there", "put the cup in the tray"),
    ],
)
def test_what_is_set_aside_still_says_what_a_pronoun_means(said: str, plain: str) -> None:
    assert without_asides(said) == plain


@pytest.mark.parametrize(
    "said",
    [
        "my sister loves the cup and the can, so put it in the tray", "put the cup in the tray so that the red side is on the left",
        "put the cup in the tray because only the can must stay", "as soon as i clap, put the cup in the tray",
        "the cup must not be touched, but i am tired, so put it in the tray", "the cup is mine, so put everything in the tray",
        "he was tired, so put the cup in the tray and left", "take the cube and the glass beads and put them in the tray",
    ],
)  # fmt: skip
def test_what_restricts_waits_or_may_mean_two_objects_is_not_set_aside(said: str) -> None:
    assert not understood(parse(said))


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("what i need is for the can to end up in the bin", "put the can in the bin"),
        ("it would be great if the can could be put into the bin", "put the can into the bin"),
        ("i would be very grateful if you picked up the can", "pick up the can"),
        ("prove him wrong by putting the can into the bin", "put the can into the bin"),
        ("what i need wiped is the left area", "wipe the left area"),
        ("the can is what i want you to put into the bin", "put the can into the bin"),
    ],
)
def test_a_wish_is_said_as_the_act_that_makes_it_true(said: str, plain: str) -> None:
    assert asked_plainly(said) == plain


@pytest.mark.parametrize(
    "said",
    [
        "it would be terrible if the can were put into the bin", "it would be great if the can were not put into the bin",
        "i want the can that was put in the bin",
        "the can was put into the bin", "i like that the can is in the bin", "do not make him angry by putting the can into the bin",
    ],
)  # fmt: skip
def test_what_is_no_wish_is_left_as_it_is(said: str) -> None:
    assert asked_plainly(said) == said
