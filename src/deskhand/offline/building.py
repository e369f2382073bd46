"""Building with blocks, part of the offline brain's script: plan, put block on block, look after each step, put back what fell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deskhand.language.intents import Build
from deskhand.language.resolve import Seen
from deskhand.offline.script import Call, CallResult, DecisionScript, Script, planned
from deskhand.offline.task_executive import HAND_FULL, TaskExecutive
from deskhand.planning.goals import Goal
from deskhand.world.relations import TABLE

TRIES = 4
"""How often one block is put to its place."""
BESIDE = 0.012
"""[m] between where a block is seen and its place, from which on it does not stand there: the tolerance of a place, and what a look errs by."""
SPARE_ACTS = 6
"""Acts beyond one a block that a structure may take before it is given up, for each block one more."""


@dataclass(frozen=True)
class Step:
    """One block: where its centre shall be (x, y) [m], its turn [rad], and the numbers of the steps whose blocks carry it; ``level`` [m] of what lies there
    above the table and is no object, ``others``: ids of what carries it and is placed by no step.
    """

    object_id: str
    color: str
    x: float
    y: float
    yaw: float
    on: tuple[int, ...]
    level: float = 0.0
    others: tuple[str, ...] = ()


class Building:
    """One structure. Methods that act are generators of calls."""

    def __init__(self, executive: TaskExecutive) -> None:
        self._executive = executive
        self._steps: list[Step] = []
        self._standing: set[int] = set()
        self._tries: Counter[int] = Counter()
        self._acts = 0
        self._failures: dict[int, tuple[str, str]] = {}
        self._sizes: dict[str, list[float]] = {}
        self._checks = False
        self.note = ""

    def build(self, wish: Build) -> Script:
        """Plan and build; what could not be done is among the problems of the executive."""
        if not (yield from self._executive.look("I look for blocks.")):
            return
        named = {"structure_name": wish.structure, "count": wish.count, "colors": list(wish.colors)} if wish.structure else {}
        other = {"plan": wish.plan} if wish.plan is not None else {"file": wish.file}
        heard = yield Call("plan_structure", named or other, "Which blocks, and where?")
        if heard.code in HAND_FULL:  # of a task that was cut short
            yield from self._put_aside()
            if not (yield from self._executive.look()):
                return
            heard = yield Call("plan_structure", named or other, "Once more, with the hand empty.")
        overlooked = bool(heard.data.get("substitutes")) if heard.ok else heard.code == "impossible"
        if overlooked:
            if not (yield from self._executive.look("A block that is asked for may have been overlooked.")):
                return
            heard = yield Call("plan_structure", named or other, "Once more, with what I see now.")
        if not heard.ok:
            self._fail(heard)
            return
        self.note = str(heard.data.get("note", ""))
        yield from self._begin(_steps(heard.data["steps"]))

    def follow(self, steps: Sequence[Step]) -> Script:
        """Do these steps one after the other, and check after each what stands; what could not be done is among the problems of the executive."""
        self._checks = True
        yield from self._begin(steps)

    def _begin(self, steps: Sequence[Step]) -> Script:
        self._steps = list(steps)
        self._sizes = {str(item["id"]): list(map(float, item["size"])) for item in self._executive.objects}
        submitted = yield planned(map(self._goal, range(len(self._steps))), self._told())
        if not submitted.ok:
            self._fail(submitted)
            return
        yield from self._work()

    def take_up(self, unmet: Sequence[dict[str, Any]]) -> Script:
        """A check has denied these places: build them again."""
        names = {str(item["object_id"]) for item in unmet}
        self._standing -= {number for number, step in enumerate(self._steps) if step.object_id in names}
        if (yield from self._executive.look("The check says that something is not where it belongs.")):
            yield from self._work()

    def owns(self, object_id: str) -> bool:
        """Whether this is one of its blocks."""
        return any(step.object_id == object_id for step in self._steps)

    # ------------------------------------------------------------ steps

    def _work(self) -> Script:
        most = len(self._steps) * 2 + SPARE_ACTS
        while (number := self._next()) is not None:
            if self._tries[number] >= TRIES or self._acts >= most:
                return
            self._tries[number] += 1
            self._acts += 1
            yield from self._do(number)

    def _next(self) -> int | None:
        """The first place that is not filled and whose carriers stand; a block on top of one that is gone is gone itself."""
        for number, step in enumerate(self._steps):
            if any(below not in self._standing for below in step.on):
                self._standing.discard(number)
        return next((number for number in range(len(self._steps)) if number not in self._standing), None)

    def _do(self, number: int) -> Script:
        step = self._steps[number]
        if not (yield from self._clear(number)) or not (yield from self._take(number)):
            return
        carriers = [*(self._steps[below].object_id for below in step.on), *step.others]
        arguments = {"x": step.x, "y": step.y, "yaw": step.yaw} | ({"on": carriers} if carriers else {})
        arguments |= {"level": step.level} if step.level else {}
        placed = yield Call("place_at", arguments, f"{self._steps[number].object_id} to place {number + 1} of {len(self._steps)}")
        if placed.ok:
            self._executive.done += 1
            self._standing.add(number)
            self._forget_failure(number)
        else:
            self._note_failure(number, placed)
            yield from self._put_aside()
        if not placed.ok or self._checks or set(placed.data.get("disturbed", [])) & {step.object_id for step in self._steps}:
            yield from self._check()
        if placed.code == "no_free_space":
            yield from self._free(number)

    def _free(self, number: int) -> Script:
        """What lies where a block shall stand, most often one that fell, is put aside; what stands in its own place is left."""
        step = self._steps[number]
        edge = max(self._sizes.get(step.object_id, [0.03])[:2])
        standing = {self._steps[other].object_id for other in self._standing} | {step.object_id}
        for item in self._executive.objects:
            away = math.hypot(item["position"][0] - step.x, item["position"][1] - step.y)
            if item["id"] in standing or item.get("is_container") or away > (edge + max(item["size"][:2])) / math.sqrt(2):
                continue
            self._acts += 1
            picked = yield from self._executive.take(self._put_aside, str(item["id"]), f"{item['id']} lies where {step.object_id} shall stand.")
            if picked.ok:
                yield from self._put_aside()
        yield from self._executive.look()

    def _clear(self, number: int) -> DecisionScript:
        """What stands on the block of a step, because the structure leans there wrongly, is put aside first, from the top."""
        for _ in range(len(self._steps)):
            above = _highest_on(self._steps[number].object_id, self._executive.objects)
            if above is None:
                return True
            self._acts += 1
            picked = yield from self._executive.take(self._put_aside, above, f"{above} stands on {self._steps[number].object_id}, which has to move.")
            if not picked.ok:
                self._note_failure(number, picked)
                return False
            yield from self._put_aside()
            if not (yield from self._executive.look()):
                return False
        return False

    def _take(self, number: int) -> DecisionScript:
        """The block of a step into the hand; another one like it when it is not to be found."""
        if not (yield from self._find(number)):
            return False
        name = self._steps[number].object_id
        picked = yield from self._executive.take(self._put_aside, name, f"for place {number + 1}")
        if picked.ok:
            return True
        self._note_failure(number, picked)
        yield from self._executive.look(f"{name} could not be picked; I look again.")
        return False

    def _find(self, number: int) -> DecisionScript:
        """See that the step names a block that is there; where its name is gone, one like it that no other step uses."""
        step = self._steps[number]
        if self._tries[number] == 1 and any(item["id"] == step.object_id for item in self._executive.objects):
            return True
        if not (yield from self._executive.look(f"Where is {step.object_id}?")):
            return False
        if any(item["id"] == step.object_id for item in self._executive.objects):
            return True
        used = {other.object_id for index, other in enumerate(self._steps) if index != number}
        like = [item for item in self._executive.objects if item["id"] not in used and item["color"] == step.color and self._is_like(item, step)]
        if not like:
            self._note_failure(number, CallResult(False, None, "object_lost", f"{step.object_id} is not seen any more"))
            return False
        self._steps[number] = replace(step, object_id=str(like[0]["id"]))
        self._sizes[str(like[0]["id"])] = self._sizes.get(step.object_id, list(map(float, like[0]["size"])))
        goals = [self._goal(index) for index in range(len(self._steps))]  # what stands on it names it too
        heard = yield planned(goals, f"{like[0]['id']} looks like what was {step.object_id}.")
        return heard.ok

    def _is_like(self, item: Seen, step: Step) -> bool:
        size = self._sizes.get(step.object_id)
        return size is None or all(abs(a - b) < 0.3 * b + 0.004 for a, b in zip(sorted(item["size"]), sorted(size), strict=True))

    def _put_aside(self) -> Script:
        """What is still in the hand goes to a free place on the desk."""
        state = yield Call("get_robot_state", {}, "Is something in the hand?")
        if not state.ok or not state.data.get("holding"):
            return
        heard = yield Call("put_aside", {"keep_clear": [[step.x, step.y] for step in self._steps]}, "It goes to a free place on the desk.")
        if not heard.ok:
            yield Call("open_gripper", {}, "It cannot stay in the hand; nothing else worked.")

    def _check(self) -> Script:
        """Which of the blocks that were put down still stand?"""
        if not self._standing:
            yield from self._executive.look()
            return
        numbers = sorted(self._standing)
        heard = yield Call("check_goal", {"conditions": [self._goal(number).to_json() for number in numbers]}, "Does the rest still stand?")
        looked = yield from self._executive.look()
        if heard.ok:
            gone = {str(item["object_id"]) for item in heard.data["unmet"]}
            unmet = {number for number in numbers if self._steps[number].object_id in gone}
            self._standing -= {number for number in unmet if self._denied(number)} if self._checks and looked else unmet

    def _denied(self, number: int) -> bool:
        """Whether a look shows that a place is not filled: its block elsewhere, or nowhere and nothing standing where it would have to carry it.

        What a structure hides of itself is no proof against it.
        """
        step = self._steps[number]
        item = next((item for item in self._executive.objects if item["id"] == step.object_id), None)
        if item is not None:
            return math.hypot(item["position"][0] - step.x, item["position"][1] - step.y) > BESIDE
        above = [other for other in self._standing if number in self._steps[other].on]
        return all(self._denied(other) for other in above)

    # ------------------------------------------------------------ words

    def _goal(self, number: int) -> Goal:
        step = self._steps[number]
        target = self._steps[step.on[0]].object_id if step.on else next(iter(step.others), TABLE)
        return Goal(step.object_id, "on", target, (step.x, step.y))

    def _told(self) -> str:
        return "My plan: " + "; ".join(
            f"{step.object_id} on {', '.join(self._steps[below].object_id for below in step.on) or ', '.join(step.others) or 'the table'}"
            for step in self._steps
        )

    def _fail(self, heard: CallResult) -> None:
        self._executive.problems.append((heard.code, heard.message))

    def _note_failure(self, number: int, heard: CallResult) -> None:
        self._failures[number] = heard.code, f"place {number + 1} ({self._steps[number].object_id}): {heard.message}"

    def _forget_failure(self, number: int) -> None:
        self._failures.pop(number, None)

    def failures(self) -> list[tuple[str, str]]:
        """(code, text) of the places that are not filled."""
        missing = [number for number in range(len(self._steps)) if number not in self._standing]
        return [self._failures.get(number, ("task_incomplete", f"place {number + 1} is not filled")) for number in missing]


def _highest_on(name: str, objects: Sequence[Seen]) -> str | None:
    """The topmost of what stands on an object, and on what stands on that."""
    top = None
    for _ in objects:
        above = next((str(item["id"]) for item in objects if item.get("support") == name and item.get("relation") == "on"), None)
        if above is None:
            return top
        top = name = above
    return top


def _steps(data: Sequence[dict[str, Any]]) -> list[Step]:
    numbers = {str(item["object_id"]): number for number, item in enumerate(data)}
    return [
        Step(
            str(item["object_id"]), str(item["color"]), float(item["x"]), float(item["y"]), float(item["yaw"]), tuple(numbers[str(name)] for name in item["on"])
        )
        for item in data
    ]
