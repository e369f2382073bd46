"""Take rings off pegs and hang them on pegs."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.skills import rings
from deskhand.tools.acting import outcome
from deskhand.tools.looking import skill_context

PegPlace = Annotated[
    list[Annotated[float, Field(ge=-1.5, le=1.5)]], Field(min_length=2, max_length=2, description="[x, y] of the peg [m, world], of find_pegs")
]


class RingTaken(TypedDict):
    """What was measured; more may be given."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    object_id: Annotated[str, Field(description="what the ring is called while it is held")]
    color: str
    width: Annotated[float, Field(description="between the fingers [m]")]


class RingHung(TypedDict):
    """What was measured; more may be given."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    object_id: str
    tried: Annotated[int, Field(description="places over the peg: the first is its axis, others follow where the peg was met")]
    lowered: Annotated[float, Field(description="below the top of the peg before it was let go [m]")]
    height: Annotated[float, Field(description="of its upper side, as the look after it sees it [m]")]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_holding", "not_stopped"),
    postconditions=("holding",),
    timeout=240.0,
    when_to_use="To take the uppermost ring off a peg; find_pegs tells where pegs and rings are. Then hang_ring, or place it anywhere.",
    limits="From straight above, across the outside of the ring, which must be narrower than the fingers open; where the peg stands far out above it, the "
    "hand does not come down to it (no_grasp).",
    examples=[("Take the uppermost ring off the left peg", {"peg": [0.02, -0.085]})],
    failures=[("A place where no peg is", {"peg": [0.3, 0.4]}, "unknown_object")],
)
def take_ring(ctx: ToolContext, peg: PegPlace) -> RingTaken:
    """Take the uppermost ring off a peg: grasp it across its outside, lift it over the peg, and verify by the fingers and a look."""
    return outcome(rings.take_ring(skill_context(ctx), np.asarray(peg)))  # type: ignore[return-value]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To hang the ring that is held on a peg, onto the rings that are there: after take_ring, or after pick of a loose ring.",
    limits="Upright pegs. It is lowered under watch; where it meets the peg, places up to 4 mm off are tried, and where none works it is held still "
    "(place_failed). A look must show it on the peg, in its colour, as high as it should be.",
    examples=[("Hang the held ring on the right peg", {"peg": [-0.01, 0.086]})],
    failures=[("The gripper is empty", {"peg": [0.02, -0.085]}, "precondition_failed")],
)
def hang_ring(ctx: ToolContext, peg: PegPlace) -> RingHung:
    """Hang the held ring on a peg: over it, down under watch, search, let go, and verify by a look."""
    return outcome(rings.hang_ring(skill_context(ctx), np.asarray(peg)))  # type: ignore[return-value]
