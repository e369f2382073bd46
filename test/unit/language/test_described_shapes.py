"""Shapes that are named, likened to something or described, fine colours, sequences and remarks."""

import pytest

from deskhand.language.grounded import Grounded
from deskhand.language.intents import Place, Ref, Unclear
from deskhand.language.parser import parse, understood
from deskhand.language.remarks import is_remark
from deskhand.language.resolve import resolve
from deskhand.language.shape_words import plain_shapes
from deskhand.offline.clarification import candidates


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("the object shaped like a tent", "the triangle"),
        ("the red thing that looks like a starfish", "the red star"),
        ("the piece in the shape of a croissant", "the crescent"),
        ("the object with five points", "the star"),
        ("the object with a round top", "the cylinder"),
        ("the object with six equal faces", "the cube"),
        ("the star shaped object", "the star"),
        ("the block shaped like a spaceship", "the block shaped like a spaceship"),
        ("the cup with a handle", "the cup with a handle"),
    ],
)
def test_descriptions_become_the_plain_noun(said: str, plain: str) -> None:
    assert plain_shapes(said) == plain


@pytest.mark.parametrize(
    ("said", "outline", "tint"),
    [
        ("Pick up the triangular prism and place it into the cyan container.", "triangle", "cyan"),
        ("Put the moon into the maroon container", "crescent", "maroon"),
        ("Take the cylinder from the desk and place it into the lime container. Thank you very much!", "circle", "lime"),
        ("Lift the cube carefully off the desk, bring it to the azure container, and then place it inside.", "square", "azure"),
        ("There are two containers on the desk. Please pick up the star, move it over to the teal container and put it in there.", "star", "teal"),
        ("I am tidying up before my guests arrive. Put the object shaped like a drum into the olive container.", "circle", "olive"),
    ],
)
def test_one_placement_is_read(said: str, outline: str, tint: str) -> None:
    found = parse(said)
    assert understood(found), found
    (place,) = found.intents
    assert isinstance(place, Place) and [ref.outline for ref in place.objects] == [outline]
    assert place.target.container and place.target.tint == tint


def test_in_sequence_the_first_one_is_the_bottom() -> None:
    (place,) = parse("Stack the olive star and the teal star in sequence").intents
    assert isinstance(place, Place) and (place.objects[0].tint, place.relation, place.target.tint) == ("teal", "on", "olive")


@pytest.mark.parametrize(
    ("said", "remark"),
    [
        ("i am expecting guests", True),
        ("it has been a long day", True),
        ("my daughter likes towers", True),
        ("i need the pen", False),
        ("the red block is mine", False),
        ("i never use the cup", False),
        ("it goes into the tray", False),
        ("my cup is dirty", False),
    ],
)
def test_only_what_asks_and_restricts_nothing_is_a_remark(said: str, remark: bool) -> None:
    assert is_remark(said) == remark


def test_a_remark_alone_asks_nothing() -> None:
    assert all(isinstance(item, Unclear) for item in parse("I am expecting guests.").intents)
    assert not understood(parse("I am expecting guests."))


def seen(name: str, label: str, color: str, x: float = 0.0, **more: object) -> dict[str, object]:
    plain = {"id": name, "label": label, "color": color, "shape": "box", "size": [0.03, 0.03, 0.03], "position": [x, 0.0, 0.015], "yaw": 0.0}
    return plain | {"is_container": False, "support": "table", "relation": "on", "confidence": 1.0} | more


DESK = [seen("eraser_1", "eraser", "red"), seen("block_1", "block", "blue", 0.1), seen("block_2", "block", "red", 0.2)]


def ids(ref: Ref) -> list[str]:
    grounded = Grounded()
    assert grounded.heard(
        "detect_outlines",
        {},
        {
            "outlines": [
                {"object_id": "eraser_1", "likely": {"star": 0.8, "pentagon": 0.1}},
                {"object_id": "block_1", "likely": {"circle": 0.5, "hexagon": 0.4}},
                {"object_id": "block_2", "likely": {"square": 0.9}},
            ]
        },
    )
    ranked = [{"object_id": "block_2", "distance": 12.0}, {"object_id": "eraser_1", "distance": 55.0}, {"object_id": "block_1", "distance": 130.0}]
    assert not grounded.heard("detect_outlines", {}, {}) and not grounded.heard("color_grounding", {"color": "red"}, {})  # calls that failed
    assert grounded.heard("color_grounding", {"color": "Maroon"}, {"ranked": ranked})
    return [str(item["id"]) for item in resolve(ref, grounded.put(DESK)).objects]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("the star", ["eraser_1"]),
        ("the cylinder", ["block_1"]),
        ("the cube", ["block_2"]),
        ("the moon", []),
        ("the maroon object", ["block_2"]),
        ("the red star", ["eraser_1"]),
    ],
)
def test_what_tools_have_told_decides_which_object_is_meant(said: str, meant: list[str]) -> None:
    (place,) = parse(f"put {said} into the box").intents
    assert isinstance(place, Place)
    assert ids(place.objects[0]) == meant


def test_without_what_tools_tell_words_mean_what_they_meant() -> None:
    (place,) = parse("put the cubes into the box").intents
    assert isinstance(place, Place)
    assert [item["id"] for item in resolve(place.objects[0], DESK).objects] == ["block_1", "block_2"]


def test_who_names_an_outline_means_the_common_one_where_several_look_alike() -> None:
    """A disc of 3 cm that looks as much like a hexagon or an ellipse is a cylinder to who says so; to who says hexagon it is one."""
    alike = {"hexagon": 0.27, "pentagon": 0.25, "ellipse": 0.2, "circle": 0.1, "square": 0.08}
    desk = [
        seen("object_1", "object", "grey", 0.0) | {"outlines": alike},
        seen("object_2", "object", "cyan", 0.1) | {"outlines": {"circle": 0.53, "hexagon": 0.3}},
        seen("object_3", "object", "red", 0.2) | {"outlines": {"star": 0.8}},
    ]

    def named(words: str) -> set[str]:
        (place,) = parse(f"Put {words} into the box").intents
        assert isinstance(place, Place)
        return {str(item["id"]) for item in resolve(place.objects[0], desk).objects}

    assert named("the cylinders") == {"object_1", "object_2"}
    assert named("the back cylinder") == {"object_1"}
    assert named("the star") == {"object_3"}
    assert "object_3" not in named("the hexagons")


def test_which_one_is_meant_is_not_asked_where_one_is_much_likelier() -> None:
    desk = [
        seen("block_1", "block", "red") | {"outlines": {"square": 0.81, "hexagon": 0.07}},
        seen("block_2", "block", "grey") | {"outlines": {"ellipse": 0.2, "plus": 0.19, "rectangle": 0.16, "square": 0.11, "pentagon": 0.09, "circle": 0.07}},
    ]
    (place,) = parse("Put the cube into the box").intents
    assert isinstance(place, Place) and not candidates(place.objects[0], desk, "object")
    alike = [desk[0], seen("block_2", "block", "grey") | {"outlines": {"square": 0.7}}]
    assert len(candidates(place.objects[0], alike, "object")) == 2
