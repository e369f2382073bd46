"""A desk as the loop knows it after one look, and whether a motion is licensed there: the guard alone, without a model and without a robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deskhand.agent.desk import TaskDesk
from deskhand.agent.requested import RequestedActs
from deskhand.etp.base import ToolResult
from deskhand.testing.symbolic_desk import seen_object

OBJECTS = (
    seen_object("cup_1", "red", position=(0.0, 0.1)),
    seen_object("cup_2", "green", position=(-0.05, 0.2)),
    seen_object("block_1", "blue", position=(0.05, -0.05)),
    seen_object("block_2", "red", position=(-0.08, -0.1)),
    seen_object("ball_1", "yellow", position=(0.1, 0.12)),
    seen_object("can_1", "white", position=(-0.1, 0.0)),
    seen_object("pen_1", "black", position=(-0.12, 0.1)),
    seen_object("marker_1", "green", position=(-0.02, -0.14)),
    seen_object("sponge_1", "yellow", position=(0.0, -0.2)),
    seen_object("bin_1", "black"),
    seen_object("tray_1", "white", position=(0.08, -0.28)),
    seen_object("phone_1", "black", position=(0.15, -0.2)),
    seen_object("laptop_1", "gray", position=(0.2, 0.0), scale=3.0),
    seen_object("stapler_1", "black", position=(-0.05, 0.0)),
    seen_object("banana_1", "yellow", position=(0.12, 0.2)),
)


def licensed(case: Mapping[str, Any]) -> bool:
    """Whether the user's words alone let all calls of a case through; ``says``, ``then`` (a word or a list), ``holding``, ``call`` or ``calls``, ``labels``."""
    desk = TaskDesk()
    objects = [{**item, "label": case.get("labels", {}).get(item["id"], item["label"])} for item in OBJECTS]
    desk.world.apply("detect_objects", {}, True, {"objects": objects})
    desk.world.held = str(case.get("holding", ""))
    requested = RequestedActs(str(case["says"]))
    then = case.get("then", ())
    for words in (then,) if isinstance(then, str) else then:
        requested.told(words)
    for call in case.get("calls", (case.get("call"),)):
        name, arguments = next(iter(call.items()))
        if requested.missing(name, arguments or {}, desk):
            return False
        desk.heard(name, arguments or {}, ToolResult("", "", {}))
        desk.world.apply(name, arguments or {}, True, {})
    return True
