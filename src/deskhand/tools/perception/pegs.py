"""Pegs of stands, and the rings on them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.pegs import Peg, find_peg_stands
from deskhand.perception.ranks import row_ranks
from deskhand.tools.objects import rounded
from deskhand.tools.viewing import desk_view


class SeenRing(TypedDict):
    """A ring on a peg."""

    color: str
    diameter: Annotated[float, Field(description="outer [m]")]
    top: Annotated[float, Field(description="height of its upper side [m]")]


class SeenPeg(TypedDict):
    """A peg; world frame."""

    position: Annotated[list[float], Field(description="[x, y] of its axis [m]; say it as `peg` to take_ring and hang_ring")]
    top: Annotated[float, Field(description="its height [m]")]
    rank: Annotated[str, Field(description="among the pegs of its stand by lightness: lightest, middle, darkest; empty where that is not seen")]
    rings: Annotated[list[SeenRing], Field(description="the lowest first")]


class SeenStand(TypedDict):
    """A stand; its pegs in their row."""

    level: Annotated[float, Field(description="height of its board [m]")]
    pegs: list[SeenPeg]


class PegsSeen(TypedDict):
    """Stands with pegs."""

    stands: list[SeenStand]


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    needs=("camera",),
    timeout=30.0,
    when_to_use="To find the pegs of a stand and which rings are on each, as of a tower of Hanoi or a ring toss: before take_ring and hang_ring.",
    limits="Upright pegs up to 14 mm thick on a level board at least 5 x 8 cm; rings are told apart by their colours, which must not be the board's. What "
    "hangs in the gripper is seen as well: ask with the hand empty.",
    examples=[("Which ring is on which peg?", {})],
    failures=[("An argument that it does not have", {"stand_id": "object_1"}, "invalid_arguments")],
)
def find_pegs(ctx: ToolContext) -> PegsSeen:
    """Find pegs that stand upright on a board, and the rings about them: places, heights, colours."""
    stands = find_peg_stands(desk_view(ctx))
    return PegsSeen(stands=[SeenStand(level=round(one.level, 4), pegs=_told(one.pegs)) for one in stands])


def _told(pegs: tuple[Peg, ...]) -> list[SeenPeg]:
    return [
        SeenPeg(
            position=rounded(peg.position),
            top=round(peg.top, 4),
            rank=rank,
            rings=[SeenRing(color=ring.color, diameter=round(ring.diameter, 4), top=round(ring.top, 4)) for ring in peg.rings],
        )
        for peg, rank in zip(pegs, row_ranks([one.lightness for one in pegs]), strict=True)
    ]
