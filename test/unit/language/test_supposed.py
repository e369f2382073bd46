"""Where "the sponges" are named and nothing is called a sponge, what may be one is taken for it, and that is said."""

import pytest

from deskhand.language.grounded import Grounded
from deskhand.language.parser import parse


def seen(name, label, color="purple", **names):
    told = [{"name": key, "probability": value, "source": "geometry"} for key, value in names.items()]
    about = {"shape": "box", "size": [0.066, 0.04, 0.024], "position": [0.0, 0.0, 0.012], "is_container": False, "support": "table", "relation": "on"}
    return {"id": name, "label": label, "color": color, **({"names": told} if told else {})} | about


SPONGE = seen("box_3", "box", box=0.77, sponge=0.15)
BLOCK, BALL = seen("block_1", "block", "orange", block=0.7, box=0.27), seen("ball_1", "ball", "red")
TRAY = {**seen("tray_1", "tray", "white"), "is_container": True}
WORDS = "put the sponges and blocks into the tray and everything else into the bin"


def taken(words, *objects):
    """Label and colour by which each object goes, and the grounding."""
    grounded = Grounded(parse(words).intents)
    return {item["id"]: (item["label"], item["color"]) for item in grounded.put(objects)}, grounded


def test_what_may_be_what_was_named_is_taken_for_it_and_that_is_told():
    names, grounded = taken(WORDS, SPONGE, BLOCK, BALL, TRAY)
    assert names["box_3"] == ("sponge", "purple") and names["block_1"] == ("block", "orange")
    assert [one.text for one in grounded.supposed.values()] == ["the purple box (box_3) is taken for 'the sponges' (likely by 0.15)"]


def test_it_stays_that_in_later_looks_until_one_calls_it_otherwise():
    _, grounded = taken(WORDS, SPONGE, BLOCK, TRAY)
    hidden = {**SPONGE, "names": []}
    assert grounded.put([hidden, BLOCK, TRAY])[0]["label"] == "sponge"
    assert grounded.put([{**SPONGE, "label": "eraser"}, BLOCK, TRAY])[0]["label"] == "eraser"


def test_what_a_look_has_shown_and_the_next_one_hides_is_not_looked_for_elsewhere():
    sponge = seen("sponge_1", "sponge", "yellow", sponge=0.7)
    _, grounded = taken(WORDS, SPONGE, sponge, BLOCK, TRAY)
    assert grounded.put([SPONGE, {**sponge, "label": "object", "names": []}, BLOCK, TRAY])[0]["label"] == "box"


@pytest.mark.parametrize(
    ("words", "objects"),
    [
        (WORDS, (SPONGE, BLOCK, seen("sponge_1", "sponge", "yellow"))),  # there is one that is called so
        ("put the sponges into the tray", (SPONGE, BLOCK)),  # nobody would move it but for that
        ("put the boxes and sponges into the tray and the rest into the bin", (SPONGE, BLOCK)),  # it is the only box, and boxes were named too
        ("are there sponges on the desk?", (SPONGE,)),
        (WORDS, (seen("box_3", "box", box=0.9, sponge=0.04), BLOCK)),  # hardly one
        (WORDS, ({**SPONGE, "beyond_reach": True}, BLOCK)),  # everything does not mean it
        ("toys (blocks and balls) belong in the tray, the rest in the bin", (seen("box_3", "box", box=0.6, block=0.3), BALL)),  # there is a toy
    ],
)
def test_others_keep_their_names(words, objects):
    names, grounded = taken(words, *objects, TRAY)
    assert names == {item["id"]: (item["label"], item["color"]) for item in (*objects, TRAY)} and not grounded.supposed


def test_where_each_of_several_is_unlikely_none_is_taken_for_it_but_that_is_told():
    several = [seen(f"box_{number}", "box", box=0.7, sponge=0.2) for number in range(1, 6)]
    names, grounded = taken(WORDS, *several, BLOCK, TRAY)
    assert {names[item["id"]][0] for item in several} == {"box"}
    assert all("may be one of 'the sponges'" in one.text for one in grounded.supposed.values()) and len(grounded.supposed) == 5


def test_a_color_that_nothing_has_is_that_of_the_one_object_of_a_color_near_it():
    words = "place the orange and purple objects in the tray and the others in the bin"
    brown = seen("block_1", "block", "brown")
    names, grounded = taken(words, brown, SPONGE, TRAY, seen("can_1", "can", "green"))
    assert names["block_1"] == ("block", "orange") and names["can_1"] == ("can", "green")
    assert "taken for" in grounded.supposed["block_1"].text
    assert not taken(words, brown, seen("can_1", "can", "red"), SPONGE, TRAY)[1].supposed  # either may be
    assert not taken("place the orange objects in the tray and the brown ones in the bin", brown, TRAY)[1].supposed
