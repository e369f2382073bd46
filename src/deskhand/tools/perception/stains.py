"""Stains and painted areas of the table."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.perception import stains as seeing
from deskhand.perception.color import name_color
from deskhand.perception.stains import Stain
from deskhand.tools.objects import rounded
from deskhand.tools.viewing import desk_view

RIM = 0.015  # [m] from the table's edge, where its side is seen


class SeenStain(TypedDict):
    """An area of the table in another colour; world frame."""

    color: str
    rgb: Annotated[list[int], Field(description="its median colour, 0 to 255")]
    position: Annotated[list[float], Field(description="[x, y] of the middle of the smallest rectangle around it [m]")]
    length: Annotated[float, Field(description="of its long side [m]")]
    width: Annotated[float, Field(description="of its short side [m]")]
    yaw: Annotated[float, Field(description="of its long side from x [rad]")]
    direction: Annotated[str, Field(description="left-right, front-back or askew; empty where it is about as long as wide")]
    area: Annotated[float, Field(description="[m2]")]
    outline: Annotated[list[list[float]], Field(description="polygon [x, y] around it [m]")]
    box: Annotated[list[float], Field(description="[x, y, length along x, width along y] of the rectangle that wipe takes to cover it [m]")]


class StainsSeen(TypedDict):
    """What is on the table, largest first."""

    stains: list[SeenStain]


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    needs=("camera",),
    timeout=30.0,
    when_to_use="To find stains, spills, dirt, marks or painted areas on the table, which have no height and are no objects: before wiping, where to wipe; "
    "after it, whether they are gone.",
    limits="Where the table has another colour than around. What objects or the arm hide is not seen. A grey stain as dark as the shadows of that desk is "
    "taken for a shadow; on a table with a strong pattern only colours that differ more than its own are found.",
    examples=[("Which areas of the table are dirty?", {})],
    failures=[("The camera does not see the table", {}, "no_table")],
)
def find_stains(ctx: ToolContext) -> StainsSeen:
    """Find stains and painted areas of the table: colour, place, size and direction of each."""
    view = desk_view(ctx)
    scene = ctx.belief.scene
    found = seeing.find_stains(view)
    if scene is not None:
        middle, half = scene.table.pose[:2, 3], np.asarray(scene.table.size) / 2 - RIM
        found = [stain for stain in found if np.all(np.abs(np.asarray(stain.centre) - middle) < half)]
    return StainsSeen(stains=[_told(stain) for stain in found])


def _told(stain: Stain) -> SeenStain:
    low, high = stain.outline.min(axis=0), stain.outline.max(axis=0)
    return SeenStain(
        color=name_color(np.asarray(stain.rgb, dtype=float)),
        rgb=list(stain.rgb),
        position=rounded(stain.centre),
        length=round(stain.length, 4),
        width=round(stain.width, 4),
        yaw=round(stain.yaw, 4),
        direction=stain.direction,
        area=round(stain.area, 6),
        outline=[rounded(point) for point in stain.outline],
        box=rounded([*((low + high) / 2), *(high - low)]),
    )
