"""Seeing what is on the desk."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectData, objects_data


class Look(TypedDict):
    """What one look gave."""

    objects: Annotated[list[ObjectData], Field(description="everything seen on the desk; containers last")]
    stamp: Annotated[float, Field(description="ROS time of the look [s]")]
    note: Annotated[str, Field(description="why the look may be incomplete, else empty")]


@tool(
    group="perception",
    unit="detection",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=30.0,
    when_to_use="At the start, to see what objects are on the desk right now; after anything may have moved, and when an object id is unknown or an action "
    "failed: it takes a new picture and gives the ids that all other tools take.",
    limits="Sees only what the camera sees: objects behind others, under the arm or deep in a container may be missing. Labels and sizes are estimates. "
    "Nothing moves.",
    examples=[("Find out what objects are on the desk right now", {}), ("Refresh the picture after a failed grasp", {})],
    failures=[("The camera does not see the table", {}, "no_table")],
)
def detect_objects(ctx: ToolContext) -> Look:
    """Take a new picture of the desk and detect every object and container on it, with id, kind, colour, size and position."""
    ctx.progress(0.1, "looking at the desk")
    scene, note = look(ctx)
    return Look(objects=objects_data(scene, ctx.belief.hidden, ctx.robot.arm), stamp=float(scene.stamp), note=note)
