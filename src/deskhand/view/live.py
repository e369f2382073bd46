"""What the nodes say, gathered into the moment that the page shows. Plain data comes in; who hears it is nodes/view_node.py."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from deskhand.errors import ERROR_NUMBERS
from deskhand.types import Image, JointState, SafetyStatus, Scene, Trajectory
from deskhand.view.moment import DONE, FAILED, RUNS, WAITS, Hand, Moment, Question, Row, Task, Waiting

KEPT_ROWS = 200
SILENT = 3.0  # [s] wall time without a status of the safety node, which comes several times a second
AGENT = "orchestrator"
"""What the callers of the agent's calls begin with."""


class LiveSource:
    """A :class:`deskhand.view.moment.Source`; every method may be called from any thread. ``clock`` is steady [s]."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._heard_safety = clock, float("-inf")
        self._moment = Moment(silent=True)
        self._lock = threading.Lock()

    def moment(self) -> Moment:
        """See Source."""
        with self._lock:
            if (silent := self._clock() - self._heard_safety > SILENT) != self._moment.silent:
                self._put(silent=silent)
            return self._moment

    def _put(self, **parts: Any) -> None:
        """Only with the lock."""
        self._moment = replace(self._moment, **parts)

    # ------------------------------------------------------------ the robot

    def on_joints(self, state: JointState) -> None:
        """Measured joints; arm and gripper may come apart."""
        with self._lock:
            new = dict(zip(state.names, map(float, state.positions), strict=True))
            self._put(joints={**self._moment.joints, **new}, time=state.stamp)

    def on_scene(self, scene: Scene) -> None:
        """What a look gave; grasps on what was seen before are of the past."""
        with self._lock:
            self._put(scene=scene, hands=())

    def on_picture(self, image: Image) -> None:
        """(H, W, 3) RGB of a look, with its detections."""
        with self._lock:
            self._put(picture=image)

    def on_camera(self, image: Image) -> None:
        """(H, W, 3) RGB as the camera sees it now."""
        with self._lock:
            self._put(camera=image)

    def on_hands(self, hands: tuple[Hand, ...]) -> None:
        """Grasps that are considered, best first."""
        with self._lock:
            self._put(hands=hands)

    def on_plan(self, plan: Trajectory | None) -> None:
        """A motion was planned; None: the last one has ended."""
        with self._lock:
            self._put(plan=plan)

    def on_safety(self, status: SafetyStatus) -> None:
        """The latched stop."""
        with self._lock:
            self._heard_safety = self._clock()
            old = self._moment.safety
            if old is None or (old.stopped, old.code, old.reason) != (status.stopped, status.code, status.reason):
                self._put(safety=status)

    def on_paused(self, paused: bool) -> None:
        """Whether new motions wait."""
        with self._lock:
            self._put(paused=paused)

    # ------------------------------------------------------------ the task

    def on_task(self, instruction: str) -> None:
        """A task has begun; ``instruction`` is empty where somebody else gave it."""
        with self._lock:
            if self._moment.task.running and not instruction:
                return
            fresh = tuple(row for row in self._moment.rows if row.state in (RUNS, WAITS))  # its first words may have come before
            self._put(task=Task(instruction, running=True), rows=fresh, question=None)

    def on_outcome(self, success: bool, code: str, summary: str) -> None:
        """The task has ended."""
        with self._lock:
            ended = tuple(replace(row, state=DONE) if row.state == RUNS and not row.call else row for row in self._moment.rows)
            task = replace(self._moment.task, running=False, success=success, code=code, summary=summary)
            self._put(task=task, rows=ended, question=None, plan=None)

    def on_feedback(self, step: int, tool: str, text: str, question: str = "", options: tuple[str, ...] = ()) -> None:
        """What the orchestrator says of a step: with what reason it begins, how far it is, how it ended."""
        with self._lock:
            self._put(question=Question(question, options) if question else None)
            rows = list(self._moment.rows)
            known = _last(rows, lambda row: row.step == step)
            if known is not None:
                rows[known] = _told(rows[known], text)
            elif (unsaid := _unsaid(rows, tool)) is not None:
                rows[unsaid] = replace(rows[unsaid], step=step, why=text)
            else:
                rows.append(Row(tool or "says", step=step, caller=AGENT, why=text, state=RUNS if tool else DONE))
            self._put(rows=tuple(rows[-KEPT_ROWS:]))

    def on_event(self, event: Mapping[str, Any]) -> None:
        """A record of the tool server: start or end of a call, a request for leave and its end."""
        kind = event.get("event")
        with self._lock:
            if kind == "start":
                self._start(event)
            elif kind == "end":
                self._end(event)
            elif kind == "approval":
                self._ask(event)
            elif kind == "approval_end":
                self._put(waiting=tuple(item for item in self._moment.waiting if item.id != event["id"]))
                self._mark(str(event["tool"]), event.get("arguments"), WAITS, RUNS)

    def _start(self, event: Mapping[str, Any]) -> None:
        rows = list(self._moment.rows)
        caller, tool = str(event.get("caller", "")), str(event["tool"])
        new = Row(tool, event.get("arguments") or {}, str(event["id"]), 0, caller, started=float(event.get("time", 0.0)))
        said = _last(rows, lambda row: row.tool == tool and not row.call and row.state == RUNS) if caller.startswith(AGENT) else None
        if said is None:
            rows.append(new)
        else:
            rows[said] = replace(new, step=rows[said].step, why=rows[said].why)
        self._put(rows=tuple(rows[-KEPT_ROWS:]))

    def _end(self, event: Mapping[str, Any]) -> None:
        rows = list(self._moment.rows)
        index = _last(rows, lambda row: row.call == event["id"])
        if index is not None:
            code = str(event.get("code", ""))
            state = FAILED if code else DONE
            rows[index] = replace(
                rows[index], state=state, progress="", code=code, message=str(event.get("message", "")), seconds=float(event.get("duration") or 0.0)
            )
            self._put(rows=tuple(rows))

    def _ask(self, event: Mapping[str, Any]) -> None:
        arguments = event.get("arguments") or {}
        new = Waiting(str(event["id"]), str(event["tool"]), arguments, str(event.get("effects", "")), str(event.get("caller", "")))
        self._put(waiting=(*(item for item in self._moment.waiting if item.id != new.id), new))
        self._mark(new.tool, arguments, RUNS, WAITS)

    def _mark(self, tool: str, arguments: Any, old: str, new: str) -> None:
        rows = list(self._moment.rows)
        index = _last(rows, lambda row: row.tool == tool and row.state == old and (arguments is None or dict(row.arguments) == dict(arguments)))
        if index is not None:
            rows[index] = replace(rows[index], state=new)
            self._put(rows=tuple(rows))


def _told(row: Row, text: str) -> Row:
    """``row`` after a further report: how it ended (for calls the tool server's word counts), else how far it is."""
    code, _, message = text.partition(": ")
    if text != "ok" and code not in ERROR_NUMBERS:
        return replace(row, progress=text)
    if row.call:
        return row
    return replace(row, state=DONE, progress="") if text == "ok" else replace(row, state=FAILED, code=code, message=message, progress="")


def _unsaid(rows: list[Row], tool: str) -> int | None:
    """A call of the agent whose event came before its reason."""
    for index in range(len(rows) - 1, -1, -1):
        if rows[index].step:
            return None
        if rows[index].tool == tool and rows[index].caller.startswith(AGENT):
            return index
    return None


def _last(rows: list[Row], which: Callable[[Row], bool]) -> int | None:
    return next((index for index in range(len(rows) - 1, -1, -1) if which(rows[index])), None)
