"""Paraphrases of EB-Manipulation's requests in styles that are not those of its wordings here, and sentences like them that ask for nothing."""

from collections import Counter
from pathlib import Path

import pytest
import yaml
from indirect import RIGHT, WRONG, classify

CASES: dict[str, list[dict[str, str]]] = yaml.safe_load((Path(__file__).parent / "eb_wordings.yaml").read_text())
BARS = {"mended": 64, "measured": 38, "second": 30}
"""So many of each list are read as they are meant. When they were written: 23 of 65, 21 of 40, 18 of 30; each list was then mended on."""


@pytest.mark.parametrize("name", BARS)
def test_as_many_paraphrases_are_read_as_ever_and_none_as_something_else(name: str) -> None:
    found = {case["say"]: classify(case) for case in CASES[name]}
    count = Counter(found.values())
    assert count[WRONG] == 0, [say for say, what in found.items() if what == WRONG]
    assert count[RIGHT] >= BARS[name], [say for say, what in found.items() if what != RIGHT]


@pytest.mark.parametrize("case", CASES["harmless"], ids=lambda case: case["say"][:40])
def test_what_is_told_denied_or_left_to_others_is_never_done(case: dict[str, str]) -> None:
    assert classify(case) == RIGHT
