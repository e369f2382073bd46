"""What to weigh next."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.planning.weighing import Weighing, next_weighing

Names = Annotated[list[str], Field(max_length=24)]


class Weighed(TypedDict):
    """One weighing that was made."""

    left: Names
    right: Names
    lower: Annotated[Literal["left", "right", "level"], Field(description="as read_balance says")]


class NextWeighing(TypedDict):
    """What to do next, or what is known."""

    left: Annotated[list[str], Field(description="ids for the left pan; empty when the odd one is found")]
    right: list[str]
    found: Annotated[str, Field(description="id of the odd one; empty while it is not known")]
    differs: Annotated[str, Field(description="heavier or lighter, of the one that is found; empty while it is not known")]
    candidates: Annotated[list[str], Field(description="ids that may still be the odd one")]


@tool(
    group="reasoning",
    unit="optimisation_under_constraints",
    timeout=20.0,
    when_to_use="To find by a balance the one object among look-alikes that is heavier or lighter, in as few weighings as can be: call it before the first and "
    "after every weighing, with all that were made.",
    limits="Exactly one object differs. Says what to put on the pans and moves nothing. Fails with invalid_input when the weighings contradict each other.",
    examples=[
        ("Which of these five should I weigh first?", {"candidates": ["block_1", "block_2", "block_3", "block_4", "block_5"]}),
        (
            "One pan was lower: and now?",
            {"candidates": ["block_1", "block_2", "block_3"], "weighings": [{"left": ["block_1"], "right": ["block_2"], "lower": "left"}]},
        ),
    ],
    failures=[("Only one candidate is named", {"candidates": ["block_1"]}, "invalid_arguments")],
)
def plan_weighings(
    ctx: ToolContext,
    candidates: Annotated[list[str], Field(min_length=2, max_length=24, description="ids of all objects of which one differs")],
    weighings: Annotated[list[Weighed], Field(max_length=24, description="those that were made, in any order")] = [],  # noqa: B006
    differs: Annotated[Literal["heavier", "lighter", "unknown"], Field(description="what the odd one is")] = "unknown",
    per_pan: Annotated[int, Field(ge=1, le=12, description="how many find room on a pan")] = 2,
) -> NextWeighing:
    """Say which candidates to lay on which pan next, so that the odd one is found soonest; or which it is."""
    past = [Weighing(tuple(one["left"]), tuple(one["right"]), one["lower"]) for one in weighings]
    advice = next_weighing(candidates, "" if differs == "unknown" else differs, past, per_pan)
    name, way = advice.found or ("", "")
    return NextWeighing(
        left=list(advice.left), right=list(advice.right), found=name, differs=way, candidates=list(dict.fromkeys(name for name, _ in advice.left_over))
    )
