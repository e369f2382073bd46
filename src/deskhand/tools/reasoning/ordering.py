"""The order in which piles are moved. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.planning.moving_stacks import order_of_moves

Name = Annotated[str, Field(min_length=1, max_length=64)]
Piles = Annotated[dict[Name, Annotated[list[Name], Field(max_length=12)]], Field(min_length=1, max_length=8)]


class MoveData(TypedDict):
    """One move from the top of a pile to the top of another."""

    item: str
    origin: str
    target: str


class MoveOrder(TypedDict):
    """The fewest moves."""

    moves: list[MoveData]


@tool(
    group="reasoning",
    unit="optimisation_under_constraints",
    timeout=60.0,
    when_to_use="To get piles from one arrangement into another when only what lies on top can be taken and not everything may lie on everything: which single "
    "transfers, in which sequence, over which spare place?",
    limits="Only plans, with the fewest moves; places are points without size. Up to 8 places and about 12 items; what may lie on what goes by size or pairs.",
    examples=[
        (
            "Move a pile of three discs to the right place, a larger one never on a smaller one",
            {
                "start": {"left": ["big", "middle", "small"], "spare": [], "right": []},
                "goal": {"right": ["big", "middle", "small"]},
                "sizes": {"big": 3, "middle": 2, "small": 1},
                "rule": "not_larger",
            },
        )
    ],
    failures=[("Start and goal hold other items", {"start": {"a": ["x"]}, "goal": {"a": ["y"]}}, "invalid_input")],
)
def order_moves(
    ctx: ToolContext,
    start: Annotated[Piles, Field(description="place -> its items from the bottom up; empty places too")],
    goal: Annotated[Piles, Field(description="the same as it shall be; places that are left out shall be empty")],
    rule: Annotated[
        Literal["any", "not_larger", "smaller"], Field(description="what may lie on what: anything, nothing larger, only smaller objects; by sizes")
    ] = "any",
    sizes: Annotated[
        dict[Name, Annotated[float, Field(gt=0)]] | None, Field(description="size of every item in one unit, for example widths [m]; null: rule any")
    ] = None,
    forbidden: Annotated[
        list[Annotated[list[Name], Field(min_length=2, max_length=2)]] | None,
        Field(max_length=200, description="[upper, lower] pairs that may not be; null: none"),
    ] = None,
    room: Annotated[
        dict[Name, Annotated[int, Field(ge=0, le=12)]] | None, Field(description="place -> how many items it takes at most; null: any number")
    ] = None,
) -> MoveOrder:
    """Find the fewest moves from piles to piles when only the top can be taken and rules say what may lie on what."""
    items = [item for pile in start.values() for item in pile]
    if rule != "any" and (missing := [item for item in items if item not in (sizes or {})]):
        raise DeskhandError("invalid_input", f"order_moves: the rule {rule} needs the sizes of {', '.join(missing)}.")
    pairs = {(upper, lower) for upper, lower in forbidden or ()}

    def may_lie(upper: str, lower: str) -> bool:
        if (upper, lower) in pairs:
            return False
        if rule == "any" or sizes is None:
            return True
        return sizes[upper] < sizes[lower] if rule == "smaller" else sizes[upper] <= sizes[lower]

    moves = order_of_moves(start, goal, may_lie, room or {})
    return MoveOrder(moves=[MoveData(item=move.item, origin=move.origin, target=move.target) for move in moves])
