"""Taught names of several words are one noun to the grammar."""

from __future__ import annotations

import pytest

from deskhand.language.compound_names import join_names, noun_of
from deskhand.language.intents import Place
from deskhand.language.parser import parse
from deskhand.language.resolve import resolve

NAMES = ["alphabet soup", "soup", "cream cheese"]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("Pick the Alphabet Soup and place it in the basket", "Pick the alphabet_soup and place it in the basket"),
        ("put both alphabet soups and the cream-cheese in the bin", "put both alphabet_soups and the cream_cheese in the bin"),
        ("the soup", "the soup"),
        ("an alphabet souped up", "an alphabet souped up"),
    ],
)
def test_names_become_one_word(text: str, joined: str) -> None:
    assert join_names(text, NAMES) == joined


def test_a_sentence_means_the_object_of_that_name() -> None:
    (placing,) = parse(join_names("pick the alphabet soup and place it in the basket", NAMES)).intents
    assert isinstance(placing, Place) and placing.objects[0].noun == noun_of("alphabet soup")
    desk = [
        {"id": name, "label": label, "color": "red", "shape": "box", "size": [0.05, 0.05, 0.05], "position": [0.0, 0.0, 0.02], "yaw": 0.0}
        for name, label in (("can_1", "alphabet soup"), ("can_2", "tomato soup"), ("box_1", "alphabet_blocks"))
    ]
    assert [item["id"] for item in resolve(placing.objects[0], desk, "object").objects] == ["can_1"]
