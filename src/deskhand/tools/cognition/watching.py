"""Keeping an eye on objects in the background."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId, rounded
from deskhand.types import Scene, SceneObject

MISSED = 2  # looks in a row that do not show an object until it counts as out of view


class TargetEvent(TypedDict):
    """What became of a target."""

    kind: Annotated[Literal["moved", "left_view", "back_in_view", "picked_up", "put_down"], Field(description="what happened")]
    object_id: str
    time: Annotated[float, Field(description="ROS time of the look that showed it [s]")]
    position: Annotated[list[float] | None, Field(description="where it is now [x, y, z] in world [m]; null when it is not seen")]
    distance: Annotated[float, Field(description="from where it was last told to be [m]")]


class WatchSummary(TypedDict):
    """The last word of the watch."""

    looks: int
    events: int


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    mode="event",
    event=TargetEvent,
    needs=("camera",),
    preconditions=("scene_known",),
    when_to_use="To be told in the background when a target moves, is picked up or put down, leaves the view or comes back, while other tools run.",
    limits="Looks every interval, so that what happens between two looks is missed; the arm before the camera hides objects too. Costs a look "
    "of processor time each time: stop it with stop_watch.",
    examples=[
        ("Warn me when the target has moved or is no longer in view", {"object_ids": ["block_1"]}),
        ("Monitor two objects four times a second", {"object_ids": ["cup_1", "can_1"], "interval": 0.25, "moved": 0.02}),
    ],
    failures=[("The object is not on the desk", {"object_ids": ["ghost_9"]}, "unknown_object")],
)
def watch_target(
    ctx: ToolContext,
    object_ids: Annotated[list[ObjectId], Field(min_length=1, max_length=20, description="ids of the targets, as the last look gave them")],
    interval: Annotated[float, Field(ge=0.1, le=60, description="[s] of ROS time between looks")] = 0.5,
    moved: Annotated[float, Field(ge=0.005, le=1, description="[m] that count as having moved")] = 0.015,
) -> WatchSummary:
    """Watch targets in the background and publish an event when one moves, is picked up, is put down, leaves the view or returns."""
    scene = last_look(ctx)
    at = {name: scene.get(name).position.copy() for name in object_ids}
    missed = dict.fromkeys(object_ids, 0)
    held = {name: scene.get(name).relation == "held" for name in object_ids}
    looks = events = 0
    while not ctx.cancelled():
        ctx.robot.sleep(interval)
        try:
            scene = ctx.robot.detect_objects()
        except DeskhandError as error:
            if not error.retry:
                raise
            ctx.log("warning", f"a look failed: {error}")
            continue
        looks += 1
        for name in object_ids:
            event = _noticed(scene, name, at, missed, held, moved)
            if event is not None and not ctx.cancelled():
                ctx.publish(event)
                events += 1
    return WatchSummary(looks=looks, events=events)


def _noticed(scene: Scene, name: str, at: dict[str, Array], missed: dict[str, int], held: dict[str, bool], moved: float) -> TargetEvent | None:
    """What a look shows of a target that was not so before; brings the records up to date."""
    item: SceneObject | None = next((other for other in scene.objects if other.id == name), None)
    if item is None:
        missed[name] += 1
        return TargetEvent(kind="left_view", object_id=name, time=scene.stamp, position=None, distance=0.0) if missed[name] == MISSED else None
    away = float(np.linalg.norm(item.position - at[name]))
    was_gone, missed[name] = missed[name] >= MISSED, 0
    was_held, held[name] = held[name], item.relation == "held"
    kind: Literal["moved", "left_view", "back_in_view", "picked_up", "put_down"]
    if held[name] != was_held:
        kind = "picked_up" if held[name] else "put_down"
    elif was_gone:
        kind = "back_in_view"
    elif away > moved:
        kind = "moved"
    else:
        return None
    at[name] = item.position.copy()
    return TargetEvent(kind=kind, object_id=name, time=scene.stamp, position=rounded(item.position), distance=round(away, 4))
