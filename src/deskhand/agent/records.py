"""What a run leaves behind: steps as data, what failed and whose fault it was, the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from deskhand.errors import outcome_of

MISSED_CALL = "missed_call"
INVALID_CALL = "invalid_call"
WRONG_CHOICE = "wrong_choice"
IGNORED_OUTPUT = "ignored_output"
TOOL_ERROR = "tool_error"
FAILURES = (MISSED_CALL, INVALID_CALL, WRONG_CHOICE, IGNORED_OUTPUT, TOOL_ERROR)
"""Classes of failure: no tool where one was needed; an unknown tool or arguments that do not fit; a tool that made no sense then;
a result that was not heeded; a tool that failed though it was rightly called."""

_INVALID = frozenset(("unknown_tool", "invalid_arguments", "invalid_input"))
_WRONG = frozenset(("precondition_failed", "not_holding", "already_holding", "permission_denied", "impossible"))


@dataclass
class Budgets:
    """Limits of one run; 0 tokens or ``cost`` (in the currency of the profile's prices) mean no limit.

    Time is wall clock [s]; ``answer_seconds`` is what a question to the user waits.
    """

    tool_calls: int = 150
    replies: int = 200
    seconds: float = 1200.0
    tokens: int = 0
    cost: float = 0.0
    rejected_claims: int = 4
    invalid_in_a_row: int = 5
    refusals: int = 12
    repeats: int = 4
    answer_seconds: float = 120.0


@dataclass
class Step:
    """One decision of the model and what came of it.

    Attributes:
        needed: whether a tool was needed then.
        valid: whether the tool exists and its arguments fit.
        used: whether a later step made use of the result; None while that is open or where there is nothing to use.
        latency: of the model [s]; ``duration``: of the tool [s].
        prompt_chars: of the prompt, tools and schema included; ``prompt_tokens`` is 0 where the server does not count. ``cost``: of the reply.
        prompt_digest: of the conversation that was shown (SHA-256, first half); with the steps before it that can be put together again.
        prompt, said: of a model with a compact prompt: what it was shown for this step, and what it wrote; empty where the conversation (the steps before)
            is what was shown, and where nothing was asked, for the call follows from the plan.
        overhead: CPU time [s] of the loop itself since the step before, outside of model and tools.
        model: the one that answered. ``repairs``: what was put right in its call (repair.py).
        failure: one of :data:`FAILURES`, or empty.
        finished: False in the report that is made when the call begins.
        foreign: whether the result may hold text that neither the user nor the robot wrote; it is marked so for the model.
        pictures: that were shown with the result: digest (SHA-256, first half), size [px], bytes.
        cached_tokens: of ``prompt_tokens`` those that the server had kept.
        question, options: what the user is asked now, and the answers to choose from; empty else.
    """

    index: int
    tool: str
    arguments: dict[str, Any]
    text: str = ""
    needed: bool = True
    valid: bool = True
    ok: bool = True
    code: str = ""
    message: str = ""
    data: Any = None
    used: bool | None = None
    latency: float = 0.0
    duration: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_chars: int = 0
    prompt_digest: str = ""
    prompt: str = ""
    said: str = ""
    overhead: float = 0.0
    cost: float = 0.0
    model: str = ""
    repairs: list[str] = field(default_factory=list)
    failure: str = ""
    finished: bool = False
    foreign: bool = False
    pictures: list[dict[str, Any]] = field(default_factory=list)
    cached_tokens: int = 0
    question: str = ""
    options: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class TaskOutcome:
    """How a task ended. ``success`` is only true when a look proved what was planned, and somebody independent of the model agreed that this is what was asked
    (``agreed_by``: grammar or judge); ``code`` is empty then.

    ``errors`` are the codes of the tool calls that failed, in order; ``failures`` counts the classes.
    """

    success: bool
    code: str
    summary: str
    steps: tuple[Step, ...] = ()
    tool_calls: int = 0
    errors: tuple[str, ...] = ()
    failures: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    seconds: float = 0.0
    agreed_by: str = ""

    @property
    def outcome(self) -> str:
        """``done``, ``unverified`` or ``failed``."""
        return outcome_of(self.success, self.code)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"outcome": self.outcome, **asdict(self)}


def classify(step: Step, earlier: Sequence[Step]) -> str:
    """Whose fault a failed step was; ``earlier`` are the steps before it."""
    if step.ok:
        return ""
    if step.code in _INVALID or not step.valid:
        return INVALID_CALL
    same = [other for other in earlier if other.tool == step.tool and other.arguments == step.arguments]
    if same and not same[-1].ok and same[-1] is (earlier[-1] if earlier else None) and same[-1].code == step.code and step.code in _WRONG:
        return IGNORED_OUTPUT
    if step.code == "unknown_object":
        return IGNORED_OUTPUT if any(other.tool == "detect_objects" and other.ok for other in earlier) else WRONG_CHOICE
    return WRONG_CHOICE if step.code in _WRONG else TOOL_ERROR


def mark_used(steps: Sequence[Step]) -> None:
    """Set ``used``: an id or plan that the result gave turns up in a later step's arguments or text; a failure was answered by another call."""
    for position, step in enumerate(steps):
        later = steps[position + 1 :]
        if not step.ok:
            step.used = bool(later) and (later[0].tool, later[0].arguments) != (step.tool, step.arguments) if later else None
            continue
        names = _names(step.data)
        step.used = any(name in f"{other.arguments} {other.text}" for other in later for name in names) if names else None


def _names(data: Any) -> set[str]:
    """Ids in a result."""
    if isinstance(data, dict):
        own = {str(value) for key, value in data.items() if key in {"id", "plan_id", "object_id"} and value}
        return own.union(*(_names(value) for value in data.values())) if data else own
    return set().union(*(_names(value) for value in data)) if isinstance(data, list | tuple) and data else set()


def failure_counts(steps: Sequence[Step]) -> dict[str, int]:
    """How often each class of failure came up."""
    return {name: count for name in FAILURES if (count := sum(step.failure == name for step in steps))}
