"""Order of sub-goals: what blocks comes first, towers from the bottom up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from deskhand.errors import DeskhandError
from deskhand.language.resolve import BASE, Seen
from deskhand.planning.goals import Goal, satisfied
from deskhand.world.relations import TABLE


def plan(goals: Sequence[Goal], objects: Sequence[Seen], stages: Mapping[str, int] | None = None) -> list[Goal]:
    """The goals in an order in which each can be done, with goals added that clear what is in the way, for a while where two wait for each other; done
    ones are left out.

    What lies on something must leave before that is moved or built on. An object that is itself a target comes to its place first.
    Beyond that ``stages`` says what comes first, and then nearness.

    Raises:
        DeskhandError: ``impossible`` when the goals wait for each other in a circle.
    """
    by_id = {str(item["id"]): item for item in objects}
    todo = {goal.object_id: goal for goal in goals if not satisfied(goal, objects)}
    _add_clearing(todo, goals, objects)
    needs = {name: _needs(goal, todo, objects) for name, goal in todo.items()}

    def reach(name: str) -> float:
        item = by_id.get(name)
        return math.hypot(item["position"][0] - BASE[0], item["position"][1] - BASE[1]) if item else 0.0

    order: list[Goal] = []
    done: set[str] = set()
    while len(done) < len(todo):
        ready = [name for name in todo if name not in done and needs[name] <= done]
        if not ready:
            order.append(_aside(todo, done, needs, objects))
            continue
        name = min(ready, key=lambda n: ((stages or {}).get(n, 0), reach(n), n))
        order.append(todo[name])
        done.add(name)
    return order


def _aside(todo: Mapping[str, Goal], done: set[str], needs: Mapping[str, set[str]], objects: Sequence[Seen]) -> Goal:
    """Goals wait for each other: one object that others wait for, and nothing lies on, is put on the desk for a while; ``needs`` forget it.

    Raises:
        DeskhandError: ``impossible`` when that does not help: something would rest on itself.
    """
    waiting = sorted(set(todo) - done)
    for name in waiting:
        below = next((str(item.get("support", TABLE)) for item in objects if item["id"] == name), TABLE)
        bare = not any(above in todo and above not in done for above in _on_top(name, objects))
        blocked = [other for other in waiting if name in needs[other] and todo[other].target_id != name and below in (other, todo[other].target_id)]
        if bare and blocked:
            for other in blocked:
                needs[other].discard(name)
            return Goal(name, "on", TABLE)
    raise DeskhandError("impossible", f"the sub-goals of {', '.join(waiting)} wait for each other in a circle.")


def _on_top(name: str, objects: Sequence[Seen]) -> list[str]:
    return [str(item["id"]) for item in objects if item.get("support") == name and item.get("relation") != "held"]


def _add_clearing(todo: dict[str, Goal], goals: Sequence[Goal], objects: Sequence[Seen]) -> None:
    """What lies on an object that will be moved or built on, and has no goal of its own, is put on the desk first."""
    meant = {(goal.object_id, goal.target_id) for goal in goals}
    queue = [*todo, *(goal.target_id for goal in todo.values() if goal.relation == "on" and goal.target_id != TABLE)]
    while queue:
        name = queue.pop()
        for above in _on_top(name, objects):
            if above not in todo and not ((above, name) in meant and name not in todo):
                keep = next((goal for goal in goals if goal.object_id == above), None)
                todo[above] = keep or Goal(above, "on", TABLE)
                queue.append(above)


def _needs(goal: Goal, todo: dict[str, Goal], objects: Sequence[Seen]) -> set[str]:
    """Names of goals that must be done before ``goal``."""
    needs = {above for above in _on_top(goal.object_id, objects) if above in todo and todo[above].target_id != goal.object_id}
    if goal.target_id in todo:
        needs.add(goal.target_id)
    if goal.relation == "on" and goal.target_id != TABLE:
        needs |= {above for above in _on_top(goal.target_id, objects) if above in todo and todo[above].target_id != goal.target_id}
    return needs - {goal.object_id}
