"""Keeps what was promised and what tools showed, and judges the model's claim that it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deskhand.agent.expectations import Expectations
from deskhand.agent.licence import FREE
from deskhand.agent.reappraisal import Reappraisal
from deskhand.errors import ERROR_NUMBERS
from deskhand.etp.base import ToolResult
from deskhand.language.intents import Help
from deskhand.language.parser import parse
from deskhand.language.parser import understood as fully_understood
from deskhand.language.resolve import Seen, held_object, name_of
from deskhand.planning.already import all_so
from deskhand.planning.goals import Goal, satisfied
from deskhand.planning.planner import plan
from deskhand.planning.verifier import verify
from deskhand.world.acts import LOOKS
from deskhand.world.model import WorldModel
from deskhand.world.relations import TABLE

PLAN_STRUCTURE = "plan_structure"


@dataclass(frozen=True)
class Verdict:
    """``final`` ends the run; otherwise ``summary`` and ``unmet`` go back to the model."""

    final: bool
    success: bool
    code: str
    summary: str
    unmet: list[dict[str, Any]] = field(default_factory=list)


class Claims:
    """Sub-goals, acts and looks of one run."""

    def __init__(self, instruction: str, call: Callable[[str, Mapping[str, Any]], ToolResult], world: WorldModel) -> None:
        """``call`` calls a tool, of which ``world`` is then told before these claims are."""
        self._call, self._world = call, world
        self._goals: dict[str, Goal] = {}
        self._planned = False
        self._structure: int | None = None
        self._asked = False
        self._acts: dict[str, ToolResult] = {}
        self._reappraisal = Reappraisal()
        self._turned_out: dict[str, tuple[str, ...]] = {}
        self._unmet: dict[str, str] = {}
        self._checked = False
        self.moved = False
        self.rejected = 0
        self._instruction = understood = parse(instruction)
        self._expected = Expectations(understood)
        self.question = understood.question
        self._unclear = not fully_understood(understood)
        self._help = any(isinstance(item, Help) for item in understood.intents)

    # ------------------------------------------------------------ what happens

    def heard(self, name: str, arguments: Mapping[str, Any], result: ToolResult, moves: bool) -> None:
        """A tool was called."""
        data = result.data if result.ok and isinstance(result.data, Mapping) else {}
        if "objects" in data and name in {*LOOKS, "find_objects"}:
            if name == "find_objects":  # a part of them, as the skills' own looks have shown them since
                self._expected.seen_again(data["objects"])
            else:
                self._expected.looked(list(data["objects"]))
                self._reappraise()
        self._asked = self._asked or (name == "get_robot_state" and result.ok)
        if name == PLAN_STRUCTURE and result.ok and isinstance(result.data, Mapping):
            self._structure = len(result.data.get("steps") or ())
        if moves:
            self.moved = True
            self._checked = False
            self._acts[name] = result
        if name == "pick" and result.ok:
            self._follow(str(arguments.get("object_id", "")))

    def _follow(self, asked: str) -> None:
        """The sub-goal of what was picked under another id, and is gone under the old one, goes with it."""
        name = self._world.called_now(asked)
        if name != asked and asked not in self._world.objects and asked in self._goals:
            goal = self._goals.pop(asked)
            self._goals.setdefault(name, replace(goal, object_id=name))

    @property
    def _objects(self) -> list[Seen]:
        return self._world.visible()

    @property
    def _looked(self) -> bool:
        return self._world.looked

    @property
    def _holding(self) -> str:
        return self._world.held

    @property
    def _placed(self) -> dict[str, Goal]:
        return {name: Goal(name, put.relation, put.target) for name, put in self._world.put.items()}

    def _reappraise(self) -> None:
        """Sub-goals of what has turned out to be a part of something else are none; the things in a heap get those that the words give them, else its own."""
        self._reappraisal.looked(self._objects, self._world.handled)
        for name, instead in self._reappraisal.turned_out.items():
            goal = self._goals.pop(name, None)
            if goal is None:
                continue
            self._turned_out[name] = instead
            if len(instead) > 1:
                asked = self._expected.asked_of(instead, self._objects)
                for other in instead:
                    self._goals.setdefault(other, asked.get(other) or replace(goal, object_id=other))

    def told(self) -> None:
        """The user has said more: what the first instruction alone asks for is no measure any more."""
        self._instruction = parse("")
        self._expected = Expectations(self._instruction)

    def problems(self, subgoals: Sequence[Mapping[str, Any]]) -> ToolResult | None:
        """What is wrong with sub-goals as the desk was last seen; None when they are sound."""
        if not self._looked:
            return ToolResult("precondition_failed", "nobody has looked at the desk yet.", retry=True, hint="Call detect_objects first.")
        goals = [Goal.from_json(item) for item in subgoals]
        objects = self._objects
        if self._holding and all(item["id"] != self._holding for item in objects):
            objects = [*objects, held_object(self._holding)]
        problems = verify(goals, objects)
        if not problems and (asked := self._expected.contradicted(goals, objects)):
            return _unmet("impossible", "the instruction says otherwise", asked)
        if problems:
            text = " ".join(problem.message for problem in problems)
            return ToolResult(
                "impossible", text, {"problems": [problem.to_json() for problem in problems]}, hint="Submit the plan without these sub-goals, or corrected."
            )
        return None

    def misread(self, name: str, arguments: Mapping[str, Any]) -> ToolResult | None:
        """A call that plans something else to be built than the instruction plainly says."""
        wanted = self._expected.misread(arguments) if name == PLAN_STRUCTURE else {}
        if not wanted:
            return None
        text = f"the instruction asks for {', '.join(f'{key} {value}' for key, value in wanted.items())}."
        return ToolResult("invalid_input", text, {"arguments": wanted}, retry=True, hint="Call it with these arguments.")

    def submit(self, subgoals: Sequence[Mapping[str, Any]], keep: bool = False) -> ToolResult:
        """Take over sub-goals that are sound (:meth:`problems`): beside those of the plan before (``keep``), or in its place."""
        goals = [Goal.from_json(item) for item in subgoals]
        self._planned = True
        self._checked = False
        if keep:
            self._replace_lost(goals)
        else:
            self._goals.clear()
        self._goals |= {goal.object_id: goal for goal in goals}
        ordered = plan(goals, self._objects)
        return ToolResult(
            "", "", {"order": [goal.to_json() for goal in ordered], "already_done": [goal.object_id for goal in goals if satisfied(goal, self._objects)]}
        )

    def _replace_lost(self, goals: Sequence[Goal]) -> None:
        """A new thing with the goal of one that is seen no more, and was not put there, is that thing under a new id."""
        seen = {str(item["id"]) for item in self._objects}
        for goal in goals:
            lost = [old for old in self._goals.values() if old.object_id not in seen and old.object_id not in self._placed and old.object_id != self._holding]
            alike = [old for old in lost if (old.relation, old.target_id) == (goal.relation, goal.target_id)]
            if goal.object_id not in self._goals and alike:
                del self._goals[alike[0].object_id]

    # ------------------------------------------------------------ the end

    def judge(self, status: str, summary: str, code: str) -> Verdict:
        """Is the claim true? ``done`` is proved by a look."""
        if status == "answered":
            return self._judge_answer(summary)
        if status in {"partly", "refused"}:
            fallback = "task_incomplete" if status == "partly" else "impossible"
            code = code if code in ERROR_NUMBERS and code != "internal_error" else fallback
            if self.moved and self._goals:
                self._check()
            return Verdict(True, False, code, self.facts(summary) if self.moved else summary)
        if lost := self._expected.missing(self._objects):
            return self._reject("unknown_object", " ".join(lost))
        if self._expected.builds and (refusal := self._unbuilt()):
            return refusal
        goals = self._goals or self._placed
        if goals:
            return self._judge_goals(summary)
        if self._acts:
            return self._judge_acts(summary)
        if self._planned and self._looked and self._expected.moves:
            return self._reject_overlooked(self._objects) or Verdict(True, True, "", summary)
        if self._planned and self._looked and all_so(self._instruction, self._objects):
            return Verdict(True, True, "", summary)
        if self.question:
            return self._judge_answer(summary)
        return self._reject("precondition_failed", "nothing was done: there are no sub-goals and no motion.")

    def _unbuilt(self) -> Verdict | None:
        """A structure is done when it was planned as the instruction says, and its places are the sub-goals that a look then proves."""
        if self._structure is None:
            return self._reject("precondition_failed", "the instruction asks for a structure, and nobody has planned it with plan_structure.")
        places = sum(goal.position is not None for goal in self._goals.values())
        if places < self._structure:
            return self._reject("precondition_failed", f"plan_structure has {self._structure} steps, and {places} of them are sub-goals with a position.")
        return None

    def _judge_answer(self, summary: str) -> Verdict:
        if not (self.question or self._help):
            return self._reject("precondition_failed", "the instruction asks for something to be done, not for an answer.")
        if not self._looked and not self._help and not self._asked:
            return self._reject("precondition_failed", "nobody has looked at the desk; an answer needs a look.")
        return Verdict(True, True, "", summary)

    def _judge_goals(self, summary: str) -> Verdict:
        result = self._check()
        if result is not None:
            return self._reject(result.code, f"the goal could not be checked: {result.message}")
        if self._unmet:
            unmet = [{**goal.to_json(), "reason": self._unmet[goal.object_id]} for goal in self._all().values() if goal.object_id in self._unmet]
            return self._reject(
                "task_incomplete", "; ".join(f"{item['object_id']} is not {item['relation']} {item['target_id']}: {item['reason']}" for item in unmet), unmet
            )
        last = self._call("find_objects", {})  # what the check has seen, also things that nobody had planned for
        seen = list(last.data["objects"]) if last.ok and isinstance(last.data, Mapping) else self._objects
        if self._expected.doubtful(self._all().values(), seen):
            again = self._call("detect_objects", {})
            seen = list(again.data["objects"]) if again.ok and isinstance(again.data, Mapping) else seen
        return self._reject_overlooked(seen) or Verdict(True, True, "", self.facts(summary))

    def _reject_overlooked(self, objects: list[Seen]) -> Verdict | None:
        overlooked = self._expected.overlooked(self._all().values(), objects)
        if not overlooked:
            return None
        unmet = [{**goal.to_json(), "reason": "the instruction asks for it, and no sub-goal says so"} for goal in overlooked]
        text = "; ".join(f"{goal.object_id} {goal.relation} {goal.target_id}" for goal in overlooked)
        return self._reject("task_incomplete", f"the instruction also asks for: {text}", unmet)

    def _judge_acts(self, summary: str) -> Verdict:
        failed = {name: result for name, result in self._acts.items() if not result.ok}
        if failed:
            return self._reject("task_incomplete", "; ".join(f"{name} failed: {result.message}" for name, result in failed.items()))
        if self._holding:
            state = self._call("get_robot_state", {})
            if not (state.ok and isinstance(state.data, Mapping) and state.data.get("holding")):
                return self._reject("task_incomplete", f"the gripper does not hold {self._holding}.")
        if self._unclear and not set(self._acts) - FREE:
            return self._reject("precondition_failed", f"{', '.join(self._acts)} alone does nothing that the instruction asks for.")
        if self._expected.moves:
            if not self._looked:
                return self._reject("precondition_failed", "nobody has looked at the desk, and the instruction asks for things to be moved.")
            seen = self._call("detect_objects", {})
            if not seen.ok:
                return self._reject(seen.code, f"the goal could not be checked: {seen.message}")
        return self._reject_overlooked(self._objects) or Verdict(True, True, "", summary)

    def _reject(self, code: str, why: str, unmet: list[dict[str, Any]] | None = None) -> Verdict:
        self.rejected += 1
        return Verdict(False, False, code, why, unmet or [])

    def _all(self) -> dict[str, Goal]:
        return self._goals or self._placed

    def _check(self) -> ToolResult | None:
        """A fresh look at all sub-goals; the failed result when that was not possible."""
        goals = list(self._all().values())
        result = self._call("check_goal", {"conditions": [goal.condition() for goal in goals]})
        if not result.ok:
            return result
        self._unmet = {str(item["object_id"]): str(item.get("reason", "")) for item in result.data["unmet"]}
        if not self._unmet and not result.data["satisfied"]:
            self._unmet = {goal.object_id: "the check says that the goal is not satisfied" for goal in goals}
        self._checked = True
        return None

    def facts(self, text: str) -> str:
        """What is proved and what is not, in words, around the model's own ``text``."""
        goals = self._all()
        if self._checked:
            done = [goal for goal in goals.values() if goal.object_id not in self._unmet]
            proof = "checked by a look"
        else:
            done = [goal for goal in goals.values() if self._placed.get(goal.object_id) == replace(goal, position=None)]
            proof = "as each was put down, not checked again since"
        left = [goal for goal in goals.values() if goal not in done]
        parts = [f"Done ({proof}): {self._sentence(done)}."] if done else []
        if left:
            parts.append(f"Not done: {self._sentence(left)}.")
        elif not done and self.moved and goals:
            parts.append("Nothing was done.")
        parts += [f"{name} turned out to be {' and '.join(map(self._name, instead))}." for name, instead in self._turned_out.items()]
        if self._holding:
            parts.append(f"The gripper holds {self._name(self._holding)}.")
        return " ".join([*parts, text.strip()]).strip()

    def _sentence(self, goals: Sequence[Goal]) -> str:
        where: dict[tuple[str, str], list[str]] = {}
        for goal in goals:
            where.setdefault((goal.relation, goal.target_id), []).append(self._name(goal.object_id))
        return "; ".join(f"{', '.join(names)} {relation.replace('_', ' ')} {self._name(target)}" for (relation, target), names in where.items())

    def _name(self, object_id: str) -> str:
        if object_id == TABLE:
            return "the desk"
        item = next((item for item in self._objects if item["id"] == object_id), None)
        return f"the {name_of(item)} ({object_id})" if item else object_id


def _unmet(code: str, why: str, goals: Sequence[Goal]) -> ToolResult:
    """A plan is refused for what it should say instead."""
    text = "; ".join(f"{goal.object_id} {goal.relation} {goal.target_id}" for goal in goals)
    unmet = [{**goal.to_json(), "reason": "the instruction asks for it"} for goal in goals]
    return ToolResult(code, f"{why}: {text}.", {"unmet": unmet}, retry=True, hint="Submit the plan with these sub-goals.")
