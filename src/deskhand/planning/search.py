"""Symbolic plans by A* search over what lies on and in what.

A move takes an object to one of its goals, or aside onto the table: more is never needed: the table takes everything. One that can go to its last place
goes there at once, which never makes a plan longer; so the search is about what is put aside first. The estimate counts the objects that must move at all,
and those twice that lie above their own target (Gupta and Nau, On the complexity of blocks-world planning, 1992); it never overestimates, so plans are the
shortest, unless the desk is so tangled that the search is too long: then it counts for more, and plans are short.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence

from deskhand.errors import DeskhandError
from deskhand.planning.symbolic import MOST_OBJECTS, State, Step, SymbolicGoal
from deskhand.world.relations import TABLE

WEIGHTS = (1.0, 5.0)
"""Of the estimate: as it is, then so that the search goes for the goal."""
MOST_STATES = 2000
"""With each weight."""
PLACING = {"on": ("place_on", "target_id"), "in": ("place_in", "container_id")}


def plan(state: State, goals: Sequence[SymbolicGoal], free: Sequence[str] = (), kept: Iterable[str] = ()) -> list[Step]:
    """Steps from ``state`` to one where ``goals`` hold and nothing lies on ``free``; what is in ``kept`` is not touched.

    Raises:
        DeskhandError: ``impossible`` when there is no such plan, ``unknown_object`` when a goal names what is not there, ``invalid_input`` when there are
            too many objects.
    """
    names = state.objects
    unknown = [name for goal in goals for name in (goal.object_id, goal.target_id) if name not in (*names, "", TABLE)]
    if unknown:
        raise DeskhandError("unknown_object", f"there is no object {', '.join(unknown)}; known: {', '.join(names) or 'none'}.", hint="Look again.")
    if len(names) > MOST_OBJECTS:
        raise DeskhandError("invalid_input", f"there are {len(names)} objects; plans are made for at most {MOST_OBJECTS}.")
    if all(state.meets(goal) for goal in goals) and not any(state.on_top(name) for name in free):
        return []
    return _solved(state, goals, free, frozenset(kept))


def _solved(state: State, goals: Sequence[SymbolicGoal], free: Sequence[str], kept: frozenset[str]) -> list[Step]:
    if why := contradiction(state, goals, free):
        raise DeskhandError("impossible", f"the goals cannot hold together: {why}.", hint="Drop or change a goal.")
    desk = _Desk(goals, frozenset(free), kept)
    wanted = ", ".join(f"{goal.object_id} {goal.relation} {goal.target_id}".strip() for goal in goals) or f"{', '.join(free)} free"
    for weight in WEIGHTS:
        steps, all_seen = _search(desk, state, weight)
        if steps is not None:
            return steps
        if all_seen:
            raise DeskhandError("impossible", f"there is no plan that brings about: {wanted}.", hint="Drop or change a goal.")
    raise DeskhandError("impossible", f"no plan was found, in {MOST_STATES} states, that brings about: {wanted}.", hint="Ask for a part of the goals first.")


def _search(desk: _Desk, start: State, weight: float) -> tuple[list[Step] | None, bool]:
    """The steps, if found; and whether all there is was looked at."""
    number = itertools.count()  # of two that are as good, the one that was found last: it is further on
    waiting: list[tuple[float, int, State, list[Step]]] = [(weight * desk.estimate(start), 0, start, [])]
    seen: set[tuple[frozenset[tuple[str, tuple[str, str]]], str]] = set()
    while waiting and waiting[0][0] < float("inf"):
        _, _, now, steps = heapq.heappop(waiting)
        if desk.done(now):
            return steps, False
        key = (frozenset(now.where.items()), now.held)
        if key in seen:
            continue
        if len(seen) >= MOST_STATES:
            return None, False
        seen.add(key)
        for step in desk.steps(now):
            then = now.after(step)
            heapq.heappush(waiting, (len(steps) + 1 + weight * desk.estimate(then), -next(number), then, [*steps, step]))
    return None, True


def contradiction(state: State, goals: Sequence[SymbolicGoal], free: Sequence[str]) -> str:
    """Why no desk can be as wanted, empty when nothing speaks against it."""
    held = {goal.object_id for goal in goals if goal.relation == "held"}
    below: dict[str, str] = {}
    inside: dict[str, str] = {}
    for goal in goals:
        name, target = goal.object_id, goal.target_id
        if goal.relation == "held":
            if len(held) > 1 or free:
                return "the gripper would have to hold two objects, or one and be empty"
            continue
        if name in held or target in held:
            return f"what is held is neither on anything nor carries anything ({name} {goal.relation} {target})"
        if target in free:
            return f"{target} shall lie free"
        places = below if goal.relation == "on" else inside
        if places.setdefault(name, target) != target:
            return f"{name} cannot be {goal.relation} {places[name]} and {target}"
        if not state.meets(goal) and not _takes(state, goal):
            return f"nothing is put {goal.relation} {target}"
    for name in below:
        chain = [name]
        while (under := below.get(chain[-1], TABLE)) != TABLE:
            if under in chain:
                return f"{', '.join(chain)} would lie on each other in a circle"
            chain.append(under)
    return ""


def _takes(state: State, goal: SymbolicGoal) -> bool:
    if goal.relation == "in":
        return goal.target_id in state.containers
    return goal.target_id not in state.containers and goal.target_id not in state.round


class _Desk:
    """What is wanted, and what may be done for it."""

    def __init__(self, goals: Sequence[SymbolicGoal], free: frozenset[str], kept: frozenset[str]) -> None:
        self._goals, self._free, self._kept = goals, free, kept
        self._of: dict[str, list[SymbolicGoal]] = {}
        self._wants: dict[str, set[str]] = {}
        for goal in goals:
            if goal.relation == "on":
                self._wants.setdefault(goal.target_id, set()).add(goal.object_id)
            self._of.setdefault(goal.object_id, []).append(goal)

    def done(self, state: State) -> bool:
        """Whether all is as wanted."""
        if self._free and (state.held or any(state.on_top(name) for name in self._free)):
            return False
        return all(state.meets(goal) for goal in self._goals)

    def estimate(self, state: State) -> float:
        """Steps that are needed at least; infinite when something would have to move that must not or cannot."""
        movers = self._movers(state)
        if any(name in self._kept or name in state.containers or not self._has_place(state, name) for name in movers):
            return float("inf")
        twice = sum(self._lies_above_its_goal(state, name, movers) for name in movers)
        held = any(goal.relation == "held" and not state.meets(goal) for goal in self._goals)  # it need not be put down again
        stays = any(goal.relation == "held" and goal.object_id == state.held for goal in self._goals)
        return 2 * (len(movers) + twice) - held + (bool(state.held) and not stays)

    def _movers(self, state: State) -> set[str]:
        """What must be picked at least once, without what is in the gripper."""
        movers: set[str] = set()
        for goal in self._goals:
            if state.meets(goal):
                continue
            if goal.object_id != state.held:
                self._with_all_above(state, goal.object_id, movers)
            if goal.relation == "on" and goal.target_id != TABLE:
                for name in state.on_top(goal.target_id):
                    self._with_all_above(state, name, movers)
        for target in self._free:
            for name in state.on_top(target):
                self._with_all_above(state, name, movers)
        return movers

    def _has_place(self, state: State, name: str) -> bool:
        """Whether it could come to where it has to be, once it is in the gripper: its targets take objects, and nothing else has to be there."""
        return all(
            goal.relation == "held" or (_takes(state, goal) and (goal.relation == "in" or goal.target_id == TABLE or self._wants[goal.target_id] == {name}))
            for goal in self._of.get(name, ())
        )

    def _with_all_above(self, state: State, name: str, movers: set[str]) -> None:
        if name not in movers:
            movers.add(name)
            for above in state.on_top(name):
                self._with_all_above(state, above, movers)

    def _lies_above_its_goal(self, state: State, name: str, movers: set[str]) -> bool:
        below = state.where[name][1]
        seen = {name}
        while below in state.where and below not in seen:
            if below in movers and any(goal.relation == "on" and goal.target_id == below for goal in self._of.get(name, ())):
                return True
            seen.add(below)
            below = state.where[below][1]
        return False

    def steps(self, state: State) -> Iterator[Step]:
        """What is worth doing next."""
        if state.held:
            places = list(self._places(state))
            last = [place for place in places if self._settled(state.after(place), state.held)]
            yield from last[:1] or places
            return
        movers = [name for name in self._movers(state) if not state.on_top(name)]
        settling = [name for name in movers if self._can_settle(state, name)]
        for name in settling[:1] or movers:
            yield Step("pick", {"object_id": name})

    def _can_settle(self, state: State, name: str) -> bool:
        lifted = state.after(Step("pick", {"object_id": name}))
        return any(self._settled(lifted.after(place), name) for place in self._places(lifted))

    def _places(self, state: State) -> Iterator[Step]:
        """Where what is held can go: its goals, and the table."""
        for goal in self._of.get(state.held, ()):
            if goal.relation in PLACING and goal.target_id != TABLE:
                tool, argument = PLACING[goal.relation]
                step = Step(tool, {argument: goal.target_id})
                if goal.target_id != state.held and not state.obstacle(step)[0]:
                    yield step
        yield Step("put_aside")

    def _settled(self, state: State, name: str) -> bool:
        """Whether it, which has goals, is where it has to be in the end: neither it nor anything that it lies on has to move again."""
        if not self._of.get(name):
            return False
        movers = self._movers(state)
        seen: set[str] = set()
        while name in state.where and name not in seen:
            if name in movers or (name in self._free and seen):
                return False
            seen.add(name)
            name = state.where[name][1]
        return True
