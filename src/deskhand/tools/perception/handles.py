"""Handles of drawers, lids and knobs, and open lids."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception import handles as seeing
from deskhand.perception.handles import Handle
from deskhand.perception.lids import find_open_lid
from deskhand.tools.objects import rounded
from deskhand.types import SceneObject


class SeenHandle(TypedDict):
    """A handle; world frame."""

    object_id: Annotated[str, Field(description="what it is on")]
    position: Annotated[list[float], Field(description="[x, y, z] of its middle [m]; say it as `handle` to open_drawer, close_drawer, open_lid, turn_knob")]
    outward: Annotated[list[float], Field(description="unit vector out of the side that it is on: level for a drawer, up for a lid or a knob")]
    along: Annotated[list[float], Field(description="unit vector of its longer way within that side")]
    size: Annotated[list[float], Field(description="[sticking out, longer, thinner way] [m]")]
    side: Annotated[str, Field(description="side or top")]
    off_middle: Annotated[
        float, Field(description="how far it is off the middle of that side, as a share of half the side: a knob about 0, a lid's handle more")
    ]


class SeenLid(TypedDict):
    """A hinged lid that stands open; world frame."""

    object_id: Annotated[str, Field(description="what it is seen as, or on; say it to close_lid")]
    edge: Annotated[list[float], Field(description="[x, y, z] of the middle of its upper edge [m]")]
    away: Annotated[list[float], Field(description="unit vector, level: from the box to the side that it leans to")]
    lean_deg: Annotated[float, Field(description="beyond upright [degrees]")]


class HandlesSeen(TypedDict):
    """Of each object the uppermost first."""

    handles: list[SeenHandle]
    open_lids: list[SeenLid]


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    needs=("camera",),
    when_to_use="To find what a drawer, a hinged lid or a knob is moved by, before open_drawer, close_drawer, open_lid or turn_knob; how many drawers "
    "a cabinet has; and which lids stand open.",
    limits="What sticks out 10 to 75 mm of a flat side at least 45 mm wide that is seen, no thicker than 35 mm. An object that lies on a box may pass for the "
    "handle of a lid. What is behind an object is not seen.",
    examples=[("Which handles does the cabinet have?", {"object_id": "object_7"}), ("Is there a drawer on the desk?", {"object_id": ""})],
    failures=[("An id that the last look does not have", {"object_id": "object_99"}, "unknown_object")],
)
def find_handles(
    ctx: ToolContext,
    object_id: Annotated[str, Field(max_length=60, description="on which object; empty: on any")] = "",
) -> HandlesSeen:
    """Find the handles of drawers, lids and knobs, and lids that stand open, on objects that the last look saw."""
    scene = ctx.belief.scene
    if scene is None:
        raise DeskhandError("precondition_failed", "nobody has looked at the desk yet.", hint="Call detect_objects first.")
    items = [scene.get(object_id)] if object_id else list(scene.objects)
    found = [handle for item in items for handle in seeing.handles_in(scene, item)]
    floor = float(scene.table.pose[2, 3])
    lids = [(item, find_open_lid(scene.cloud, item, floor)) for item in items]
    return HandlesSeen(
        open_lids=[
            SeenLid(object_id=item.id, edge=rounded(lid.edge), away=rounded(lid.away), lean_deg=round(float(np.degrees(lid.lean)), 1))
            for item, lid in lids
            if lid is not None
        ],
        handles=[
            SeenHandle(
                object_id=handle.object_id,
                position=rounded(handle.centre),
                outward=rounded(handle.outward),
                along=rounded(handle.along),
                size=rounded(handle.size),
                side="top" if handle.on_top else "side",
                off_middle=round(_off_middle(scene.get(handle.object_id), handle), 2),
            )
            for handle in found
        ],
    )


def _off_middle(item: SceneObject, handle: Handle) -> float:
    """The larger share over both ways within the side."""
    off = np.abs(item.pose[:3, :3].T @ (handle.centre - item.position))
    within = np.abs(item.pose[:3, :3].T @ handle.outward) < 0.5
    return float((off / (np.asarray(item.size, dtype=float) / 2))[within].max())
