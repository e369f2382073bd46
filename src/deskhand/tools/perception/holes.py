"""Holes in the upper sides of objects, and through which of them a piece goes."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception import holes as seeing
from deskhand.perception.desk_view import DeskView
from deskhand.perception.holes import Hole
from deskhand.tools.objects import rounded
from deskhand.tools.viewing import desk_view, owners
from deskhand.types import Scene, SceneObject

BOARD = 0.06  # [m] of the shorter side, from which on an object may be a board of holes: what two holes that fingers can fill need
TOGETHER = 0.02  # [m] between the middles of what are parts of one piece of one colour
FITS = 6  # ways that are told


class SeenHole(TypedDict):
    """A hole; world frame."""

    object_id: Annotated[str, Field(description="in whose upper side it is")]
    position: Annotated[list[float], Field(description="[x, y] of its middle [m]")]
    level: Annotated[float, Field(description="height of the upper side [m]")]
    area: Annotated[float, Field(description="[m2]")]
    likely: Annotated[dict[str, float], Field(description="how likely outlines are of it: circle, square, triangle, star, crescent …")]


class FitsHole(TypedDict):
    """A way through a hole, as `insert` takes it."""

    target_id: str
    hole: Annotated[list[float], Field(description="[x, y] of the hole's middle [m, world]")]
    turn: Annotated[float, Field(description="by which the piece has to be turned about the vertical from how it lies [rad]")]
    middle: Annotated[list[float], Field(description="[x, y] of the middle of the piece's upper side as it lies [m, world]")]
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
    when_to_use="To find the holes of a shape sorter or another box with a board of holes, and through which of them a piece goes: before it is picked up "
    "and `insert`ed.",
    limits="Holes in level upper sides of objects at least 6 cm wide, seen from above. The piece must stand on the desk: it is judged as an upright "
    "prism, and below about "
    "3 cm a star may pass for a disc. Turns are told to 3 degrees.",
    examples=[("Which hole does the red star belong through?", {"piece_id": "object_1"}), ("Where are the holes of the sorter?", {"piece_id": ""})],
    failures=[("An id that the last look does not have", {"piece_id": "object_99"}, "unknown_object")],
)
def find_holes(
    ctx: ToolContext,
    piece_id: Annotated[str, Field(max_length=60, description="the piece that shall go through a hole; empty: only the holes")] = "",
) -> HolesSeen:
    """Find holes in the upper sides of objects (a shape sorter), and the hole and the turn that fit a piece."""
    scene = ctx.belief.scene
    if scene is None:
        raise DeskhandError("precondition_failed", "nobody has looked at the desk yet.", hint="Call detect_objects first.")
    piece = scene.get(piece_id) if piece_id else None
    view = desk_view(ctx)
    boards = [item for item in scene.objects if min(item.size[:2]) >= BOARD and not item.is_container]
    found = [(item.id, hole) for item in boards for hole in seeing.find_holes(view.points.reshape(-1, 3), item)]
    boxes = {name for name, _ in found if sum(other == name for other, _ in found) > 1}
    found = [(name, hole) for name, hole in found if name in boxes]
    fits = _fits(view, scene, piece, found) if piece is not None and found else []
    return HolesSeen(holes=[_told(name, hole) for name, hole in found], fits=fits)


def _fits(view: DeskView, scene: Scene, piece: SceneObject, found: list[tuple[str, Hole]]) -> list[FitsHole]:
    own = owners(view, scene)
    parts = [
        number
        for number, item in enumerate(scene.objects)
        if item.id == piece.id or (item.color == piece.color and float(np.linalg.norm(item.position[:2] - piece.position[:2])) < TOGETHER)
    ]
    holes = [hole for _, hole in found]
    ways = seeing.fits(view.frame, view.points, np.isin(own, parts), piece, holes)
    return [
        FitsHole(
            target_id=next(name for name, hole in found if hole is way.hole),
            hole=rounded(way.hole.centre),
            turn=round(way.turn, 4),
            middle=rounded(way.middle),
            overlap=round(way.overlap, 3),
        )
        for way in ways[:FITS]
    ]


def _told(name: str, hole: Hole) -> SeenHole:
    likely = {outline: round(share, 3) for outline, share in hole.likely}
    return SeenHole(object_id=name, position=rounded(hole.centre), level=round(hole.level, 4), area=round(hole.area, 6), likely=likely)
