"""What of a plan the gripper does not reach as it lies now: said beside the plan, no reason to refuse it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deskhand.agent.controls import SUBMIT_PLAN
from deskhand.agent.desk import TaskDesk
from deskhand.agent.records import Step
from deskhand.agent.toolset import Guard, RobotToolset, Toolset
from deskhand.etp.base import ToolResult

REACH = "check_reachable"
MOST_DOUBTS = 4
"""So many objects of a plan are asked after; each takes the time of finding grasps."""


class ReachGuard(Guard):
    """Args:
    desk: what is where, followed by somebody else.
    robot: is asked what it reaches.
    """

    def __init__(self, inner: Toolset, desk: TaskDesk, robot: RobotToolset) -> None:
        super().__init__(inner)
        self._desk, self._robot = desk, robot

    def call(self, step: Step) -> ToolResult:
        """A plan that was accepted is answered with what is doubtful about it."""
        result = self.inner.call(step)
        if step.tool != SUBMIT_PLAN or not result.ok or REACH not in self._robot.shown.by_name:
            return result
        doubts = self._doubts([str(goal["object_id"]) for goal in step.arguments["subgoals"] if goal["object_id"] not in result.data["already_done"]])
        return replace(result, data={**result.data, "doubts": doubts}) if doubts else result

    def _doubts(self, names: Sequence[str]) -> list[dict[str, str]]:
        doubts = []
        for name in dict.fromkeys(names[:MOST_DOUBTS]):
            if name == self._desk.held or any(item.get("support") == name for item in self._desk.objects.values()):
                continue
            seen = self._robot.asked(REACH, {"object_id": name})
            if seen.ok and not seen.data.get("reachable", True):
                doubts.append({"object_id": name, "reason": str(seen.data.get("reason", ""))[:200]})
        return doubts
