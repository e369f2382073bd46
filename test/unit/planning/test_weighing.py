"""Searching the odd one with a balance: always found, within the bound, and contradictions told."""

from __future__ import annotations

import math

import pytest

from deskhand.errors import DeskhandError
from deskhand.planning.weighing import HEAVIER, LEVEL, LIGHTER, Weighing, next_weighing, outcome


@pytest.mark.parametrize("count", range(3, 10))
@pytest.mark.parametrize("per_pan", [2, 4])
def test_every_odd_one_is_found_within_the_allowed_weighings(count: int, per_pan: int) -> None:
    names = [f"b{number}" for number in range(count)]
    for truth in ((name, way) for name in names for way in (HEAVIER, LIGHTER)):
        past: list[Weighing] = []
        while not (advice := next_weighing(names, "", past, per_pan)).found:
            assert len(advice.left) == len(advice.right) <= per_pan and not set(advice.left) & set(advice.right)
            past.append(Weighing(advice.left, advice.right, outcome(truth, advice.left, advice.right)))
        assert advice.found == truth
        assert len(past) <= math.ceil(math.log(2 * count, 3) - 1e-9) + 1


def test_of_two_it_must_be_said_what_is_odd() -> None:
    assert next_weighing(["a", "b"], HEAVIER).left == ("a",)
    with pytest.raises(DeskhandError, match="say heavier or lighter"):
        next_weighing(["a", "b"])


def test_readings_that_contradict_each_other_and_strangers_are_refused() -> None:
    level = [Weighing(("a",), ("b",), LEVEL), Weighing(("b",), ("c",), LEVEL), Weighing(("a",), ("c",), LEVEL)]
    with pytest.raises(DeskhandError, match="read wrong"):
        next_weighing(["a", "b", "c"], "", level)
    with pytest.raises(DeskhandError, match="no candidate"):
        next_weighing(["a", "b"], HEAVIER, [Weighing(("a",), ("z",), LEVEL)])
