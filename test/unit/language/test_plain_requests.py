"""Descriptions by parts, likenesses, fine colours and superlatives, and ways of asking: what they are read as, and what must not be read so."""

import pytest

from deskhand.language.intents import Place, Unclear
from deskhand.language.parser import normalise, parse, understood


def _placed(text):
    (place,) = parse(text).intents
    assert isinstance(place, Place), text
    return place


@pytest.mark.parametrize(
    ("said", "outline"),
    [
        ("the object with five evenly spaced points", "star"), ("the thing that has four equal edges on top", "square"), ("the 3-sided piece", "triangle"),
        ("the object with three rectangular faces and triangular ends", "triangle"), ("the solid with eight faces", "hexagon"),
        ("the one having six sides", "hexagon"),
        ("the object with a smooth, rounded body and a consistent circular cross-section", "circle"), ("the piece with two horns", "crescent"),
        ("the wedge-shaped piece", "triangle"), ("the dice-like object", "square"), ("the thing resembling a croissant", "crescent"),
        ("the object in the form of a starfish", "star"), ("the cruciform piece", "plus"), ("whichever object has three sides", "triangle"),
        ("the pointy star", "star"), ("the lunate shape", "crescent"), ("the object without any corners", "circle"),
    ],
)  # fmt: skip
def test_a_description_is_the_outline_that_it_can_only_mean(said: str, outline: str) -> None:
    assert _placed(f"put {said} into the red container").objects[0].outline == outline


@pytest.mark.parametrize(
    "said",
    ["the object with seven points", "the object with a handle and three corners", "the object with five glorp sides", "the object with a curved top",
     "the object with five sides and a round top", "the object shaped like a glorp"],
)  # fmt: skip
def test_a_description_that_fits_no_outline_or_several_is_not_read(said: str) -> None:
    assert not understood(parse(f"put {said} into the red container"))


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("put the smaller of the two cylinders in the tray", "put the smaller cylinder in the tray"),
        ("the second largest of the cubes goes into the bin", "the second largest cube goes into the bin"),
        ("the red cube, put it in the tray", "put the red cube in the tray"),
        ("into the bin with the red cube", "put the red cube into the bin"),
        ("make the green cube sit on the red one", "put the green cube on the red one"),
        ("could the green cube please be placed on the red cube?", "the green cube must be placed on the red cube"),
        ("lift the green cube and lower it onto the red cube", "lift the green cube and put it onto the red cube"),
        ("take the cup and leave it in the tray", "take the cup and put it in the tray"),
        ("stack the red cube first, followed by the green cube", "put the green cube on the red cube"),
        ("start with the red cube as the base, then put the green cube on it", "put the green cube on the red cube"),
        ("stack these: red at the bottom, green on top", "put the green one on the red one"),
        ("the cup's place is the tray", "the cup belongs in the tray"),
        ("put the cup in the box designed for storing things", "put the cup in the box"),
        ("put the cup in the tray, and remember that it may tip over easily", "put the cup in the tray"),
        ("put the green triangle on the red object with the same shape", "put the green triangle on the red triangle"),
    ],
)
def test_ways_of_asking_that_say_the_same_are_read_alike(said: str, same: str) -> None:
    assert parse(said).intents == parse(same).intents or normalise(said).rstrip("?") == same
    assert understood(parse(said)), said


@pytest.mark.parametrize(
    "said",
    ["put the cup in the tray, and remember that the can must stay", "put the cup in the tray, but note that only red cups go there",
     "The cup may go into the tray. Put the can in the bin.", "put the small of the cup in the tray", "could the cup be in the tray?"],
)  # fmt: skip
def test_what_restricts_or_only_wonders_is_not_skipped(said: str) -> None:
    assert not understood(parse(said))


def test_how_an_object_seems_asks_for_nothing() -> None:
    said = parse("The cup looks old. Put the can in the bin. The colour of the cup might change in the sun.").intents
    assert said == parse("Put the can in the bin").intents


@pytest.mark.parametrize(
    ("said", "tint", "basic"),
    [("the dark blue cube", "dark blue", "blue"), ("the turquoise cube", "turquoise", "cyan"), ("the mustard-coloured cube", "mustard", "yellow"),
     ("the shiny, silver cube", "silver", "gray"), ("the navy blue cube", "navy blue", "blue")],
)  # fmt: skip
def test_fine_colours_are_kept_as_said(said: str, tint: str, basic: str) -> None:
    ref = _placed(f"put {said} in the tray").objects[0]
    assert (ref.tint, ref.colors) == (tint, {basic})


def test_a_shade_of_many_is_not_skipped() -> None:
    assert isinstance(parse("put the dark blue cubes in the tray").intents[0], Unclear)


@pytest.mark.parametrize(("said", "place"), [("on the far left", "left"), ("on the left", "left")])
def test_far_left_is_left(said: str, place: str) -> None:
    assert _placed(f"put the cube {said} on the red cube").objects[0].place == place
    assert _placed("put the left-most cube on the red cube").objects[0].place == "left"
