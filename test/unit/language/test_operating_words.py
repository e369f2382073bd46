"""Words for drawers, lids and knobs; and those that sound like them and are not."""

import numpy as np
import pytest

from deskhand.language.intents import Operate, Pick, Place
from deskhand.language.parser import parse
from deskhand.offline.operating import chosen


def read(text):
    return parse(text).intents


@pytest.mark.parametrize(
    ("text", "act", "part", "which"),
    [
        ("Open the drawer", "open", "drawer", ""),
        ("open the middle layer of the drawer", "open", "drawer", "middle"),
        ("please pull the bottom drawer of the cabinet out", "open", "drawer", "bottom"),
        ("Pull out the top drawer, please.", "open", "drawer", "top"),
        ("shut the upper drawer", "close", "drawer", "top"),
        ("push the drawer in", "close", "drawer", ""),
        ("open the blue box", "open", "lid", ""),
        ("Lift the lid of the red box", "open", "lid", ""),
        ("turn on the stove", "turn", "knob", ""),
        ("switch the burner on", "turn", "knob", ""),
        ("turn the knob of the stove to the right", "turn", "knob", ""),
    ],
)
def test_what_is_opened_closed_or_turned(text, act, part, which):
    (wish,) = read(text)
    assert isinstance(wish, Operate) and (wish.act, wish.part, wish.which) == (act, part, which)


def test_how_far_and_which_way():
    assert read("open the drawer by 8 cm")[0].distance == pytest.approx(0.08)
    assert read("pull the drawer out by 50 mm")[0].distance == pytest.approx(0.05)
    assert read("turn the dial clockwise by 90 degrees")[0].angle == pytest.approx(-np.pi / 2)
    on, off = read("turn the stove on")[0], read("turn off the stove")[0]
    assert on.angle > 0 > off.angle and on.either and not off.either, "what is off already is not turned on"
    assert not read("turn the knob to the left")[0].either


def test_with_something_else_before_or_after():
    first, then = read("open the top drawer of the cabinet and put the bowl inside")
    assert isinstance(first, Operate) and isinstance(then, Place) and then.target.words == "the top drawer of the cabinet" and then.target.drawer == "top"
    before, last = read("put the black bowl in the bottom drawer of the cabinet and close it")
    assert isinstance(before, Place) and (last.act, last.which) == ("close", "bottom")
    assert [item.act for item in read("open the drawer and then close it")] == ["open", "close"]


@pytest.mark.parametrize(
    "text",
    ["open the gripper", "push the block to the left", "lift the box", "turn the block by 90 degrees", "pull the box", "open the door of the house and sing"],
)
def test_other_words_stay_what_they_are(text):
    assert not any(isinstance(item, Operate) for item in read(text)), text
    assert text != "lift the box" or isinstance(read(text)[0], Pick)


def row(name, side, at, off=0.5, out=0.03):
    return {"object_id": name, "side": side, "position": list(at), "outward": [0, -1, 0], "size": [out, 0.09, 0.012], "off_middle": off}


def test_which_handle_is_meant():
    rows = [row("object_7", "side", (0.1, -0.14, z)) for z in (0.19, 0.118, 0.049)] + [
        row("object_2", "top", (0, 0, 0.3), 0.8),
        row("object_9", "top", (-0.3, 0.2, 0.04), 0.05),
    ]
    objects = [
        {"id": name, "label": "object", "color": color, "position": [0, 0, 0]}
        for name, color in (("object_7", "black"), ("object_2", "brown"), ("object_9", "black"))
    ]

    def meant(text, **more):
        return [(one["object_id"], one["position"][2]) for one in chosen(read(text)[0], rows, objects, **more)]

    assert [meant(f"open the {which} drawer of the cabinet") for which in ("top", "middle", "bottom")] == [
        [("object_7", 0.19)],
        [("object_7", 0.118)],
        [("object_7", 0.049)],
    ]
    assert len(meant("open the drawer")) == 3, "which one was not said"
    assert meant("close the drawer", moved=[0.1, 0.0, 0.12]) == [("object_7", 0.118)]
    assert meant("turn on the stove") == [("object_9", 0.04)] and meant("open the brown box") == [("object_2", 0.3)]
    assert meant("open the red box") == []
