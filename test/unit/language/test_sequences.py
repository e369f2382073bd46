"""Which of two objects is at the bottom of a stack, and ways of asking that say the same as a plain one."""

import pytest

from deskhand.language.intents import Build, Leave, Place, Tower
from deskhand.language.parser import parse, understood
from deskhand.language.sequences import stacked_plainly


@pytest.mark.parametrize(
    "said",
    [
        "Stack the red cube and then the blue cube in this order.",
        "Stack the red cube, then the blue cube.",
        "Stack the red cube first and the blue cube after that.",
        "Stack these two: the red cube, then the blue cube.",
        "Stack them in this order: red cube, blue cube.",
        "Stack the red and blue cubes in sequence.",
        "In order, stack the red cube and the blue cube, please.",
        "Build a stack: red cube first, blue cube second.",
        "Starting with the red cube, stack the blue cube onto it.",
        "Take the red cube as the base and put the blue cube on it.",
        "Use the red cube as a foundation and stack the blue cube over it.",
        "Place the red cube first and then put the blue cube on top of it.",
        "The red cube goes first; the blue cube goes on top of it.",
        "I want a tower of two: the red cube underneath, the blue cube above.",
        "Arrange the red cube and the blue cube in a stack, with the blue one on top.",
        "Stack the blue cube and the red cube, with the red one at the bottom.",
        "I would like to see a small tower. Take the blue cube, lift it up, and place it on top of the red cube.",
        "Put the blue cube on the red cube so that they form a small tower.",
        "Move the blue cube onto the red cube without touching the others.",
        "Put the blue cube on the cube that is red.",
    ],
)
def test_the_blue_one_goes_onto_the_red_one(said: str) -> None:
    found = parse(said)
    assert understood(found), found
    place, *rest = found.intents
    assert all(isinstance(item, Leave) and item.objects[0].rest for item in rest)
    assert isinstance(place, Place) and place.relation == "on"
    assert [ref.tint for ref in place.objects] == ["blue"] and place.target.tint == "red"


@pytest.mark.parametrize(
    "said",
    [
        "First grasp the star, then lower it into the gray container, then let go.",
        "Move the star so that it ends up inside the gray container.",
        "Choose the container that is gray and place the star in there.",
        "Find the star and put it in the container painted gray.",
        "Inside the gray container is where the star should go.",
        "Whatever else you do, the star must end up in the gray container.",
        "After picking up the star, place it in the gray container.",
        "Ignore the other shapes and just put the star into the gray container.",
        "My daughter loves these toys. Place the star in the gray one of the two containers.",
        "Your mission is to get the star into the gray container.",
        "Put the object that looks like a sheriff's badge into the gray container.",
        "Put the object whose outline has five points into the gray container.",
    ],
)
def test_the_star_goes_into_the_gray_container(said: str) -> None:
    found = parse(said)
    assert understood(found), found
    (place,) = [item for item in found.intents if not isinstance(item, Leave)]
    assert isinstance(place, Place) and [ref.outline for ref in place.objects] == ["star"]
    assert place.target.container and place.target.tint == "gray"


@pytest.mark.parametrize(
    "said", ["stack the blocks, the biggest on top", "stack the red cube and the blue cube", "put the red cube on the blue cube and then go home"]
)
def test_words_that_say_no_order_stay(said: str) -> None:
    assert stacked_plainly(said) == said


def test_descriptions_stay_apart_in_a_sequence() -> None:
    (place,) = parse("Stack the olive object with five points and the teal object with three corners in sequence.").intents
    assert isinstance(place, Place)
    assert [(ref.tint, ref.outline) for ref in (*place.objects, place.target)] == [("teal", "triangle"), ("olive", "star")]


def test_three_of_them_become_two_placements_bottom_first() -> None:
    found = parse("Stack the red cube, then the blue cube, then the green cube.").intents
    assert [(item.objects[0].tint, item.target.tint) for item in found if isinstance(item, Place)] == [("blue", "red"), ("green", "blue")]


def test_towers_by_number_are_still_built() -> None:
    assert isinstance(parse("build a tower of three blocks, red at the bottom").intents[0], Build)
    assert isinstance(parse("stack the red block and the blue block").intents[0], Tower)
