"""Objects onto the pans of a balance."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from deskhand.etp.tool import ToolContext, tool
from deskhand.skills import pan as pans
from deskhand.tools.acting import outcome, remember_placed
from deskhand.tools.execution.picking import Placed
from deskhand.tools.looking import skill_context


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To lay the held object on a pan of a balance (scales), in order to weigh it or to level the pans; pick it first, read_balance afterwards.",
    limits="The pan gives way under it. Two small objects find room on a pan of 84 mm. Fails with unknown_object when no balance is seen, "
    "no_free_space when the pan is full, place_failed when it lies elsewhere.",
    examples=[("Put what you hold on the left side of the scales", {"side": "left"})],
    failures=[("The gripper is empty", {"side": "right"}, "precondition_failed")],
)
def place_on_pan(
    ctx: ToolContext, side: Annotated[Literal["left", "right"], Field(description="of the balance, as the robot sees it: left has the greater y")]
) -> Placed:
    """Lay the held object on the left or right pan of a balance, beside what lies there, and verify by a look that it lies on it."""
    held = ctx.belief.held
    data = outcome(pans.place_on_pan(skill_context(ctx), side))
    if held is not None:
        remember_placed(ctx, held.object.id, float(held.object.size[2]), "on", f"the {side} pan", data)
    return data  # type: ignore[return-value]
