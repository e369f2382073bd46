"""What an instruction plainly asks for, read without the model: guards against plans that leave half of it out and things that came to light late."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from deskhand.agent.goals import Goal, make_goals, satisfied
from deskhand.agent.language.intents import Act, Ask, Help, Instruction, Leave, Place, Ref, Tidy
from deskhand.agent.language.parser import understood
from deskhand.agent.language.resolve import Seen, inside, resolve

Rule = Place | Tidy | Leave


class Expectations:
    """Of one instruction. Where the grammar does not understand all of it, or the order matters, nothing is expected."""

    def __init__(self, instruction: Instruction) -> None:
        self._rules: list[Rule] = []
        self._first: list[Seen] | None = None
        rules = [item for item in instruction.intents if isinstance(item, Place | Tidy | Leave)]
        named = [ref for rule in rules if isinstance(rule, Place) for ref in rule.things]
        plain = all(isinstance(item, Place | Tidy | Leave | Act | Ask | Help) for item in instruction.intents)
        if understood(instruction) and plain and not any(ref.pronoun for ref in named) and len(set(named)) == len(named):
            self._rules = rules

    @property
    def moves(self) -> bool:
        """Whether things are asked to be moved."""
        return any(not isinstance(rule, Leave) for rule in self._rules)

    def looked(self, objects: Sequence[Seen]) -> None:
        """The first look says what "the cup" was."""
        if self._first is None:
            self._first = list(objects)

    def overlooked(self, goals: Collection[Goal], objects: Sequence[Seen]) -> list[Goal]:
        """Goals that the instruction asks for and ``goals`` leaves out, as the desk is seen now; only for things that are in no container."""
        if not self._rules or self._first is None:
            return []
        planned = {goal.object_id for goal in goals}
        wanted = [goal for goal in self._singles(self._first) if goal not in goals and any(item["id"] == goal.object_id for item in objects)]
        chosen = {goal.object_id for goal in self._singles(objects, sure=False)}
        wanted += [goal for goal in make_goals(self._rules, objects).goals if goal.object_id not in chosen | planned]
        lying = {str(item["id"]) for item in objects if not inside(item, objects) and item.get("relation") != "held"}
        return [goal for goal in dict.fromkeys(wanted) if goal.object_id in lying and not satisfied(goal, objects)]

    def _singles(self, objects: Sequence[Seen], sure: bool = True) -> list[Goal]:
        """Goals of phrases that mean a number of things; with ``sure`` only where no choice had to be made."""
        rules: list[Rule] = []
        for rule in self._rules:
            if isinstance(rule, Place):
                things = tuple(ref for ref in rule.things if ref.count and not (sure and self._choice(ref, objects)))
                certain = not sure or (rule.target.count == 1 and not self._choice(rule.target, objects)) or rule.target.table
                rules += [replace(rule, things=things)] if things and certain else []
        return make_goals(rules, objects).goals if rules else []

    def _choice(self, ref: Ref, objects: Sequence[Seen]) -> bool:
        return len(resolve(replace(ref, count=0), objects, "any").objects) > ref.count
