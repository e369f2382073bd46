"""What is read in instructions that a balance answers, and that others are not taken for such."""

import pytest

from deskhand.language.intents import Unclear, Weigh
from deskhand.language.parser import parse
from deskhand.language.weighing import parse_weighing
from deskhand.tasks.balance_scale import VARIANTS, BalanceScale

KINDS = {"compare": "heaviest", "odd_one": "odd", "balance": "level", "sort": "row", "measure": "grams", "counterweight": "level"}
TASK = BalanceScale()


@pytest.mark.parametrize("seed", range(48))
def test_the_task_is_read_as_it_is_meant(seed):
    setting = TASK.setting(seed)
    (wish,) = parse(setting.instruction).intents
    assert isinstance(wish, Weigh), (setting.instruction, wish)
    assert wish.kind == KINDS[VARIANTS[seed % 6]], setting.instruction
    weights = [body for body in setting.masses if body.startswith("weight_")]
    assert sorted(grams for _, grams in wish.weights) == sorted(round(1000 * setting.masses[name]) for name in weights)
    assert wish.most == setting.goal.weighings
    assert bool(wish.target) == bool(setting.goal.chosen)
    assert wish.onto == ("left" if setting.variant == "counterweight" else "")
    if setting.goal.left_to_right:
        assert wish.up is True


@pytest.mark.parametrize(
    ("said", "kind", "sign"),
    [
        ("Which of the two cans is lighter?", "heaviest", -1),
        ("Put the heaviest of the three blocks into the bin.", "heaviest", 1),
        ("One of these cubes is lighter than the rest, find out which.", "odd", -1),
        ("How much does the blue box weigh? The red block is 10 g, the green block 25 g.", "grams", 0),
        ("Arrange the cans in a row from heavy to light.", "row", 0),
        ("One of the cans is lighter than the others; in no more than 3 weighings find it and put it in the bin.", "odd", -1),
    ],
)
def test_others_words_for_the_same(said, kind, sign):
    wish = parse_weighing(said)
    assert isinstance(wish, Weigh), wish
    assert (wish.kind, wish.sign) == (kind, sign)


@pytest.mark.parametrize(
    "said",
    [
        "Put the heavy block in the tray.",
        "Put the blocks into the bin.",
        "Line up the cans from smallest to largest.",
        "Stack the mail so that the heavier is below; the big parcel carries the small one.",
        "Put the light blue cup in the tray.",
        "Sort the blocks by colour.",
    ],
)
def test_what_a_balance_does_not_answer(said):
    assert parse_weighing(said) is None


@pytest.mark.parametrize("more", ["glorp", "tomorrow", "unless it is red"])
def test_a_word_without_a_part_makes_it_unclear(more):
    assert isinstance(parse_weighing(f"Put the heavier of the two blocks into the tray {more}."), Unclear)


def test_a_question_about_weights_only_asks():
    assert parse("How heavy is the can? The red block is 10 g.").question
    assert not parse("Put the heavier of the two blocks into the tray.").question
