"""What the completion check answers a claim with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.agent.judge import Evidence, Opinion
from deskhand.etp.base import ToolResult
from deskhand.planning.goals import Goal

MOST_OBJECTIONS = 2
"""Of a judge, that go back to the model."""
Ask = Callable[[Evidence], Opinion]
"""Asks the judge; without one the opinion is None."""


@dataclass(frozen=True)
class Verdict:
    """``final`` ends the run; otherwise ``summary`` and ``unmet`` go back to the model. ``agreed_by``: who beside the model says that it is what was asked."""

    final: bool
    success: bool
    code: str
    summary: str
    unmet: list[dict[str, Any]] = field(default_factory=list)
    agreed_by: str = ""


def said(goals: Sequence[Goal]) -> str:
    """Goals in a row."""
    return "; ".join(f"{goal.object_id} {goal.relation} {goal.target_id}" for goal in goals)


def to_be_said(code: str, why: str, goals: Sequence[Goal]) -> ToolResult:
    """A plan is refused for what it should say instead."""
    unmet = [{**goal.to_json(), "reason": "the instruction asks for it"} for goal in goals]
    return ToolResult(code, f"{why}: {said(goals)}.", {"unmet": unmet}, retry=True, hint="Submit the plan with these sub-goals.")
