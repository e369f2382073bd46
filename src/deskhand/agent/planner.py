"""Order of sub-goals: what blocks comes first, towers from the bottom up; and where on the desk there is room, for plans made ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deskhand.agent.goals import TABLE, Goal, satisfied
from deskhand.agent.language.resolve import BASE, Seen
from deskhand.errors import DeskhandError

REGION = ((-0.12, 0.18), (-0.28, 0.28))
"""Where on the desk things may be put down: x and y ranges [m, world]."""


def plan(goals: Sequence[Goal], objects: Sequence[Seen]) -> list[Goal]:
    """The goals in an order in which each can be done, with goals added that clear what is in the way; done ones are left out.

    What lies on something must leave before that is moved or built on. A thing that is itself a target comes to its place first.

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
            circle = ", ".join(sorted(set(todo) - done))
            raise DeskhandError("impossible", f"the sub-goals of {circle} wait for each other in a circle.")
        name = min(ready, key=lambda n: (reach(n), n))
        order.append(todo[name])
        done.add(name)
    return order


def _on_top(name: str, objects: Sequence[Seen]) -> list[str]:
    return [str(item["id"]) for item in objects if item.get("support") == name and item.get("relation") != "held"]


def _add_clearing(todo: dict[str, Goal], goals: Sequence[Goal], objects: Sequence[Seen]) -> None:
    """What lies on a thing that will be moved or built on, and has no goal of its own, is put on the desk first."""
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


def free_spot(objects: Sequence[Seen], size: Sequence[float], taken: Sequence[tuple[float, float]] = ()) -> tuple[float, float] | None:
    """A place (x, y) [m] on the desk for something of ``size``, as far from everything as there is, within comfortable reach; None when full."""
    radius = math.hypot(float(size[0]), float(size[1])) / 2
    best: tuple[float, tuple[float, float]] | None = None
    (x0, x1), (y0, y1) = REGION
    for i in range(11):
        for j in range(15):
            x, y = x0 + (x1 - x0) * i / 10, y0 + (y1 - y0) * j / 14
            gap = min((_gap(x, y, item) for item in objects if item.get("support") in {TABLE, None} and item.get("relation") != "held"), default=1.0)
            gap = min([gap, *(math.hypot(x - tx, y - ty) - 0.03 for tx, ty in taken)]) - radius
            score = min(gap, 0.06) - 0.05 * abs(math.hypot(x - BASE[0], y - BASE[1]) - 0.33)
            if gap > 0.008 and (best is None or score > best[0]):
                best = score, (round(x, 3), round(y, 3))
    return best[1] if best else None


def _gap(x: float, y: float, item: Seen) -> float:
    """Distance [m] from a point to an object's upright oriented box."""
    yaw = float(item.get("yaw", 0.0))
    dx, dy = x - float(item["position"][0]), y - float(item["position"][1])
    u, v = abs(math.cos(yaw) * dx + math.sin(yaw) * dy), abs(-math.sin(yaw) * dx + math.cos(yaw) * dy)
    return math.hypot(max(0.0, u - float(item["size"][0]) / 2), max(0.0, v - float(item["size"][1]) / 2))
