"""Shapes of outlines."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.outline_shapes import Outline, classify
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.pictures import Mask, stored_picture
from deskhand.tools.viewing import DeskView, desk_view, owners
from deskhand.types import SceneObject

PIXEL = 0.001  # [m] of the view from above
TOP = 0.008  # [m] below its highest level surface that belong to it
BESIDE = 0.003  # [m] from where the picture shows a point of the upper side that it may lie
MARGIN = 6  # pixels around it


class OutlineData(TypedDict):
    """One outline."""

    object_id: Annotated[str, Field(description="empty for a given mask")]
    kind: Annotated[
        str,
        Field(
            description="circle, ellipse, triangle, square, rectangle, parallelogram, trapezium, quadrilateral, pentagon, hexagon, octagon, polygon, "
            "cross, star, "
            "l_shape, t_shape, u_shape, other; unseen: too little is seen"
        ),
    ]
    hole: Annotated[bool, Field(description="it is seen through, as a ring is")]
    corners: int
    sides: Annotated[list[float], Field(description="of its smallest box, longer first: [m], for a given mask [px]")]
    filled: Annotated[float, Field(description="share of its convex hull that it fills")]


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
    return Outlines(outlines=[_data(item.id, classify(_from_above(view, own == places[item.id], item)), PIXEL) for item in chosen])


def _data(name: str, found: Outline | None, scale: float) -> OutlineData:
    if found is None:
        return OutlineData(object_id=name, kind="unseen", hole=False, corners=0, sides=[0.0, 0.0], filled=0.0)
    sides = rounded(np.array(found.sides) * scale)
    return OutlineData(object_id=name, kind=found.kind, hole=found.hole, corners=len(found.corners), sides=sides, filled=round(found.filled, 3))


def _from_above(view: DeskView, own: Mask, item: SceneObject) -> Mask:
    """The object's upper side as a camera straight above would see it, ``PIXEL`` a pixel: each pixel of the plan is looked up in the picture."""
    points = view.points[own & view.valid]
    if len(points) < 20:
        return np.zeros((1, 1), bool)
    top = float(np.quantile(points[:, 2], 0.9))
    upper = points[points[:, 2] > top - TOP]
    low = upper[:, :2].min(axis=0) - MARGIN * PIXEL
    shape = tuple(np.ceil((upper[:, :2].max(axis=0) - low) / PIXEL).astype(int) + MARGIN)
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    plan = np.column_stack([(np.stack([rows.ravel(), columns.ravel()], axis=1) + 0.5) * PIXEL + low, np.full(rows.size, top)])
    pixels = np.round(view.frame.project(plan))
    inside = np.isfinite(pixels).all(axis=1) & (pixels >= 0).all(axis=1) & (pixels[:, 0] < own.shape[1]) & (pixels[:, 1] < own.shape[0])
    u, v = pixels[inside].astype(int).T
    off = np.linalg.norm(view.points[v, u][:, :2] - plan[inside, :2], axis=1)  # walls below the edge are seen there, but lie elsewhere
    result = np.zeros(rows.size, bool)
    result[inside] = own[v, u] & (np.abs(view.points[v, u][:, 2] - top) < TOP) & (off < BESIDE)
    return result.reshape(shape)
