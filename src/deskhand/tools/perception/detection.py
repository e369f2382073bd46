"""Seeing what is on the desk."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.arms.config import ArmConfig
from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectData, objects_data
from deskhand.types import Table


class DeskData(TypedDict):
    """The part of the desk that is seen, and how much of it the arm reaches; world frame [m]."""

    x: Annotated[list[float], Field(description="the desk reaches from, to (away from the robot)")]
    y: Annotated[list[float], Field(description="from, to (to the robot's left)")]
    base: Annotated[list[float], Field(description="(x, y) of the arm's base")]
    reach: Annotated[list[float], Field(description="least and greatest distance from the base at which objects are grasped and put down from above")]


class Look(TypedDict):
    """What one look gave."""

    objects: Annotated[list[ObjectData], Field(description="everything seen on the desk; containers last")]
    stamp: Annotated[float, Field(description="ROS time of the look [s]")]
    note: Annotated[str, Field(description="why the look may be incomplete, else empty")]
    desk: DeskData


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
    desk = _desk(scene.table, ctx.robot.arm)
    return Look(objects=objects_data(scene, ctx.belief.hidden, ctx.robot.arm), stamp=float(scene.stamp), note=note, desk=desk)


def _desk(table: Table, arm: ArmConfig) -> DeskData:
    """The seen table's outline along the world's axes, and the arm's reach."""
    across = np.abs(table.pose[:2, :2]) @ np.asarray(table.size) / 2
    low, high = table.pose[:2, 3] - across, table.pose[:2, 3] + across
    sides = [[round(float(low[axis]), 3), round(float(high[axis]), 3)] for axis in (0, 1)]
    base = [round(float(value), 3) for value in arm.world_T_base[:2, 3]]
    return DeskData(x=sides[0], y=sides[1], base=base, reach=[round(float(value), 3) for value in arm.work_radius])
