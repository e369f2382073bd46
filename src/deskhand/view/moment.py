"""What the page shows at one time, who gives it, and who takes the operator's word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from deskhand.geometry import Array
from deskhand.types import Image, SafetyStatus, Scene, Trajectory

WAITS, RUNS, DONE, FAILED = "waits", "runs", "done", "failed"


@dataclass(frozen=True)
class Row:
    """One line of the step list: a tool call, or a decision of the agent that is none.

    Attributes:
        call: id of the tool call; empty for what is none.
        step: number of the agent's step; 0 for calls of others.
        why: what the agent said with it.
        state: :data:`WAITS` for the operator's leave, :data:`RUNS`, :data:`DONE` or :data:`FAILED`.
        code, message: of a call that failed.
        started: wall clock [s since the epoch]; ``seconds`` that it took.
        progress: how far it is.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call: str = ""
    step: int = 0
    caller: str = ""
    why: str = ""
    state: str = RUNS
    code: str = ""
    message: str = ""
    started: float = 0.0
    seconds: float | None = None
    progress: str = ""


@dataclass(frozen=True)
class Waiting:
    """A call that waits for the operator's leave; ``id`` is the request's."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    effects: str = ""
    caller: str = ""


@dataclass(frozen=True)
class Task:
    """The instruction that is or was carried out; ``code`` is empty unless it failed."""

    instruction: str = ""
    running: bool = False
    success: bool | None = None
    code: str = ""
    summary: str = ""


@dataclass(frozen=True)
class Question:
    """What the task wants to know, and the answers to choose from, if they are few."""

    text: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hand:
    """An open hand at a grasp: ``pose`` world_T_tcp, ``width`` [m] between the pads."""

    pose: Array
    width: float


@dataclass(frozen=True)
class Moment:
    """Everything that is shown. Parts are never changed, only replaced: what is the same object has not changed.

    Attributes:
        time: ROS time [s].
        joints: positions [rad or m] by name.
        scene: what the newest look gave.
        picture: (H, W, 3) RGB of that look, with its detections; ``camera`` the newest picture as it is.
        hands: grasps that are considered, best first, or that were made.
        plan: the motion that is planned or under way.
        paused: no new motion begins.
        silent: nobody says whether the arm is stopped: the safety node is not heard.
    """

    time: float = 0.0
    joints: Mapping[str, float] = field(default_factory=dict)
    scene: Scene | None = None
    picture: Image | None = None
    camera: Image | None = None
    hands: tuple[Hand, ...] = ()
    plan: Trajectory | None = None
    rows: tuple[Row, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    task: Task = Task()
    question: Question | None = None
    safety: SafetyStatus | None = None
    paused: bool = False
    silent: bool = False


class Source(Protocol):
    """Gives what is to be shown; safe to ask from any thread."""

    def moment(self) -> Moment:
        """What is to be shown now."""


class Operator(Protocol):
    """Takes the operator's word; every answer is a line to show. All raise DeskhandError where it could not be passed on."""

    def run(self, instruction: str) -> str:
        """Begin a task."""

    def tell(self, text: str) -> str:
        """Words to the task that runs: an answer, a correction."""

    def decide(self, request: str, approve: bool, grant: bool = False) -> str:
        """Approve or deny the call that waits under this id; ``grant``: and approve the rest of its caller's session."""

    def stop(self) -> str:
        """Stop the arm, latched, and end the task."""

    def reset(self) -> str:
        """Lift the stop."""

    def pause(self, paused: bool) -> str:
        """Begin no new motion; or go on."""


def is_stopped(moment: Moment) -> bool:
    """Whether the latched stop is set."""
    return moment.safety is not None and moment.safety.stopped


def target_of(arguments: Mapping[str, Any]) -> set[str]:
    """Every word that a call's arguments name: ids of objects among them."""
    return {value for value in arguments.values() if isinstance(value, str)} | {
        item for value in arguments.values() if isinstance(value, list | tuple) for item in value if isinstance(item, str)
    }
