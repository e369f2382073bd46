"""From exceptions to results: which codes are worth another try, and what to do instead."""

from __future__ import annotations

from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.etp.predicates import PreconditionFailed
from deskhand.etp.validation import InvalidArguments


class ToolError(DeskhandError):
    """A tool's failure with what it measured; ``data`` is JSON-able and reaches the caller."""

    def __init__(self, code: str, message: str, *, data: dict[str, Any] | None = None, retry: bool = False, hint: str = "") -> None:
        super().__init__(code, message, retry=retry, hint=hint)
        self.data = data or {}


_AGAIN = "The same call may succeed when it is made again."
_LOOK = "Look again with detect_objects before the next try."
ADVICE: dict[str, tuple[bool, str]] = {
    "busy": (True, "Wait for the other call to end, or stop it."),
    "timeout": (True, _AGAIN),
    "cancelled": (True, ""),
    "stale_data": (True, "Is the robot's driver running? Try again in a second."),
    "no_frame": (True, "Is the camera running? Try again in a second."),
    "no_table": (True, "Move the arm out of the camera's view with move_home, then look again."),
    "unknown_object": (False, "Call detect_objects and use one of its ids."),
    "no_grasp": (False, "Move what is in the way, or choose another object."),
    "no_ik_solution": (False, "Choose a nearer position or another approach."),
    "start_in_collision": (True, "Call detect_objects, then move_home."),
    "goal_in_collision": (False, "Choose another goal, or move what is in the way."),
    "planning_failed": (True, "Try again, or move what is in the way."),
    "path_incomplete": (True, "Try again, or choose another goal."),
    "unknown_plan": (False, "Plan again and use the new plan_id."),
    "plan_used": (False, "A plan can be used once: plan again."),
    "plan_expired": (False, "The robot or the scene changed: plan again."),
    "tracking_error": (True, _LOOK),
    "stalled": (True, _LOOK),
    "contact": (True, _LOOK),
    "controller_failed": (True, "Call move_home, look again, then try again."),
    "gripper_failed": (True, "Call open_gripper, then try again."),
    "envelope_violated": (False, "Choose another goal: the safety envelope does not allow this motion."),
    "limits_violated": (False, "Choose another goal, or a lower speed."),
    "safety_stop": (False, "Only the operator can reset the stop."),
    "watchdog": (False, "Only the operator can reset the stop."),
    "grasp_failed": (True, _LOOK),
    "object_lost": (True, _LOOK),
    "place_failed": (True, _LOOK),
    "no_free_space": (False, "Choose another place, or make room first."),
    "not_holding": (False, "Pick something first."),
    "already_holding": (False, "Place what is held first."),
    "node_unavailable": (True, "A part of the robot is not running; tell the operator."),
}
"""Code -> whether another try may help, and what to do; used where the error itself does not say."""


def failure(error: BaseException, tool: str, duration: float) -> ToolResult:
    """The result of a call that ended with ``error``."""
    if not isinstance(error, DeskhandError):
        text = f"{tool} failed: {type(error).__name__}: {error}"
        return ToolResult("tool_failed", text, hint="This is a fault of the tool; tell the operator.", duration=duration)
    retry, hint = ADVICE.get(error.code, (False, ""))
    details: dict[str, Any] = {}
    if isinstance(error, InvalidArguments):
        details["problems"] = [problem.to_json() for problem in error.problems]
    if isinstance(error, PreconditionFailed):
        details["precondition"] = error.predicate
    data = error.data if isinstance(error, ToolError) else None
    return ToolResult(error.code, error.message, data, error.retry or retry, error.hint or hint, duration, details)
