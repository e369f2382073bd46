"""The user's safety rules between a model's decision and the arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.agent.controls import FINISH, SUBMIT_PLAN
from deskhand.agent.desk import TaskDesk
from deskhand.agent.records import Step
from deskhand.agent.rules import NEEDS_NO_LOOK, SafetyRules
from deskhand.agent.toolset import Guard, Refusal, RobotToolset, Toolset
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.planning.goals import Goal, satisfied
from deskhand.planning.planner import plan
from deskhand.world.acts import LOOKS


class PolicyGuard(Guard):
    """Args:
    rules: of the user.
    desk: what is where, followed by somebody who is told of results after this.
    robot: whose cards say what a tool does.
    """

    def __init__(self, inner: Toolset, rules: SafetyRules, desk: TaskDesk, robot: RobotToolset) -> None:
        super().__init__(inner)
        self._rules, self._desk, self._robot = rules, desk, robot

    def call(self, step: Step) -> ToolResult:
        """Answer a decision unless it breaks a rule, or claims the end while a rule asks for more."""
        if step.tool == SUBMIT_PLAN:
            refusal: ToolResult | None = self._broken_by_plan(step.arguments["subgoals"])
        elif step.tool == FINISH:
            refusal = self._owed() if step.arguments["status"] == "done" else None
        else:
            refusal = self._broken_by(step) if self._robot.card(step.tool).get("effects") == "motion" else None
        return refusal or self.inner.call(step)

    def heard(self, name: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Motions and looks that were made are what rules over time speak of."""
        if result.ok and (self._robot.card(name).get("effects") == "motion" or name in LOOKS):
            self._rules.done(name, arguments, self._desk)

    def _broken_by(self, step: Step) -> Refusal | None:
        if not self._rules:
            return None
        if not self._desk.looked and step.tool not in NEEDS_NO_LOOK:
            return Refusal("precondition_failed", "there are safety rules, and nobody has looked what is on the desk.", retry=True, hint="Look first.")
        broken = self._rules.broken_by(step.tool, step.arguments, self._desk)
        if broken is None:
            return None
        hint = "Do what the rule asks for first, choose another way, or leave it undone and say so at the end."
        return Refusal("impossible", str(broken), {"rule": broken.rule}, hint=hint)

    def _broken_by_plan(self, subgoals: Sequence[Mapping[str, Any]]) -> Refusal | None:
        """The order in which they are given is tried, then the planner's own."""
        objects = list(self._desk.objects.values())
        goals = [goal for goal in map(Goal.from_json, subgoals) if not satisfied(goal, objects)]
        broken = self._rules.broken_by_plan(goals, self._desk)
        if not broken:
            return None
        try:
            ordered = plan(goals, objects)
        except DeskhandError:
            ordered = goals
        if not self._rules.broken_by_plan(ordered, self._desk):
            return None
        hint = "Submit another order, add what the rule asks for first, or leave the sub-goal out and say so at the end."
        return Refusal("impossible", str(broken), {"rule": broken.rule, "step": str(broken.step)}, hint=hint)

    def _owed(self) -> ToolResult | None:
        """Why the end cannot be claimed yet."""
        owed = self._rules.owed(self._desk) if self._rules else []
        if not owed:
            return None
        text = f"the safety rule {owed[0]!r} asks for something that has not been done."
        return ToolResult("task_incomplete", text, {"rules": owed}, retry=True, hint="Do it, or finish with status partly and say so.")
