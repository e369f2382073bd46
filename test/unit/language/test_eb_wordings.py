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


@pytest.mark.parametrize(
    ("say", "means"),
    [
        ("Scrub the leftmost one of the two areas.", "wipe the leftmost area"),
        ("Wipe the left of the two painted areas.", "wipe the left painted area"),
        ("Wipe the bigger one of both stripes.", "wipe the bigger stripe"),
        ("There is a shape sorter here, as you may have noticed. Find the red cube and put it in there.", "put the red cube into the shape sorter"),
        ("There is a shape sorter on the desk, as I told you already. Find the star and put it in there.", "put the star into the shape sorter"),
        ("Put the object shaped like what illuminates the night sky into the red container.", "put the crescent into the red container"),
    ],
)
def test_one_of_two_what_is_evident_and_what_lights_the_night_are_read(say: str, means: str) -> None:
    assert classify({"say": say, "means": means}) == RIGHT
    assert classify({"say": "Wipe the area between the two areas.", "means": "wipe the left area"}) != WRONG
