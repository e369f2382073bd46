"""One exception base with a stable code; the numbers that ROS interfaces carry for those codes.

Core code raises :class:`DeskhandError`; nodes put ``number`` and ``str(error)`` into ``error_code`` and ``error_message``
of a response; clients turn them back into the same exception by :func:`error_from_number`. A message says what was wrong,
what is valid, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

OK = 0

# Each server has its own hundred, so that a bare number in a log says who answered.
ERROR_NUMBERS: dict[str, int] = {
    # any server
    "invalid_input": 1,
    "internal_error": 2,
    "node_unavailable": 3,
    "timeout": 4,
    "cancelled": 5,
    "busy": 6,
    "stale_data": 7,
    "config_error": 8,
    "missing_dependency": 9,
    # perception
    "no_frame": 100,
    "no_table": 101,
    "unknown_object": 102,
    "calibration_failed": 103,
    "camera_moved": 104,
    "not_steady": 105,
    # grasping
    "no_grasp": 200,
    # motion
    "no_ik_solution": 300,
    "start_in_collision": 301,
    "goal_in_collision": 302,
    "planning_failed": 303,
    "path_incomplete": 304,
    "limits_violated": 305,
    "envelope_violated": 306,
    "unknown_plan": 307,
    "plan_used": 308,
    "plan_expired": 309,
    "tracking_error": 310,
    "stalled": 311,
    "controller_failed": 312,
    "scene_error": 313,
    "contact": 314,
    # safety
    "safety_stop": 400,
    "watchdog": 401,
    "paused": 402,
    "clock_jumped": 403,
    # tools
    "unknown_tool": 500,
    "invalid_arguments": 501,
    "precondition_failed": 502,
    "permission_denied": 503,
    "tool_failed": 504,
    "invalid_output": 505,
    "unknown_resource": 506,
    "unknown_watch": 507,
    "limit_exceeded": 508,
    "access_denied": 509,
    # skills
    "grasp_failed": 600,
    "object_lost": 601,
    "place_failed": 602,
    "no_free_space": 603,
    "gripper_failed": 604,
    "not_holding": 605,
    "already_holding": 606,
    "wipe_failed": 607,
    "no_handle": 608,
    "not_moved": 609,
    "no_lid": 610,
    # tasks and the agent
    "empty_instruction": 700,
    "not_understood": 701,
    "impossible": 702,
    "budget_exceeded": 703,
    "model_failed": 704,
    "task_incomplete": 705,
    "scene_file_error": 706,
    "no_answer": 707,
    "recording_failed": 708,
    "not_called": 709,
    "unverified": 710,
    # memory
    "memory_busy": 800,
    "memory_broken": 801,
    # drivers of arms
    "device_unavailable": 910,
    "device_busy": 911,
    "servo_fault": 912,
}
_CODES = {number: code for code, number in ERROR_NUMBERS.items()}


DONE, UNVERIFIED, FAILED = "done", "unverified", "failed"
"""How a task can end; see :func:`outcome_of`."""


def outcome_of(success: bool, code: str) -> str:
    """``done``; ``unverified``: what was planned holds, or the acts succeeded, and nobody beside the model said that this is what was asked; ``failed``."""
    return DONE if success else UNVERIFIED if code == UNVERIFIED else FAILED


class DeskhandError(Exception):
    """An error with a stable ``code`` (a key of :data:`ERROR_NUMBERS`).

    ``retry`` says whether the same call may succeed when it is made again; ``hint`` says what to do instead.
    """

    def __init__(self, code: str, message: str, *, retry: bool = False, hint: str = "") -> None:
        if code not in ERROR_NUMBERS:
            raise ValueError(f"unknown error code {code!r}; valid: {', '.join(ERROR_NUMBERS)}")
        super().__init__(message)
        self.code = code
        self.retry = retry
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), self.args, self.__dict__)  # by its arguments alone no other process could make it again

    @property
    def message(self) -> str:
        """The text without the code."""
        return str(self.args[0])

    @property
    def number(self) -> int:
        """The number that stands for ``code`` in ROS interfaces."""
        return ERROR_NUMBERS[self.code]

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def _revived(kind: type[DeskhandError], args: tuple[Any, ...], state: dict[str, Any]) -> DeskhandError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def error_from_number(number: int, message: str) -> DeskhandError:
    """The exception that a server described by ``error_code`` and ``error_message``."""
    return DeskhandError(_CODES.get(number, "internal_error"), message or f"error {number}")


def explain(error: ValidationError) -> str:
    """The first few problems of a pydantic error, in one line."""
    parts = []
    for item in error.errors(include_url=False, include_input=False)[:5]:
        where = ".".join(str(step) for step in item["loc"])
        parts.append(f"{where}: {item['msg']}" if where else item["msg"])
    return "; ".join(parts)
