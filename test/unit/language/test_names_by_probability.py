"""A noun means the object for which that name is the likeliest, where none is called so; a taught name means that object alone."""

from typing import Any

import pytest

from deskhand.language.phrases import parse_whole
from deskhand.language.resolve import resolve


def _item(name: str, label: str, **names: float) -> dict[str, Any]:
    told = [{"name": key, "probability": value, "source": "geometry"} for key, value in names.items()]
    return {"id": name, "label": label, "color": "blue", "shape": "box", "size": [0.05, 0.03, 0.02], "position": [0.3, 0.0, 0.01], "names": told}


OBJECTS = [
    _item("eraser_1", "eraser", eraser=0.6, sponge=0.3),
    _item("box_1", "box", box=0.5, sponge=0.4),
    _item("pen_1", "pen", pen=0.9, marker=0.1),
    _item("cup_1", "cup", cup=0.9),
    _item("cup_2", "my_mug", my_mug=0.9, cup=0.05),
]


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("the sponge", ["box_1"]),
        ("the eraser", ["eraser_1"]),
        ("the marker", []),
        ("all sponges", []),
        ("my mug", ["cup_2"]),
        ("both cups", ["cup_1", "cup_2"]),
    ],
)
def test_what_a_noun_means(phrase: str, meant: list[str]) -> None:
    ref = parse_whole(phrase)
    assert ref is not None
    found = resolve(ref, OBJECTS)
    assert sorted(item["id"] for item in found.objects) == meant


def test_what_was_assumed_is_said() -> None:
    ref = parse_whole("the sponge")
    assert ref is not None and "box_1" in resolve(ref, OBJECTS).note


def test_two_that_a_look_told_by_one_id_and_that_are_as_near_to_a_colour_are_told_apart_by_nothing_and_break_nothing() -> None:
    ref = parse_whole("both silver erasers")
    assert ref is not None and ref.tint == "silver"
    held = {**_item("eraser_2", "eraser"), "tints": {"silver": 9.0}}
    found = resolve(ref, [held, {**held, "position": [0.0, 0.1, 0.2]}])
    assert [item["id"] for item in found.objects] == ["eraser_2", "eraser_2"]
