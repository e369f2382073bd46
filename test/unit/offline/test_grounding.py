"""Outlines are asked again where nothing that has the outline has the colour."""

from collections.abc import Mapping

from deskhand.language.intents import Pick
from deskhand.language.parser import parse
from deskhand.language.resolve import Seen, resolve
from deskhand.offline.grounding import DOUBTS, Grounding
from deskhand.offline.script import Call, CallResult

TOOLS = ("detect_outlines", "color_grounding")
DISTANCE = {"piece_1": 8.0, "other_1": 127.0}
"""Of their colours from the word [CIELAB]."""


def _objects() -> list[Seen]:
    colors = {"piece_1": "cyan", "other_1": "purple"}
    return [{"id": name, "label": "object", "color": color, "size": [0.03, 0.03, 0.03], "position": [0, 0, 0]} for name, color in colors.items()]


def _ground(looks: list[dict[str, dict[str, float]]], distance: Mapping[str, float] = DISTANCE) -> tuple[list[str], list[str]]:
    """Ids that the cyan star is after all looks, and the tools called; ``looks``: at each asking, what the outlines of objects are told to be."""
    intent = parse("pick up the cyan star").intents[0]
    assert isinstance(intent, Pick)
    grounding, objects = Grounding(TOOLS, (intent,)), _objects()
    called: list[str] = []
    script = grounding.ground(objects)
    answer: CallResult | None = None
    while True:
        try:
            call: Call = script.send(answer) if answer else next(script)
        except StopIteration:
            return [str(item["id"]) for item in resolve(intent.item, objects, "object").objects], called
        called.append(call.tool)
        if call.tool == "detect_outlines":
            told = looks[min(called.count("detect_outlines"), len(looks)) - 1]
            rows = [{"object_id": name, "likely": told.get(name, {})} for name in call.arguments["object_ids"]]
            answer = CallResult(True, {"outlines": rows})
        else:
            ranked = [{"object_id": name, "distance": distance[name]} for name in call.arguments["candidates"]]
            answer = CallResult(True, {"ranked": ranked})


def test_what_was_seen_badly_is_found_by_another_picture() -> None:
    first = {"piece_1": {"square": 0.3, "rectangle": 0.2}, "other_1": {"star": 0.7}}
    again = {"piece_1": {"star": 0.25, "square": 0.2}}
    found, called = _ground([first, again])
    assert found == ["piece_1"]
    assert called == ["detect_outlines", "color_grounding", "detect_outlines", "color_grounding"]


def test_what_has_another_outline_each_time_is_not_taken_and_not_asked_for_ever() -> None:
    other = {"piece_1": {"square": 0.9}, "other_1": {"star": 0.7}}
    found, called = _ground([other])
    assert found == []
    assert called.count("detect_outlines") <= 1 + DOUBTS


def test_a_neighbour_among_colours_is_not_the_colour() -> None:
    """A silver moon was taken for the teal one, 45 off, which the first picture showed as a rectangle."""
    first, again = {"piece_1": {"square": 0.4}, "other_1": {"star": 0.7}}, {"piece_1": {"star": 0.25}}
    found, called = _ground([first, again], distance={"piece_1": 3.0, "other_1": 45.0})
    assert found == ["piece_1"] and called.count("detect_outlines") == 2


def test_nothing_is_asked_again_where_one_has_the_colour() -> None:
    _, called = _ground([{"piece_1": {"star": 0.7}, "other_1": {"star": 0.6}}])
    assert called.count("detect_outlines") == 1
