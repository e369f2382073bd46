"""Bringing objects to containers, other objects and the desk, and taking them into the gripper. Part of the offline brain's script."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from deskhand.errors import DeskhandError
from deskhand.language.intents import Hand, Intent, Leave, Pick, Place, Ref, Release, Tidy, Tower
from deskhand.language.resolve import held_object, listing, name_of, resolve
from deskhand.offline.clarification import Asking
from deskhand.offline.script import Call, CallResult, Script, planned
from deskhand.offline.task_executive import ATTEMPTS, TaskExecutive
from deskhand.planning.goals import Goal, Goals, Task, make_goals
from deskhand.planning.planner import plan

ROUNDS = 3
"""How often objects that come to light are taken up."""


class Placing:
    """Methods that act are generators of calls; ``notes`` and ``answers`` are added to."""

    def __init__(self, executive: TaskExecutive, asking: Asking, tools: AbstractSet[str], notes: list[str], answers: list[str]) -> None:
        self._executive, self._asking, self._tools = executive, asking, tools
        self._notes, self._answers = notes, answers
        self.pins: dict[Ref, tuple[str, ...]] = {}
        """The objects that were chosen for phrases which mean a number of them."""
        self._held = ""

    def pin(self, tasks: Sequence[Intent]) -> None:
        """Remember which objects were chosen for phrases that mean a number of them."""
        for task in tasks:
            for ref in getattr(task, "objects", None) or ((task.item,) if isinstance(task, Pick | Hand) else ()):
                if ref.count and ref not in self.pins:
                    self.pins[ref] = tuple(str(item["id"]) for item in resolve(ref, self._executive.objects, "object").objects)

    def hold(self, intent: Pick | Hand, group: list[Intent]) -> Script:
        """One object into the gripper, and out to the person where that is wanted; ``group`` becomes what it turned out to mean."""
        if not (yield from self._executive.look(f"I look for {intent.item.words}.")):
            return
        intent = yield from self._asking.settled(intent)
        group[:] = [intent]
        self.pin([intent])
        ref = intent.item
        found = resolve(ref, self._executive.objects, "object")
        if not found.objects:
            self._executive.problems.append(("unknown_object", f"I see no '{ref.words}'. I see {listing(self._executive.objects)}."))
            return
        if len(found.objects) > 1 or ref.count > 1:
            self._executive.problems.append(("impossible", f"I can hold one object at a time; '{ref.words}' are {listing(found.objects)}. Which one?"))
            return
        if found.note:
            self._notes.append(found.note)
        item = found.objects[0]
        for goal in plan([Goal(item["id"], "in", "gripper")], self._executive.objects)[:-1]:  # what lies on it
            yield from self._executive.fulfil(goal)
        heard = CallResult(False)
        while not heard.ok and self._executive.work.tries[item["id"]] < ATTEMPTS:
            self._executive.work.tries[item["id"]] += 1
            heard = yield Call("pick", {"object_id": item["id"]})
        self._executive.count(heard, f"picking up the {name_of(item)} ({item['id']})")
        if not heard.ok:
            return
        self._held = f"I hold the {name_of(item)} ({item['id']})."
        self._answers.append(self._held)
        if isinstance(intent, Hand) and "handover" in self._tools:
            heard = yield Call("handover", {}, "So that it can be taken.")
            self._executive.count(heard, "holding it out")
            if heard.ok:
                self._answers[-1] = f"Here is the {name_of(item)} ({item['id']}). Say 'open the gripper' when you have it."

    # ------------------------------------------------------------ sub-goals

    def achieve(self, group: list[Intent]) -> Script:
        """Intents that belong together: rules, exceptions, what goes where. ``group`` becomes what they turned out to mean."""
        if not (yield from self._executive.look("I look at what is on the desk.")):
            return
        self._answers[:] = [said for said in self._answers if said != self._held]  # it is put down now
        group[:] = yield from self._name_held(group)
        said = [ref for task in group for ref in getattr(task, "objects", ()) if not (ref.rest or ref.pronoun)]
        named = {str(item["id"]) for ref in said for item in resolve(ref, self._executive.objects, "any").objects}
        for number, task in enumerate(group):
            if isinstance(task, Place | Tower):
                group[number] = yield from self._asking.settled(task, named)
        self.pin(group)
        kept = frozenset(
            item["id"]
            for task in group
            if isinstance(task, Leave)
            for ref in task.objects
            if not ref.rest
            for item in resolve(ref, self._executive.objects, "any").objects
        )
        tasks = [task for task in group if isinstance(task, Place | Tidy | Leave | Tower | Release)]
        made = make_goals(tasks, self._executive.objects, kept)
        if any(code == "unknown_object" for code, _ in made.problems):
            if not (yield from self._executive.look("I do not see all that was named; I look once more.")):
                return
            made = make_goals(tasks, self._executive.objects, kept)
        if made.unsettled:
            self._executive.problems.append(("unknown_object", made.unsettled))
            return
        self._notes += made.notes
        self._executive.problems += made.problems
        goals = yield from self._submit(made)
        self._executive.begin(goals, made.free, made.stages)
        self._executive.again = lambda: make_goals(tasks, self._executive.objects, kept).goals
        yield from self._executive.run()
        rules = [task for task in tasks if isinstance(task, Place | Tidy)]
        several = len(rules) > 1 or len({goal.target_id for goal in goals}) > 1
        if rules and (several or self._executive.failures()):
            yield from self._come_to_light(tasks, kept)
        if several and (yield from self._executive.see("Is everything what I took it for?")):
            yield from self._executive.put_right()

    def _come_to_light(self, tasks: Sequence[Task], kept: frozenset[str]) -> Script:
        """In a heap, objects are taken for one or for other objects; what is seen once the others are gone is taken up by the same words."""
        progress = False
        for _ in range(ROUNDS):
            before = self._executive.done
            if not (yield from self._executive.see("What do I see now?")):
                return
            made = make_goals(tasks, self._executive.objects, kept)
            made.goals = [goal for goal in made.goals if self._executive.is_new(goal)]
            made.problems = []
            new = (yield from self._submit(made)) if made.goals else []
            if not (new or progress):
                return
            self._executive.take_in(new)
            yield from self._executive.run()
            progress = self._executive.done > before
            if not progress:
                return

    def _name_held(self, group: list[Intent]) -> Generator[Call, CallResult, list[Intent]]:
        """Say what "it" is: where nobody was named before, what the gripper holds."""
        if not any(isinstance(task, Place | Release) and any(ref.pronoun for ref in task.objects) for task in group):
            return group
        state = yield Call("get_robot_state", {}, "What do I hold?")
        holding = str(state.data.get("holding") or "") if state.ok else ""
        if not holding:
            raise DeskhandError("not_understood", "I do not know what 'it' stands for: nothing was named before, and I hold nothing.")
        if all(item["id"] != holding for item in self._executive.objects):
            self._executive.objects = [*self._executive.objects, held_object(holding)]
        named: list[Intent] = []
        for task in group:
            if isinstance(task, Place | Release):
                objects = tuple(replace(ref, id=holding, pronoun=False) if ref.pronoun else ref for ref in task.objects if holding or not ref.pronoun)
                named += [replace(task, objects=objects)] if objects else []
            else:
                named.append(task)
        return named

    def _submit(self, made: Goals) -> Generator[Call, CallResult, list[Goal]]:
        """Have the plan verified; what is refused is dropped and remembered with its reason."""
        goals = made.goals
        if not goals and made.problems:
            return []
        for _ in range(2):
            heard = yield planned(goals, _plan_text(goals))
            if heard.ok:
                return goals
            bad = {str(problem["object_id"]): problem for problem in (heard.data or {}).get("problems", [])}
            self._executive.problems += [(str(problem["code"]), str(problem["message"])) for problem in bad.values()] or [(heard.code, heard.message)]
            goals = [goal for goal in goals if bad and goal.object_id not in bad and goal.target_id not in bad]
            if not goals:
                return []
        return []


def _plan_text(goals: Sequence[Goal]) -> str:
    return "My plan: " + "; ".join(f"{goal.object_id} {goal.relation} {goal.target_id}" for goal in goals) if goals else "There is nothing to move."
