"""Holes in the upper sides of objects, and through which of them a piece goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import inverse, transform_points
from deskhand.perception import holes as seeing
from deskhand.perception import piece_outlines as pieces
from deskhand.perception.boards import boards
from deskhand.perception.desk_view import DeskView
from deskhand.perception.holes import Hole
from deskhand.tools.objects import rounded
from deskhand.tools.viewing import desk_view, owners
from deskhand.types import Scene, SceneObject

NEAR = 0.02  # [m] between a hole that is named and where a look sees it
FITS = 6  # ways that are told


class SeenHole(TypedDict):
    """A hole; world frame."""

    object_id: Annotated[str, Field(description="in whose upper side it is")]
    position: Annotated[list[float], Field(description="[x, y] of its middle [m]")]
    level: Annotated[float, Field(description="height of the upper side [m]")]
    depth: Annotated[float | None, Field(description="of a recess in a thin board [m]; null: a hole")]
    area: Annotated[float, Field(description="[m2]")]
    likely: Annotated[dict[str, float], Field(description="how likely outlines are of it: circle, square, triangle, star, crescent …")]


class FitsHole(TypedDict):
    """A way through a hole, as `insert` takes it."""

    target_id: str
    hole: Annotated[list[float], Field(description="[x, y] of the hole's middle [m, world]")]
    turn: Annotated[float, Field(description="by which the piece has to be turned about the vertical from how it lies [rad]")]
    middle: Annotated[list[float], Field(description="[x, y] of the middle of the piece's upper side as it lies [m, world]")]
    closing: Annotated[list[float], Field(description="for `pick`, so that the fingers do not turn it: directions along which to close [rad], 0 along x")]
    depth: Annotated[float | None, Field(description="of a recess [m]; null: a hole, which it goes through")]
    overlap: Annotated[float, Field(description="how well the piece looks like a prism of the hole's outline, 0 to 1")]


class HolesSeen(TypedDict):
    """What has holes, and the ways of the piece, the best first."""

    holes: list[SeenHole]
    fits: list[FitsHole]


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    needs=("camera",),
    timeout=60.0,
    when_to_use="To find the holes of a shape sorter or another box with a board of holes, the recesses of a plate (a kit), and through or into which of "
    "them a piece goes: before it is picked up and `insert`ed.",
    limits="Holes in level upper sides of objects at least 6 cm wide, seen from above. The piece must stand on the desk: it is judged as an upright "
    "prism, and below about "
    "3 cm a star may pass for a disc. Turns are told to 3 degrees.",
    examples=[("Which hole does the red star belong through?", {"piece_id": "object_1"}), ("Where are the holes of the sorter?", {"piece_id": ""})],
    failures=[("An id that the last look does not have", {"piece_id": "object_99"}, "unknown_object")],
)
def find_holes(
    ctx: ToolContext,
    piece_id: Annotated[str, Field(max_length=60, description="the piece that shall go through a hole; empty: only the holes")] = "",
    hole: Annotated[
        Annotated[list[Annotated[float, Field(ge=-1.5, le=1.5)]], Field(min_length=2, max_length=2)] | None,
        Field(description="[x, y] of the only hole that is meant [m, world]; null: all"),
    ] = None,
) -> HolesSeen:
    """Find holes and recesses in the upper sides of objects (a shape sorter, a kit), and the hole and the turn that fit a piece."""
    scene = ctx.belief.scene
    if scene is None:
        raise DeskhandError("precondition_failed", "nobody has looked at the desk yet.", hint="Call detect_objects first.")
    piece = scene.get(piece_id) if piece_id else None
    view = desk_view(ctx)
    found = [(_under(one, parts), one) for whole, parts in boards(scene.objects) for one in seeing.holes_in(view, whole)]
    if hole is None:
        boxes = {name for name, _ in found if sum(other == name for other, _ in found) > 1}
        found = [(name, one) for name, one in found if name in boxes]
    else:
        found = [(name, one) for name, one in found if float(np.linalg.norm(one.centre - np.asarray(hole))) < NEAR]
    fits = _fits(view, scene, piece, found, ctx.robot.arm.gripper.finger_breadth) if piece is not None and found else []
    return HolesSeen(holes=[_told(name, hole) for name, hole in found], fits=fits)


def _under(hole: Hole, parts: Sequence[SceneObject]) -> str:
    """The id of the part that a hole is in, of several the one whose middle is nearest."""

    def aside(item: SceneObject) -> float:
        local = transform_points(inverse(item.pose), np.array([[*hole.centre, item.position[2]]]))[0]
        return float((np.abs(local[:2]) - np.asarray(item.size[:2], dtype=float) / 2).max())

    return min(parts, key=aside).id


def _fits(view: DeskView, scene: Scene, piece: SceneObject, found: list[tuple[str, Hole]], breadth: float) -> list[FitsHole]:
    number = [item.id for item in scene.objects].index(piece.id)
    parts = pieces.pieces_of(scene.objects, number)
    whole, own = pieces.whole_of(scene.objects, parts), np.isin(owners(view, scene), parts)
    ways = seeing.fits(view.frame, view.points, own, whole, [hole for _, hole in found], breadth)
    return [
        FitsHole(
            target_id=next(name for name, hole in found if hole is way.hole),
            hole=rounded(way.hole.centre),
            turn=round(way.turn, 4),
            middle=rounded(way.middle),
            closing=[round(one, 3) for one in way.closing],
            depth=_depth(way.hole),
            overlap=round(way.overlap, 3),
        )
        for way in ways[:FITS]
    ]


def _told(name: str, hole: Hole) -> SeenHole:
    likely = {outline: round(share, 3) for outline, share in hole.likely}
    return SeenHole(object_id=name, position=rounded(hole.centre), level=round(hole.level, 4), depth=_depth(hole), area=round(hole.area, 6), likely=likely)


def _depth(hole: Hole) -> float | None:
    return None if np.isnan(hole.depth) else round(hole.depth, 4)
