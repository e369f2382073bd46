"""Serves ``run_task``: one instruction at a time through the agent; ``tell`` takes words for the task that runs; "stop" at any time, by either.

``agent/events`` tells what was said and how it ended (std_msgs/String: JSON), for the audit log.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from std_srvs.srv import Trigger

from deskhand.agent.base import ChatModel
from deskhand.agent.language.parser import is_stop
from deskhand.agent.loop import AgentLoop
from deskhand.agent.models import load_profile, make_model
from deskhand.agent.moves import History
from deskhand.agent.records import Budgets, Step, TaskOutcome
from deskhand.agent.rules import SafetyRules
from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.etp.base import ToolClient
from deskhand.nodes.diagnostics import CallCounter, Health
from deskhand.nodes.node import EVENTS, DeskhandNode, call_service, run_node
from deskhand.nodes.parameters import declare_parameters, setting
from deskhand.nodes.ros_tools import RosToolClient
from deskhand.safety.settings import load_safety
from deskhand_interfaces.action import RunTask
from deskhand_interfaces.srv import TellTask

MODES = ("", "tools", "code", "direct")
LONGEST = 8000
"""Characters of an instruction."""
STOP_WAIT = 5.0  # [s] wall time that a stopped task may take to end


@dataclass
class Parameters:
    """Of the orchestrator.

    Attributes:
        arm: of the robot; the tools know it, the agent does not need it.
        brain: a model profile.
        profiles: file with model profiles; empty for ``config/llm.yaml``.
        episode: folder that gets ``agent.json`` (all steps of the newest task); empty for none.
        max_tool_calls, max_seconds: budget of one task; wall time.
        settings: safety file whose ``rules`` are kept; empty for ``config/safety.yaml``.
        answer_timeout: [s] that a question to the user waits, where the task does not say.
        require_recording: refuse tasks while the recorder cannot record (a full disk); else they are done, and the summary says that they were not.
    """

    arm: str = "wx250s"
    brain: str = "offline"
    profiles: str = ""
    episode: str = ""
    max_tool_calls: int = setting(150, low=1)
    max_seconds: float = 1200.0
    answer_timeout: float = 120.0
    settings: str = ""
    require_recording: bool = False


class OrchestratorNode(DeskhandNode):
    """Node ``orchestrator``; ``tools`` and ``model`` are for tests with their own."""

    def __init__(self, tools: ToolClient | None = None, model: ChatModel | None = None, **kwargs: Any) -> None:
        super().__init__("orchestrator", **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        profile = load_profile(self.parameters.brain, Path(self.parameters.profiles) if self.parameters.profiles else None)
        self._profile, self._model = profile, model or make_model(profile)
        self._client = RosToolClient(self) if tools is None else None
        self._tools: ToolClient = tools if tools is not None else self._client  # type: ignore[assignment]
        self._rules = load_safety(self.parameters.settings or None).rules
        SafetyRules(self._rules)  # one that is not understood ends the start, not the first task
        self._lock = threading.Lock()
        self._running = ""
        self._tasks = CallCounter()
        self._stop, self._idle, self._closing = threading.Event(), threading.Event(), threading.Event()
        self._idle.set()
        self._history = History()
        self._told: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._events = self.create_publisher(String, "agent/events", EVENTS)
        self._unrecorded = ""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
        self.create_subscription(String, "recorder/status", lambda message: setattr(self, "_unrecorded", message.data), latched)
        self.create_service(TellTask, "tell", self._tell, callback_group=self.reentrant)
        self._safety = self.create_client(Trigger, "safety/stop", callback_group=self.reentrant)
        self._server = ActionServer(
            self,
            RunTask,
            "run_task",
            self._execute,
            goal_callback=lambda _: GoalResponse.ACCEPT,  # a rejection cannot carry a reason; a busy server accepts and aborts with one
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=self.reentrant,
        )
        self.get_logger().info(f"brain {profile.name!r} ({self._model.name})")

    def close(self) -> None:
        """See DeskhandNode."""
        self._closing.set()
        self._idle.wait(2.0)
        self._server.destroy()
        if self._client is not None:
            self._client.close()

    def health(self) -> Health:
        """See base."""
        values = {"brain": self._profile.name, "model": self._model.name, "at a task": bool(self._running), **self._tasks.values()}
        return Health("warning" if self._unrecorded else "ok", f"nothing is recorded: {self._unrecorded}" if self._unrecorded else "", values)

    # ------------------------------------------------------------ goals

    def _execute(self, handle: ServerGoalHandle) -> RunTask.Result:
        instruction = handle.request.instruction
        self._note("instruction", text=instruction, mode=handle.request.mode)
        try:
            outcome = self._outcome(handle, instruction)
        except Exception as error:  # a fault must not leave the caller waiting
            self.get_logger().error(f"task {instruction[:80]!r} failed: {type(error).__name__}: {error}")
            code = error.code if isinstance(error, DeskhandError) else "internal_error"
            outcome = TaskOutcome(False, code, f"{type(error).__name__}: {error}" if code == "internal_error" else str(error))
        if outcome.success:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        self._tasks.answered("" if outcome.success else outcome.code or "failed")
        self._note("outcome", success=outcome.success, code=outcome.code, summary=outcome.summary)
        self.get_logger().info(f"{instruction[:80]!r}: {outcome.code or 'done'}; {outcome.summary}"[:400])
        return RunTask.Result(
            success=outcome.success,
            error_code=ERROR_NUMBERS[outcome.code] if outcome.code else 0,
            error_message="" if outcome.success else outcome.summary,
            summary=outcome.summary,
            episode=self.parameters.episode,
            tool_calls=outcome.tool_calls,
            errors=list(outcome.errors),
        )

    def _note(self, event: str, **data: Any) -> None:
        self._events.publish(String(data=json.dumps({"event": event, **data})))

    def _outcome(self, handle: ServerGoalHandle, instruction: str) -> TaskOutcome:
        if handle.request.mode not in MODES:
            return TaskOutcome(False, "invalid_input", f"mode {handle.request.mode!r} is not one of: tools, code, direct.")
        if handle.request.mode in ("code", "direct") and self._profile.provider == "offline":
            return TaskOutcome(False, "invalid_input", f"the offline brain has no mode {handle.request.mode!r}; it calls tools.")
        if len(instruction) > LONGEST:
            return TaskOutcome(False, "invalid_input", f"the instruction has {len(instruction)} characters; at most {LONGEST} are read.")
        if is_stop(instruction):
            return self._halt(instruction)
        if self._unrecorded and self.parameters.require_recording:
            return TaskOutcome(False, "recording_failed", f"nothing can be recorded: {self._unrecorded}. Make room, or set require_recording to false.")
        with self._lock:
            if self._running:
                return TaskOutcome(False, "busy", f"I am at another task: {self._running[:200]!r}. Wait for its end, cancel it, or say stop.")
            self._running = instruction or "(empty)"
            self._idle.clear()
            self._stop.clear()
            self._told = queue.SimpleQueue()  # what was told to an earlier task is not for this one
        try:
            return self._run(handle, instruction)
        finally:
            with self._lock:
                self._running = ""
            self._idle.set()

    def _run(self, handle: ServerGoalHandle, instruction: str) -> TaskOutcome:
        def report(step: Step) -> None:
            text = step.text if not step.finished else ("ok" if step.ok else f"{step.code}: {step.message}")
            asked = {"question": step.question, "options": list(step.options)} if not step.finished else {}
            handle.publish_feedback(RunTask.Feedback(step=step.index, tool=step.tool, text=text[:500], **asked))

        loop = AgentLoop(
            self._model,
            self._tools,
            Budgets(
                tool_calls=self.parameters.max_tool_calls,
                seconds=self.parameters.max_seconds,
                tokens=self._profile.max_total_tokens,
                cost=self._profile.max_cost,
                answer_seconds=handle.request.answer_timeout or self.parameters.answer_timeout,
            ),
            report,
            lambda: handle.is_cancel_requested or self._stop.is_set() or self._closing.is_set(),
            caller=f"orchestrator/{self._profile.name}",
            mode=handle.request.mode or "tools",
            inbox=self._next_words,
            history=self._history,
            rules=self._rules,
        )
        outcome = loop.run(instruction)
        if self._unrecorded:
            outcome = replace(outcome, summary=f"{outcome.summary} This was not recorded: {self._unrecorded}.".strip())
        self._record(instruction, handle.request.mode or "tools", outcome)
        return outcome

    def _record(self, instruction: str, mode: str, outcome: TaskOutcome) -> None:
        if not self.parameters.episode:
            return
        folder = Path(self.parameters.episode)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            body = {"instruction": instruction, "brain": self._profile.name, "model": self._model.name, "mode": mode, **outcome.to_json()}
            (folder / "agent.json").write_text(json.dumps(body, indent=1, default=str), encoding="utf-8")
        except OSError as error:
            self.get_logger().error(f"the steps could not be written to {folder}: {error}")

    # ------------------------------------------------------------ words for the running task

    def _tell(self, request: TellTask.Request, response: TellTask.Response) -> TellTask.Response:
        text = request.text.strip()
        self._note("told", text=text)
        if is_stop(text):
            outcome = self._halt(text)
            response.accepted, response.message = outcome.success, outcome.summary
            return response
        with self._lock:
            problem = "there are no words." if not text else "" if self._running else "no task is running."
            if len(text) > LONGEST:
                problem = f"there are {len(text)} characters; at most {LONGEST} are read."
            if not problem:
                self._told.put(text)
        response.accepted, response.message = not problem, problem
        return response

    def _next_words(self) -> str | None:
        try:
            return self._told.get_nowait()
        except queue.Empty:
            return None

    # ------------------------------------------------------------ stop

    def _halt(self, instruction: str) -> TaskOutcome:
        """Stop the arm without asking any model, and end the running task."""
        with self._lock:
            running = self._running
        self._stop.set()
        problem = self._stop_arm(f"instruction: {instruction.strip()[:80]}")
        ended = self._idle.wait(STOP_WAIT)
        what = f" The task {running[:120]!r} was cancelled." if running and ended else f" The task {running[:120]!r} has not ended yet." if running else ""
        if problem:
            return TaskOutcome(False, problem.code, f"The arm could not be told to stop: {problem}{what}", tool_calls=1, errors=(problem.code,))
        return TaskOutcome(True, "", f"Stopped; the arm stays stopped until the stop is reset (safety/reset).{what}", tool_calls=1)

    def _stop_arm(self, reason: str) -> DeskhandError | None:
        """By the tool, and where that fails by the safety node itself; None when one of them answered."""
        began = time.monotonic()
        try:
            result = self._tools.invoke("stop_motion", {"reason": reason}, caller="orchestrator/stop")
            if result.ok:
                return None
            problem = DeskhandError(result.code, result.message)
        except DeskhandError as error:
            problem = error
        self.get_logger().warning(f"stop_motion failed after {time.monotonic() - began:.1f} s ({problem}); calling safety/stop")
        try:
            response = call_service(self._safety, Trigger.Request(), timeout=2.0, wait_for=1.0)
        except DeskhandError as error:
            return error
        return None if response.success else problem


def main() -> int:
    """Run the node."""
    return run_node(OrchestratorNode, threads=12)


if __name__ == "__main__":
    sys.exit(main())
