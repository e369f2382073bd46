"""A desk as the loop knows it after one look, and whether a motion is licensed there: the guard alone, without a model and without a robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deskhand.agent.desk import TaskDesk
from deskhand.agent.requested import RequestedActs
from deskhand.etp.base import ToolResult
from deskhand.testing.symbolic_desk import seen_object as thing

THINGS = (
    thing("cup_1", "red", position=(0.0, 0.1)), thing("cup_2", "green", position=(-0.05, 0.2)), thing("block_1", "blue", position=(0.05, -0.05)),
    thing("block_2", "red", position=(-0.08, -0.1)), thing("ball_1", "yellow", position=(0.1, 0.12)), thing("can_1", "white", position=(-0.1, 0.0)),
    thing("pen_1", "black", position=(-0.12, 0.1)), thing("marker_1", "green", position=(-0.02, -0.14)), thing("sponge_1", "yellow", position=(0.0, -0.2)),
    thing("bin_1", "black"), thing("tray_1", "white", position=(0.08, -0.28)), thing("phone_1", "black", position=(0.15, -0.2)),
    thing("laptop_1", "gray", position=(0.2, 0.0), scale=3.0), thing("stapler_1", "black", position=(-0.05, 0.0)),
    thing("banana_1", "yellow", position=(0.12, 0.2)),
)  # fmt: skip


def licensed(case: Mapping[str, Any]) -> bool:
    """Whether the user's words alone let all calls of a case through; ``says``, ``then`` (a word or a list), ``holding``, ``call`` or ``calls``, ``labels``."""
    desk = TaskDesk()
    things = [{**item, "label": case.get("labels", {}).get(item["id"], item["label"])} for item in THINGS]
    desk.world.apply("detect_objects", {}, True, {"objects": things})
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
