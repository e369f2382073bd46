"""A plan is checked before anything moves, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.errors import DeskhandError
from deskhand.language.resolve import Seen, is_receptacle, is_tableware, kind, listing, name_of
from deskhand.planning.goals import Goal
from deskhand.planning.planner import plan
from deskhand.world.relations import SIDEWAYS, TABLE

RELATIONS = ("on", "in", *SIDEWAYS)


@dataclass(frozen=True)
class Problem:
    """Why a sub-goal cannot be: ``code`` is a key of errors.ERROR_NUMBERS."""

    object_id: str
    code: str
    message: str

    def to_json(self) -> dict[str, str]:
        """As plain data."""
        return {"object_id": self.object_id, "code": self.code, "message": self.message}


def verify(goals: Sequence[Goal], objects: Sequence[Seen]) -> list[Problem]:
    """All that is wrong with the goals as the desk was last seen; empty when they can be tried."""
    by_id = {str(item["id"]): item for item in objects}
    problems = [problem for goal in goals for problem in _one(goal, by_id)]
    targets: dict[str, set[str]] = {}
    for goal in goals:
        targets.setdefault(goal.object_id, set()).add(goal.target_id)
    problems += [
        Problem(name, "impossible", f"{name} cannot be in {len(where)} places: {', '.join(sorted(where))}.")
        for name, where in targets.items()
        if len(where) > 1
    ]
    if not problems:
        problems += _circles(goals)
    if not problems:
        try:
            plan(goals, objects)
        except DeskhandError as error:
            problems.append(Problem(goals[0].object_id, error.code, str(error)))
    return problems


def _one(goal: Goal, by_id: dict[str, Seen]) -> list[Problem]:
    name, target = goal.object_id, goal.target_id
    if goal.relation not in RELATIONS:
        return [Problem(name, "invalid_arguments", f"relation {goal.relation!r} is not one of {', '.join(RELATIONS)}.")]
    unknown = [each for each in (name, target) if each not in by_id and each != TABLE]
    if unknown or name == TABLE:
        return [Problem(name, "unknown_object", f"there is no object {' nor '.join(unknown) or TABLE}; seen: {listing(by_id.values())}.")]
    if name == target:
        return [Problem(name, "impossible", f"{name} cannot be {goal.relation} itself.")]
    item = by_id[name]
    if is_receptacle(item) and not is_tableware(item):
        return [Problem(name, "impossible", f"the {name_of(item)} ({name}) is a container; I move objects, not containers.")]
    if target == TABLE:
        return [] if goal.relation == "on" else [Problem(name, "impossible", f"objects can be on the table, not {goal.relation.replace('_', ' ')} it.")]
    other = by_id[target]
    if goal.relation == "in":
        return _into(item, other)
    if goal.relation in SIDEWAYS:
        return []
    rolls = other.get("shape") == "sphere" or kind(other) in {"ball", "pen", "marker"}
    if not other.get("is_container") and rolls and goal.position is None:  # the places of a plan of blocks were found by form, whatever a block is called
        return [Problem(name, "impossible", f"nothing stays on a {name_of(other)} ({target}); it rolls.")]
    return []


def _into(item: Seen, other: Seen) -> list[Problem]:
    name, target = str(item["id"]), str(other["id"])
    if not other.get("is_container"):
        return [Problem(name, "impossible", f"the {name_of(other)} ({target}) is no container; put {name} on it, or use a container.")]
    narrow, room = min(float(edge) for edge in item["size"]), min(float(edge) for edge in other["size"][:2])
    if narrow >= room:
        return [
            Problem(
                name,
                "impossible",
                f"the {name_of(item)} ({name}, {narrow * 100:.0f} cm at its thinnest) does not fit into the {name_of(other)} ({room * 100:.0f} cm).",
            )
        ]
    return []


def _circles(goals: Sequence[Goal]) -> list[Problem]:
    below = {goal.object_id: goal.target_id for goal in goals if goal.relation not in SIDEWAYS}
    for start in below:
        name, seen = start, {start}
        while (name := below.get(name, TABLE)) != TABLE:
            if name in seen:
                return [Problem(start, "impossible", f"{start} would rest on itself: the sub-goals form a circle.")]
            seen.add(name)
    return []
