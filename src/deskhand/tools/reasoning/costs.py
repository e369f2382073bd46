"""What a chain of calls will take, by what calls of these tools took before."""

from __future__ import annotations

import difflib
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool


class CallCost(TypedDict):
    """What one call of the chain takes."""

    tool: str
    seconds: Annotated[float | None, Field(description="median of its calls until now [s]; null: it was never called")]
    at_most: Annotated[float, Field(description="95 of 100 calls took less [s]; its time limit where it was never called")]
    success: Annotated[float | None, Field(description="probability by the rule of succession, (k + 1) / (n + 2) of n calls; null: never called")]
    calls: Annotated[int, Field(description="calls that this is known from")]
    moves: Annotated[bool, Field(description="it may move something")]


class ChainCost(TypedDict):
    """What the chain takes, one call after the other."""

    seconds: Annotated[float, Field(description="of all that were measured together [s]")]
    at_most: Annotated[float, Field(description="the same of at_most [s]")]
    success: Annotated[float, Field(description="probability that all that were measured succeed; failures taken to be independent")]
    motions: Annotated[int, Field(description="calls that may move something")]
    unmeasured: Annotated[list[str], Field(description="tools that were never called: neither in seconds nor in success")]
    calls: list[CallCost]


@tool(
    group="reasoning",
    unit="motion_planning",
    in_process="It reads what the calls of this session have taken.",
    timeout=10.0,
    when_to_use="Before a long chain of calls, or to choose between two: how long will it take, how likely is it to fail, and at which call?",
    limits="Knows tools, not arguments: a far object takes no longer here than a near one. Says nothing of a tool that was never called on this robot.",
    examples=[
        ("How long will looking, picking and putting into the bin take, and how risky is it?", {"calls": ["detect_objects", "pick", "place_in"]}),
        ("Which is quicker, a push or a pick and place?", {"calls": ["push"]}),
    ],
    failures=[("A tool that there is not", {"calls": ["fly_away"]}, "unknown_tool")],
)
def estimate_cost(
    ctx: ToolContext, calls: Annotated[list[str], Field(min_length=1, max_length=50, description="names of tools, in the order in which they will be called")]
) -> ChainCost:
    """Estimate time and risk of a chain of calls by how long each tool took and how often it succeeded on this robot."""
    cards = {card.name: card for card in ctx.cards()}
    costs = []
    for name in calls:
        if name not in cards:
            near = ", ".join(difflib.get_close_matches(name, cards, n=3)) or "none is like it"
            raise DeskhandError("unknown_tool", f"there is no tool {name!r}; nearest: {near}.")
        known, card = ctx.measured(name), cards[name]
        tried = known.calls if known.success_rate is not None else 0
        success = None if known.success_rate is None else round((known.success_rate * tried + 1) / (tried + 2), 4)
        most = card.timeout if known.latency_p95 is None else known.latency_p95
        costs.append(CallCost(tool=name, seconds=known.latency_median, at_most=most, success=success, calls=tried, moves=card.effects == "motion"))
    likely = 1.0
    for cost in costs:
        likely *= 1.0 if cost["success"] is None else cost["success"]
    return ChainCost(
        seconds=round(sum(cost["seconds"] or 0.0 for cost in costs), 3),
        at_most=round(sum(cost["at_most"] for cost in costs), 3),
        success=round(likely, 4),
        motions=sum(cost["moves"] for cost in costs),
        unmeasured=list(dict.fromkeys(cost["tool"] for cost in costs if cost["seconds"] is None)),
        calls=costs,
    )
