"""What a balance shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.balance import Pan
from deskhand.skills.pan import carrying, lying_on, read_pans
from deskhand.tools.looking import look, skill_context
from deskhand.tools.objects import Position, rounded
from deskhand.types import SceneObject

LEVEL = 0.001  # [m] between the pans up to which they count as level: twice what a reading errs by (95 %)


class PanData(TypedDict):
    """One pan."""

    position: Annotated[Position, Field(description="middle of its plate [m, world]")]
    on: Annotated[list[str], Field(description="ids of the objects that lie on it")]


class Reading(TypedDict):
    """Which pan is lower, and by how much."""

    left: Annotated[PanData, Field(description="the pan at the robot's left (greater y)")]
    right: PanData
    lower: Annotated[Literal["left", "right", "level"], Field(description="the side that bears more; level: within 1 mm")]
    difference_mm: Annotated[float, Field(description="by how much the lower pan is below the other [mm], never negative")]
    parts: Annotated[list[str], Field(description="ids under which a look knows pieces of the balance itself: nothing to be picked")]


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    effects="memory",
    needs=("camera",),
    timeout=30.0,
    when_to_use="To read a balance (scales with two pans): which side is heavier, by how many millimetres it hangs lower, what lies on each pan.",
    limits="Knows balances with two square pans of 55 to 130 mm side by side, both front edges in view (move_home first when the arm is over it). Errs by "
    "up to 0.5 mm (95 %); waits 3 s for moving pans, then fails with not_steady; unknown_object when no balance is seen. Tells no grams: the pans' way a gram "
    "depends on the balance.",
    examples=[("Which side of the scales is lower now?", {})],
    failures=[("No balance is on the desk", {}, "unknown_object")],
)
def read_balance(ctx: ToolContext) -> Reading:
    """Read a balance from fresh pictures: which pan is lower, by how much, and what lies on them."""
    balance, steady = read_pans(skill_context(ctx), moves=False)
    if not steady:
        raise DeskhandError("not_steady", "the pans still move.", hint="Wait a second and read again; see that nothing touches them.")
    scene, _ = look(ctx)
    lying = lying_on(skill_context(ctx), scene, balance)
    down = -balance.difference
    lower: Literal["left", "right", "level"] = "level" if abs(down) <= LEVEL else "left" if down > 0 else "right"
    parts = sorted({name for pan in (balance.left, balance.right) for name in carrying(scene, pan)})
    left, right = _pan(balance.left, lying["left"]), _pan(balance.right, lying["right"])
    return Reading(left=left, right=right, lower=lower, difference_mm=round(1000 * abs(down), 2), parts=parts)


def _pan(pan: Pan, lying: Sequence[SceneObject]) -> PanData:
    return PanData(position=rounded([*pan.centre, pan.height]), on=[item.id for item in lying])
