"""Two places of one object: which of four in a square."""

import pytest

from deskhand.language.parser import parse
from deskhand.language.resolve import resolve


def tray(number, x, y):
    known = {"id": f"compartment_{number}", "label": "compartment", "color": "brown", "shape": "box", "size": [0.2, 0.2, 0.08], "position": [x, y, 0.04]}
    return {**known, "yaw": 0.0, "is_container": True, "support": "table", "relation": "on", "confidence": 0.9}


FOUR = [tray(1, -0.1, 0.25), tray(2, -0.1, 0.5), tray(3, 0.1, 0.25), tray(4, 0.1, 0.5)]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("back right", "compartment_1"),
        ("left back", "compartment_2"),
        ("right front", "compartment_3"),
        ("front left", "compartment_4"),
    ],
)
@pytest.mark.parametrize("preposition", ["in", "into"])
def test_both_places_are_heeded_in_either_order(preposition, words, meant):
    [place] = parse(f"put the can {preposition} the {words} compartment").intents
    assert [item["id"] for item in resolve(place.target, FOUR, "into").objects] == [meant]


def test_places_behind_the_noun_go_together_too():
    [place] = parse("put the can in the compartment at the back on the left").intents
    assert [item["id"] for item in resolve(place.target, FOUR, "into").objects] == ["compartment_2"]
