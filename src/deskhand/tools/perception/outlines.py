"""Shapes of outlines."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.outline_match import Match, match_outline
from deskhand.perception.outline_shapes import Outline, classify
from deskhand.perception.upper_side import PIXEL, upper_side
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.pictures import stored_picture
from deskhand.tools.viewing import desk_view, owners

SURE = 0.5
"""Likelihood of an outline from which on it is told instead of a doubtful one."""
DOUBTFUL = ("other", "circle", "hexagon", "pentagon", "polygon")
"""Kinds of an upper side that a few pixels at its edge make of each other."""


class OutlineData(TypedDict):
    """One outline."""

    object_id: Annotated[str, Field(description="empty for a given mask")]
    kind: Annotated[
        str,
        Field(
            description="circle, ellipse, triangle, square, rectangle, parallelogram, trapezium, quadrilateral, pentagon, hexagon, octagon, polygon, "
            "cross, star, "
            "l_shape, t_shape, u_shape, heart, crescent, other; unseen: too little is seen"
        ),
    ]
    hole: Annotated[bool, Field(description="it is seen through, as a ring is")]
    corners: int
    sides: Annotated[list[float], Field(description="of its smallest box, longer first: [m], for a given mask [px]")]
    filled: Annotated[float, Field(description="share of its convex hull that it fills")]
    likely: Annotated[
        dict[str, float],
        Field(
            description="how likely each outline is of an upright prism, by its upper side and its silhouette together: circle, ellipse, square, rectangle, "
            "triangle, pentagon, hexagon, star, plus, heart, crescent, l_shape, t_shape, u_shape; empty for no prism, or a given mask"
        ),
    ]


class Outlines(TypedDict):
    """All outlines."""

    outlines: list[OutlineData]


@tool(
    group="perception",
    unit="detection",
    needs=("camera",),
    timeout=30.0,
    when_to_use="To sort pieces by the geometry of their silhouette from above, star, cross, ring, triangle, hexagon and so on, as for shape sorters "
    "and puzzles.",
    limits="Judges the upper side of each object as seen from straight above; sides hidden by others make it other or wrong. Below about "
    "4 cm a hexagon and a disc look alike. A given mask is taken as seen straight on.",
    examples=[
        ("Which of the pieces are stars and which are hexagons?", {}),
        ("What shape has this mask?", {"mask": "deskhand://m"}),
    ],
    failures=[("The mask is no longer kept", {"mask": "deskhand://gone"}, "unknown_resource")],
)
def detect_outlines(
    ctx: ToolContext,
    object_ids: Annotated[list[ObjectId] | None, Field(max_length=60, description="which objects of the last look; null: all")] = None,
    mask: Annotated[str, Field(max_length=200, description="uri of a mask instead, white where it holds; empty: objects")] = "",
) -> Outlines:
    """Detect the outline class of objects seen from above: circle, square, star, cross, ring and so on, with corners and sides."""
    if mask:
        found = classify(stored_picture(ctx.resources, mask)[..., 0] > 127)
        return Outlines(outlines=[_data("", found, 1.0)])
    scene = ctx.belief.scene
    if scene is None:
        raise DeskhandError("precondition_failed", "nobody has looked at the desk yet.", hint="Call detect_objects first, or give a mask.")
    chosen = list(scene.objects) if object_ids is None else [scene.get(name) for name in object_ids]
    view = desk_view(ctx)
    own = owners(view, scene)
    places = {item.id: number for number, item in enumerate(scene.objects)}
    told = []
    for item in chosen:
        mask_of = own == places[item.id]
        match = match_outline(view.frame, view.points, mask_of, item.top, bottom=item.bottom) if not item.is_container else None
        told.append(_data(item.id, classify(upper_side(view.frame, view.points, mask_of, view.valid)), PIXEL, match))
    return Outlines(outlines=told)


def _data(name: str, found: Outline | None, scale: float, match: Match | None = None) -> OutlineData:
    likely = {outline: round(share, 3) for outline, share in match.likely} if match is not None else {}
    if found is None:
        return OutlineData(object_id=name, kind="unseen", hole=False, corners=0, sides=[0.0, 0.0], filled=0.0, likely=likely)
    sides, kind = rounded(np.array(found.sides) * scale), found.kind
    if match is not None and kind in DOUBTFUL and match.likely and match.likely[0][1] >= SURE:  # the whole body says more than its upper side, which frays
        kind = {"plus": "cross"}.get(match.likely[0][0], match.likely[0][0])
    return OutlineData(object_id=name, kind=kind, hole=found.hole, corners=len(found.corners), sides=sides, filled=round(found.filled, 3), likely=likely)
