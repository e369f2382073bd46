"""What the offline brain does with an instruction: a script that asks for one tool call at a time and reads its result.

It is a generator, so that it reads like a plan and can be replayed from any conversation (models/offline.py). It knows the
instruction, the names of the tools offered and the results, nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deskhand.agent.goals import TABLE, Goal, Goals, make_goals, satisfied
from deskhand.agent.language.answers import CAPABILITIES, answer
from deskhand.agent.language.intents import Act, Ask, Help, Impossible, Instruction, Intent, Leave, Pick, Place, Ref, Release, Tidy, Tower, Unclear
from deskhand.agent.language.parser import parse
from deskhand.agent.language.resolve import Seen, is_receptacle, kind, listing, name_of, order_near, resolve
from deskhand.agent.planner import free_spot, plan
from deskhand.agent.prompt import FINISH, SUBMIT_PLAN
from deskhand.errors import DeskhandError

ATTEMPTS = 3
"""How often one thing is tried."""
ROUNDS = 3
"""How often the whole goal is taken up again after a look showed that it is not met."""


@dataclass(frozen=True)
class Call:
    """What the brain wants done."""

    tool: str
    arguments: dict[str, Any]
    thought: str = ""


@dataclass(frozen=True)
class Heard:
    """What came back."""

    ok: bool
    data: Any = None
    code: str = ""
    message: str = ""


Script = Generator[Call, Heard, None]
Ask1 = Generator[Call, Heard, Heard]


@dataclass
class Work:
    """What has come of a group of sub-goals so far: why things failed, how often they were tried, what may go elsewhere."""

    goals: dict[str, Goal] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    tries: Counter[str] = field(default_factory=Counter)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)


class Brain:
    """One instruction; ``script()`` is the generator."""

    def __init__(self, text: str, tools: Sequence[str]) -> None:
        self._instruction: Instruction = parse(text)
        self._tools = frozenset(tools)
        self._objects: list[Seen] = []
        self._notes: list[str] = []
        self._problems: list[tuple[str, str]] = []
        self._done = 0
        self._work = Work()
        self._answers: list[str] = []

    def script(self) -> Script:
        """All calls, the last one to ``finish``."""
        intents = self._instruction.intents
        if self._instruction.stop:
            heard = yield Call("stop_motion", {"reason": f"instruction: {self._instruction.text.strip()[:80]}"})
            yield from _finish(
                "done" if heard.ok else "refused", "Stopped; the arm stays stopped until the stop is reset." if heard.ok else heard.message, heard.code
            )
            return
        if refusal := _refusal(intents):
            yield from _finish("refused", refusal[1], refusal[0])
            return
        self._problems += [("impossible", f"I cannot do this: '{item.words}'. {CAPABILITIES}") for item in intents if isinstance(item, Impossible)]
        for group in _groups(intents):
            yield from self._do(group)
        yield from self._end()

    # ------------------------------------------------------------ one group of intents after the other

    def _do(self, group: list[Intent]) -> Script:
        first = group[0]
        if isinstance(first, Help):
            self._answers.append(CAPABILITIES)
        elif isinstance(first, Ask):
            yield from self._answer(first)
        elif isinstance(first, Act):
            heard = yield Call(first.tool, {})
            self._count(heard, first.tool)
            if heard.ok:
                self._answers.append({"move_home": "The arm is home.", "open_gripper": "The gripper is open.", "close_gripper": "The gripper is closed."}[first.tool])
        elif isinstance(first, Pick):
            yield from self._hold(first.thing)
        elif not isinstance(first, Impossible):
            yield from self._achieve(group)

    def _look(self, thought: str = "") -> Generator[Call, Heard, bool]:
        heard = yield Call("detect_objects", {}, thought)
        if not heard.ok:
            heard = yield Call("detect_objects", {}, f"The look failed ({heard.message}); once more.")
        if heard.ok:
            self._objects = list(heard.data["objects"])
        else:
            self._problems.append((heard.code, f"I could not look at the desk: {heard.message}"))
        return heard.ok

    def _answer(self, ask: Ask) -> Script:
        if ask.kind == "held":
            heard = yield Call("get_robot_state", {})
            holding = heard.data.get("holding") if heard.ok else None
            self._answers.append(f"I hold {holding}." if holding else "I hold nothing." if heard.ok else heard.message)
        elif (yield from self._look("To answer I look at the desk.")):
            self._answers.append(answer(ask, self._objects))

    def _hold(self, ref: Ref) -> Script:
        if not (yield from self._look(f"I look for {ref.words}.")):
            return
        found = resolve(ref, self._objects, "thing")
        if not found.objects:
            self._problems.append(("unknown_object", f"I see no '{ref.words}'. I see {listing(self._objects)}."))
            return
        if len(found.objects) > 1:
            self._notes.append(f"I can hold one thing at a time; I took {found.objects[0]['id']}")
        if found.note:
            self._notes.append(found.note)
        item = found.objects[0]
        for goal in plan([Goal(item["id"], "in", "gripper")], self._objects)[:-1]:  # what lies on it
            yield from self._fulfil(goal)
        heard = Heard(False)
        while not heard.ok and self._work.tries[item["id"]] < ATTEMPTS:
            self._work.tries[item["id"]] += 1
            heard = yield Call("pick", {"object_id": item["id"]})
        self._count(heard, f"picking up the {name_of(item)} ({item['id']})")
        if heard.ok:
            self._answers.append(f"I hold the {name_of(item)} ({item['id']}).")

    def _count(self, heard: Heard, what: str) -> None:
        if heard.ok:
            self._done += 1
        else:
            self._problems.append((heard.code, f"{what} failed: {heard.message}"))

    # ------------------------------------------------------------ sub-goals

    def _achieve(self, group: list[Intent]) -> Script:
        if not (yield from self._look("I look at what is on the desk.")):
            return
        kept = frozenset(
            item["id"]
            for task in group
            if isinstance(task, Leave)
            for ref in task.things
            if not ref.rest
            for item in resolve(ref, self._objects, "any").objects
        )
        made = make_goals([task for task in group if isinstance(task, Place | Tidy | Leave | Tower | Release)], self._objects, kept)
        self._notes += made.notes
        self._problems += made.problems
        goals = yield from self._submit(made)
        self._problems += [(code, f"{name}: {why}") for name, (code, why) in self._work.failed.items()]  # of the group before
        self._work = Work({goal.object_id: goal for goal in goals}, made.free)
        yield from self._pursue()

    def _submit(self, made: Goals) -> Generator[Call, Heard, list[Goal]]:
        """Have the plan verified; what is refused is dropped and remembered with its reason."""
        goals = made.goals
        if not goals and made.problems:
            return []
        for _ in range(2):
            heard = yield Call(SUBMIT_PLAN, {"subgoals": [goal.to_json() for goal in goals]}, _plan_text(goals))
            if heard.ok:
                return goals
            bad = {str(problem["object_id"]): problem for problem in (heard.data or {}).get("problems", [])}
            self._problems += [(str(problem["code"]), str(problem["message"])) for problem in bad.values()] or [(heard.code, heard.message)]
            goals = [goal for goal in goals if bad and goal.object_id not in bad and goal.target_id not in bad]
            if not goals:
                return []
        return []

    def _pursue(self) -> Script:
        """Work through the open goals; a thing that fails goes to the end of the queue, so that others come first."""
        work = self._work
        queue = self._open()
        while queue:
            goal = queue.pop(0)
            if work.tries[goal.object_id] >= ATTEMPTS:
                continue
            if goal.target_id in work.failed:
                work.failed[goal.object_id] = "task_incomplete", f"{goal.target_id} is not where it belongs, so nothing is put there"
                continue
            if any(other.object_id == goal.target_id for other in queue):  # a tower grows from the bottom, also after a failure
                queue.append(goal)
                continue
            if work.tries[goal.object_id] and not (yield from self._look(f"I look again before I retry {goal.object_id}.")):
                return
            goal = work.goals.get(goal.object_id, goal)
            if satisfied(goal, self._objects):
                continue
            work.tries[goal.object_id] += 1
            if not (yield from self._fulfil(goal)):
                queue.append(work.goals.get(goal.object_id, goal))

    def _open(self) -> list[Goal]:
        open_goals = [goal for goal in self._work.goals.values() if goal.object_id not in self._work.failed]
        try:
            return plan(open_goals, self._objects)
        except DeskhandError as error:
            self._problems.append((error.code, str(error)))
            return []

    def _fulfil(self, goal: Goal) -> Generator[Call, Heard, bool]:
        """One thing to its place; False when it did not get there."""
        held = False
        picked = yield Call("pick", {"object_id": goal.object_id}, f"{goal.object_id} {goal.relation} {goal.target_id}")
        if picked.code == "already_holding":
            held = yield from self._holding_already(goal)
            if not held:
                picked = yield Call("pick", {"object_id": goal.object_id})
        if not (picked.ok or held):
            self._work.failed[goal.object_id] = picked.code, picked.message
            if picked.code in {"object_lost", "unknown_object"}:
                yield from self._find_again(goal)
            self._may_retry(goal)
            return False
        self._work.failed.pop(goal.object_id, None)
        placed = yield from self._put(goal)
        if placed.ok:
            self._done += 1
            return True
        self._work.failed[goal.object_id] = placed.code, placed.message
        yield from self._rescue(goal, placed)
        self._may_retry(goal)
        return goal.object_id not in self._work.failed and satisfied(self._work.goals.get(goal.object_id, goal), self._objects)

    def _may_retry(self, goal: Goal) -> None:
        """A failure counts as final only after the last attempt."""
        if self._work.tries[goal.object_id] < ATTEMPTS:
            self._work.failed.pop(goal.object_id, None)

    def _put(self, goal: Goal) -> Ask1:
        if goal.target_id == TABLE:
            item = next((item for item in self._objects if item["id"] == goal.object_id), None)
            spot = free_spot([other for other in self._objects if other["id"] != goal.object_id], item["size"] if item else (0.05, 0.05, 0.05))
            if spot is None:
                return Heard(False, None, "no_free_space", "there is no room on the desk.")
            return (yield Call("place_at", {"x": spot[0], "y": spot[1]}))
        if goal.relation == "in":
            return (yield Call("place_in", {"container_id": goal.target_id}))
        return (yield Call("place_on", {"target_id": goal.target_id}))

    def _holding_already(self, goal: Goal) -> Generator[Call, Heard, bool]:
        """Something is in the hand: True when it is what is wanted, else it is put down."""
        state = yield Call("get_robot_state", {})
        holding = str(state.data.get("holding") or "") if state.ok else ""
        if holding == goal.object_id:
            return True
        other = self._work.goals.get(holding)
        yield from self._put(other or Goal(holding, "on", TABLE))
        return False

    def _rescue(self, goal: Goal, placed: Heard) -> Script:
        """A place failed: when the thing is still in the hand, try again, another container where any will do, else the desk."""
        state = yield Call("get_robot_state", {}, f"Placing failed ({placed.message}); is it still in the hand?")
        if not state.ok or not state.data.get("holding"):
            return
        if placed.code not in {"no_free_space", "precondition_failed"}:
            again = yield from self._put(goal)
            if again.ok:
                self._work.failed.pop(goal.object_id, None)
                self._done += 1
                return
        if goal.object_id in self._work.free:
            for other in self._other_containers(goal):
                again = yield Call("place_in", {"container_id": other})
                if again.ok:
                    self._work.goals[goal.object_id] = replace(goal, target_id=other)
                    self._work.failed.pop(goal.object_id, None)
                    self._done += 1
                    yield Call(SUBMIT_PLAN, {"subgoals": [self._work.goals[goal.object_id].to_json()]})
                    return
        if goal.target_id != TABLE:
            yield from self._put(Goal(goal.object_id, "on", TABLE))
        state = yield Call("get_robot_state", {})
        if state.ok and state.data.get("holding"):
            yield Call("open_gripper", {}, "It cannot stay in the hand; nothing else worked.")

    def _other_containers(self, goal: Goal) -> list[str]:
        item = next((item for item in self._objects if item["id"] == goal.object_id), None)
        others = [other for other in self._objects if is_receptacle(other) and other["id"] != goal.target_id]
        return [str(other["id"]) for other in (order_near(others, item) if item else others)]

    def _find_again(self, goal: Goal) -> Script:
        """The id is gone; the only unclaimed thing of the same kind and colour is taken for it."""
        before = next((item for item in self._objects if item["id"] == goal.object_id), None)
        if before is None or not (yield from self._look(f"{goal.object_id} is not where it was; I look again.")):
            return
        if any(item["id"] == goal.object_id for item in self._objects):
            return
        alike = [
            item for item in self._objects if kind(item) == kind(before) and item.get("color") == before.get("color") and item["id"] not in self._work.goals
        ]
        if len(alike) == 1:
            new = replace(goal, object_id=str(alike[0]["id"]))
            heard = yield Call(SUBMIT_PLAN, {"subgoals": [new.to_json()]}, f"{new.object_id} looks like what was {goal.object_id}.")
            if heard.ok:
                self._work.goals[new.object_id] = new

    # ------------------------------------------------------------ the end

    def _end(self) -> Script:
        """Claim the end; when the claim is not proved, take up what is unmet, a bounded number of times."""
        for _ in range(ROUNDS):
            failures = [(code, f"{name}: {why}") for name, (code, why) in self._work.failed.items() if self._open_goal(name)]
            problems = self._problems + failures
            text = " ".join([*self._answers, *(f"({note}.)" for note in dict.fromkeys(self._notes)), *(why for _, why in dict.fromkeys(problems))])
            if problems:
                code = problems[0][0] if not self._done else "task_incomplete"
                yield from _finish("partly" if self._done else "refused", text, code)
                return
            status = "answered" if self._instruction.question else "done"
            heard = yield Call(FINISH, {"status": status, "summary": text or ("There was nothing to do." if not self._done else "")})
            unmet = (heard.data or {}).get("unmet", []) if not heard.ok else []
            if not unmet:
                self._problems.append((heard.code or "task_incomplete", heard.message))
            else:
                yield from self._take_up(unmet)
        yield from _finish("partly", " ".join(why for _, why in dict.fromkeys(self._problems)) or "It did not stay where it was put.", "task_incomplete")

    def _open_goal(self, name: str) -> bool:
        goal = self._work.goals.get(name)
        return goal is None or not satisfied(goal, self._objects)

    def _take_up(self, unmet: Sequence[dict[str, Any]]) -> Script:
        tries = {str(item["object_id"]): self._work.tries[str(item["object_id"])] for item in unmet}
        if all(count >= ATTEMPTS for count in tries.values()):
            self._problems += [("task_incomplete", f"{item['object_id']} is not {item['relation']} {item['target_id']}: {item['reason']}.") for item in unmet]
        elif (yield from self._look("The check says that something is missing.")):
            yield from self._pursue()


def _finish(status: str, summary: str, code: str = "") -> Script:
    yield Call(FINISH, {"status": status, "summary": summary, "code": code})


def _refusal(intents: Sequence[Intent]) -> tuple[str, str] | None:
    """Code and text when nothing of the instruction can be followed, or a part of it was not understood."""
    unclear = [item for item in intents if isinstance(item, Unclear)]
    if not intents or unclear:
        said = "; ".join(f"'{item.words}'" + (f" ({item.why})" if item.why else "") for item in unclear)
        return "not_understood", f"I did not understand {said or 'what to do'}. {CAPABILITIES}"
    if all(isinstance(item, Impossible) for item in intents):
        return "impossible", f"I cannot do this: {'; '.join(repr(item.words) for item in intents if isinstance(item, Impossible))}. {CAPABILITIES}"
    return None


def _groups(intents: Sequence[Intent]) -> list[list[Intent]]:
    """Placements that are rules of one job stay together; one that moves the same thing again, and everything else, comes after."""
    leaves = [item for item in intents if isinstance(item, Leave)]
    groups: list[list[Intent]] = []
    for item in intents:
        if isinstance(item, Leave):
            continue
        job = isinstance(item, Place | Tidy | Tower)
        if job and groups and isinstance(groups[-1][0], Place | Tidy | Tower) and not _again(item, groups[-1]):
            groups[-1].append(item)
        else:
            groups.append([item])
    for group in groups:
        if isinstance(group[0], Place | Tidy | Tower):
            group += leaves
    return groups


def _again(item: Intent, group: Sequence[Intent]) -> bool:
    """True when ``item`` moves a thing that the group has placed already: first there, then here."""
    if not isinstance(item, Place):
        return isinstance(item, Tower)
    named = [ref for other in group if isinstance(other, Place) for ref in other.things]
    return any(ref in named and not ref.rest for ref in item.things)


def _plan_text(goals: Sequence[Goal]) -> str:
    return "My plan: " + "; ".join(f"{goal.object_id} {goal.relation} {goal.target_id}" for goal in goals) if goals else "There is nothing to move."
