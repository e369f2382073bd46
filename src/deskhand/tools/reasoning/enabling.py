"""Which tools bring about a state."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.predicates import PREDICATES, PreconditionFailed, unmet
from deskhand.etp.serving import ways_to
from deskhand.etp.tool import ToolContext, tool

State = Literal["holding", "not_holding", "scene_known", "view_fresh", "at_home"]
MOST = 12


class EnablingTool(TypedDict):
    """A tool that brings the state about."""

    tool: str
    does: str
    first: Annotated[list[str], Field(description="tools to call before it, in this order, so that its preconditions hold; empty: it can be called now")]
    missing: Annotated[list[str], Field(description="preconditions that no tool can make true now, such as a latched safety stop; empty: nothing")]


class Enabling(TypedDict):
    """Which tools bring a state about."""

    holds: Annotated[bool, Field(description="it is so already, as far as the robot knows")]
    why_not: Annotated[str, Field(description="empty when it holds")]
    tools: Annotated[list[EnablingTool], Field(description="those that can be called at once first, then those that move least; 12 at most")]


@tool(
    group="reasoning",
    unit="task_and_motion_knowledge",
    in_process="It reads the cards of this session, and tries what they need on what is believed.",
    timeout=10.0,
    when_to_use="To learn which tool makes a precondition true that is lacking, and what must be called before that one: what can I do so that the "
    "gripper is empty?",
    limits="Reads the cards of the tools: what each needs and gives. Says nothing of whether the arm reaches, or whether a plan is wise.",
    examples=[
        ("Which tools get an object into the gripper, and what has to come before?", {"state": "holding"}),
        ("A call was refused with not_holding: what empties the gripper?", {"state": "not_holding"}),
    ],
    failures=[("A state that no card speaks of", {"state": "happy"}, "invalid_arguments")],
)
def what_can_do(
    ctx: ToolContext,
    state: Annotated[State, Field(description="the state that is wanted, as preconditions name it")],
    object_id: Annotated[str, Field(max_length=64, description="with holding: the object that is meant; empty: any")] = "",
) -> Enabling:
    """Tell which tools enable a state (something held, nothing held, a fresh view, the arm at home …), and which calls must come first."""
    cards = ctx.cards()
    why = ""
    try:
        PREDICATES[state][1](ctx, object_id or None)
    except PreconditionFailed as error:
        why = error.message
    found = ways_to(cards, state, lambda card: unmet(card, ctx))
    does = {card.name: card.summary for card in cards}
    told = [EnablingTool(tool=way.tool, does=does[way.tool], first=list(way.before), missing=list(way.missing)) for way in found[:MOST]]
    return Enabling(holds=not why, why_not=why, tools=told)
