"""The end: a plan is kept, and the model's claim that it is done is held against it, by a look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deskhand.agent.completion import Completion
from deskhand.agent.controls import FINISH, SUBMIT_PLAN, TEXT_ONLY
from deskhand.agent.ends import Finished
from deskhand.agent.records import Step
from deskhand.agent.toolset import Guard, RobotToolset, Toolset
from deskhand.agent.witness import Witness
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.world.relations import TABLE

STATE = "get_robot_state"


class CompletionGuard(Guard):
    """Args:
    completion: what was promised, and what tools showed.
    robot: for what has to be known at the end.
    most: so many claims may be rejected; the last one ends the run.
    witness: keeps how the desk looked at first, for a judge.
    """

    def __init__(self, inner: Toolset, completion: Completion, robot: RobotToolset, most: int, witness: Witness | None) -> None:
        super().__init__(inner)
        self._completion, self._robot, self._most, self._witness = completion, robot, most, witness

    def call(self, step: Step) -> ToolResult:
        """Plans are verified first and kept when nobody refuses them; ``finish`` is judged; what the grammar reads otherwise is said beside a structure."""
        if step.tool == SUBMIT_PLAN:
            return self._submit(step)
        if step.tool == FINISH:
            return self._finish(step)
        result = self.inner.call(step)
        if self._witness is not None:
            self._witness.looked(step.tool, result)
        read = self._completion.advice(step.tool, step.arguments) if result.ok and isinstance(result.data, Mapping) else {}
        return replace(result, data={**result.data, **read}) if read else result

    def told(self, words: str) -> None:
        """The first instruction alone is no measure any more."""
        self._completion.told(words)
        self.inner.told(words)

    def heard(self, name: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """What tools show, and what was moved."""
        self._completion.heard(name, arguments, result, moves=self._robot.card(name).get("effects") == "motion")

    def account(self, code: str, why: str) -> str:
        """What is proved and what is not. After a cancel the arm is at rest: what the gripper holds is asked."""
        if code == "cancelled" and self._completion.moved and self._robot.card(STATE):
            try:
                self._completion.state(self._robot.asked(STATE, {}, always=True))
            except DeskhandError as error:
                why = f"{why} What the gripper holds is not known: {error}"
        return self._completion.facts(self.inner.account(code, why[:1].upper() + why[1:]))

    def _submit(self, step: Step) -> ToolResult:
        subgoals = [{"relation": "on", "target_id": TABLE, **goal} for goal in step.arguments["subgoals"]]
        if problem := self._completion.problems(subgoals):
            return problem
        accepted = self.inner.call(replace(step, arguments={**step.arguments, "subgoals": subgoals}))
        return self._completion.submit(subgoals, bool(step.arguments.get("keep", False))) if accepted.ok else accepted

    def _finish(self, step: Step) -> ToolResult:
        completion, arguments = self._completion, dict(step.arguments)
        if arguments["status"] == TEXT_ONLY:
            arguments["status"] = "answered" if completion.question or not completion.planned_or_moved else "done"
        owed = self.inner.call(replace(step, arguments=arguments))
        if not owed.ok and completion.rejected < self._most - 1:
            completion.rejected += 1
            return owed
        verdict = completion.judge(str(arguments["status"]), str(arguments["summary"]), str(arguments.get("code", "")))
        if verdict.final:
            raise Finished(verdict.success, verdict.code, verdict.summary, verdict.agreed_by)
        if completion.rejected >= self._most:
            text = f"The end was claimed {completion.rejected} times and never proved: {verdict.summary}"
            raise Finished(False, "task_incomplete", completion.facts(text))
        hint = "Do what is unmet, or finish with status partly and say why."
        return ToolResult(verdict.code, verdict.summary, {"unmet": verdict.unmet}, retry=True, hint=hint)
