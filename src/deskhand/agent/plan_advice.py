"""What the grammar reads otherwise than a plan: advice that is given once beside the accepted plan, and no reason to refuse it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deskhand.agent.expectations import Expectations
from deskhand.agent.verdict import said
from deskhand.language.resolve import Seen
from deskhand.planning.goals import Goal, satisfied

READING = "A simple reading of the words"

Unspoken = Callable[[Sequence[tuple[str, str]]], list[str]]
"""Of pairs (object, target), the objects that the words do not ask to be moved."""


class PlanAdvice:
    """Of one run.

    Args:
        unspoken: for small models, which put more into a plan than was asked for: where the words ask for some of its objects, the others are named. None
            for all others, of whom only what every word is read of is named.
    """

    def __init__(self, unspoken: Unspoken | None = None) -> None:
        self._unspoken = unspoken
        self._given: set[Goal] = set()
        self._given_arguments: list[dict[str, Any]] = []

    def of_structure(self, expected: Expectations, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """For the result of ``plan_structure``; empty where there is nothing to say, or it was said."""
        wanted = expected.misread(arguments)
        if not wanted or wanted in self._given_arguments:
            return {}
        self._given_arguments.append(wanted)
        text = f"{READING} has: {', '.join(f'{key} {value}' for key, value in wanted.items())}. Follow it only where you agree."
        return {"advice": {"text": text, "arguments": wanted}}

    def of_goals(self, expected: Expectations, goals: Sequence[Goal], objects: Sequence[Seen]) -> dict[str, Any]:
        """For the result of ``submit_plan``: what the words also ask for (``unmet``), and what they do not (``not_covered``)."""
        read = [*expected.contradicted(goals, objects), *expected.overlooked(goals, objects)]
        differs = {goal.object_id: goal for goal in read if goal not in self._given}
        beyond = [goal for goal in expected.beyond(goals, objects) or self._beyond(goals, objects) if goal not in self._given and goal.object_id not in differs]
        self._given.update([*differs.values(), *beyond])
        if not (differs or beyond):
            return {}
        parts = [f"also has: {said(list(differs.values()))}"] if differs else []
        parts += [f"does not have: {said(beyond)}"] if beyond else []
        text = f"{READING} {'; it '.join(parts)}. Follow it only where you agree; the plan stands as it is."
        advice: dict[str, Any] = {"text": text, "unmet": [{**goal.to_json(), "reason": "a simple reading of the words"} for goal in differs.values()]}
        return {"advice": advice | ({"not_covered": [goal.object_id for goal in beyond]} if beyond else {})}

    def _beyond(self, goals: Sequence[Goal], objects: Sequence[Seen]) -> list[Goal]:
        """What a small model's plan moves beside what the words ask for; nothing where they ask for none of it, for then they mean it in another way."""
        moved = [goal for goal in goals if not satisfied(goal, objects)]
        if self._unspoken is None:
            return []
        unspoken = set(self._unspoken([(goal.object_id, goal.target_id) for goal in moved]))
        rest = [goal for goal in moved if goal.object_id in unspoken]
        return rest if len(rest) < len(moved) else []
