"""What the offline brain is made of: scripts, generators that yield calls and are sent their results; and the account of a group of sub-goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

from deskhand.agent.controls import SUBMIT_PLAN
from deskhand.planning.goals import Goal


@dataclass(frozen=True)
class Call:
    """What the brain wants done."""

    tool: str
    arguments: dict[str, Any]
    thought: str = ""


def planned(goals: Iterable[Goal], thought: str = "") -> Call:
    """The call that takes these goals into the plan, beside those that it has."""
    return Call(SUBMIT_PLAN, {"subgoals": [goal.to_json() for goal in goals], "keep": True}, thought)


@dataclass(frozen=True)
class CallResult:
    """What came back, and what the person has said since."""

    ok: bool
    data: Any = None
    code: str = ""
    message: str = ""
    told: tuple[str, ...] = ()


class TaskEnd(Exception):
    """The person has said something: what is being done ends here, whatever it is."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__("; ".join(words))
        self.words = words


Script = Generator[Call, CallResult, None]
"""Yields calls and is sent their results."""
ResultScript = Generator[Call, CallResult, CallResult]
"""A script that returns the result of its last call."""
DecisionScript = Generator[Call, CallResult, bool]
"""A script that returns whether it worked."""


@dataclass
class Work:
    """What has come of a group of sub-goals so far: why objects failed, how often they were tried, what may go elsewhere."""

    goals: dict[str, Goal] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    stages: dict[str, int] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    failed_after: dict[str, int] = field(default_factory=dict)
    """How many objects were done when each last failed."""
    done: set[str] = field(default_factory=set)
    """What a place has verified; objects deep in a container are not seen again."""
    renamed: dict[str, Goal] = field(default_factory=dict)
    """Lost id -> the goal of the object under its new id."""
    inserted: set[str] = field(default_factory=set)
    """What was put into a recess, and seen there, by all ids that it had."""
    boards: set[str] = field(default_factory=set)
    """What these recesses are in: nothing that lies on one is taken away to make room."""
    taken_for: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Kind and colour that each object had when its goal was made."""
    covered: set[str] = field(default_factory=set)
    """Objects that others lay on then; uncovered they may turn out to be something else."""
    next: str = ""
    """What is picked after the object at hand, if all goes well; empty where that is not known."""

    def onward(self, goal: Goal) -> dict[str, str]:
        """What a call for the object of ``goal`` says of what comes after it."""
        return {"next_object_id": self.next} if self.next not in ("", goal.object_id) else {}

    def rename(self, old: str, new: Goal) -> None:
        """What was known as ``old`` is the object of the goal ``new``, and was tried as often."""
        self.tries[new.object_id] = max(self.tries[new.object_id], self.tries[old])
        self.goals = {name: goal for name, goal in self.goals.items() if name != old} | {new.object_id: new}
        self.renamed.pop(new.object_id, None)
        self.renamed[old] = new

    def now(self, goal: Goal) -> Goal:
        """The goal as its object is known by now."""
        while (renamed := self.renamed.get(goal.object_id)) is not None:
            goal = renamed
        return self.goals.get(goal.object_id, goal)
