"""Serves ``run_task``: one instruction at a time through the agent; ``tell`` takes words for the task that runs; "stop" at any time, by either; the topic
``instruction`` does what the two do (instruction_topic.py).

``agent/events`` tells what was said and how it ended (std_msgs/String: JSON), for the audit log and the record (task_record.py).

A goal always ends with a result. Where a node dies that the robot is made of, the task ends within seconds, whatever it waits for, and the result names that
node; where this node dies, the safety node answers (task_stand_in.py).
"""

from __future__ import annotations

import gc
import queue
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from std_msgs.msg import String
from std_srvs.srv import Trigger

from deskhand.agent.direct import MODES as DIRECT
from deskhand.agent.judge import make_judge
from deskhand.agent.loop import AgentLoop
from deskhand.agent.moves import History
from deskhand.agent.records import Budgets, Step, TaskOutcome
from deskhand.agent.rules import SafetyRules
from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.etp.base import ToolClient
from deskhand.language.parser import is_stop
from deskhand.llm import load_profile, make_model
from deskhand.llm.base import ChatModel
from deskhand.llm.config import with_images
from deskhand.nodes.action_server import ActionServer
from deskhand.nodes.diagnostics import CallCounter, Health
from deskhand.nodes.instruction_topic import InstructionTopic
from deskhand.nodes.node import DeskhandNode, call_service, run_node
from deskhand.nodes.parameters import declare_parameters, setting
from deskhand.nodes.peers import Peers
from deskhand.nodes.ros_tools import RosToolClient
from deskhand.nodes.task_record import LATCHED, TaskRecords
from deskhand.safety.settings import load_safety
from deskhand.safety.watchdog import WATCHED
from deskhand_interfaces.action import RunTask
from deskhand_interfaces.srv import TellTask

OF_DEATHS = frozenset(("node_unavailable", "watchdog", "safety_stop", "controller_failed", "stale_data", "no_frame", "timeout"))
"""Codes that a dead node can be the cause of."""
MODES = ("", "tools", "code", *DIRECT)
LONGEST = 8000
"""Characters of an instruction."""
STOP_WAIT = 5.0  # [s] wall time that a stopped task may take to end
DEATH_WAIT = 3.0  # [s] the same, after a node has died: then its goal ends without it
CLOSE_WAIT = 0.8  # [s] the same, when this node is ended
RESULT_KEPT = 900  # [s] for clients that ask late
SENT = 0.3  # [s] for the result of a goal to be put together and to leave
NEWS = 0.2  # [s] for the news of a death, after something went wrong that a death can have caused
SILENT = 2.0  # [s] without a heartbeat, after which a node is named as what went wrong
POLL = 0.02  # [s]
SAFETY = "safety"  # the node with the watchdog
THREADS = 12


@dataclass
class Parameters:
    """Of the orchestrator.

    Attributes:
        arm: of the robot; the tools know it, the agent does not need it.
        brain: a model profile.
        images: how many of the newest pictures a model with eyes is shown; negative: as its profile says.
        profiles: file with model profiles; empty for ``config/llm.yaml``.
        episode: folder that gets ``agent.json`` (all steps of the newest task), where one records all tasks together; empty: each has its own.
        episodes: where those go, named by time and words; empty for none.
        max_tool_calls, max_seconds: budget of one task; wall time.
        settings: safety file whose ``rules`` are kept; empty for ``config/safety.yaml``.
        answer_timeout: [s] that a question to the user waits, where the task does not say.
        watch: nodes whose death ends a task, from when they were first heard.
        require_recording: refuse tasks while the recorder cannot record (a full disk); else they are done, and the summary says that they were not.
    """

    arm: str = "wx250s"
    brain: str = "offline"
    images: int = setting(-1, low=-1)
    profiles: str = ""
    episode: str = ""
    max_tool_calls: int = setting(150, low=1)
    max_seconds: float = 1200.0
    answer_timeout: float = 120.0
    settings: str = ""
    episodes: str = ""
    watch: list[str] = field(default_factory=lambda: [*(name for name in WATCHED if name != "orchestrator"), "safety"])
    require_recording: bool = False


class OrchestratorNode(DeskhandNode):
    """Node ``orchestrator``; ``tools`` and ``model`` are for tests with their own."""

    def __init__(self, tools: ToolClient | None = None, model: ChatModel | None = None, **kwargs: Any) -> None:
        super().__init__("orchestrator", **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        profile = load_profile(self.parameters.brain, Path(self.parameters.profiles) if self.parameters.profiles else None)
        profile = with_images(profile, None if self.parameters.images < 0 else self.parameters.images)
        self._profile, self._model = profile, model or make_model(profile)
        self._judge = make_judge(profile, Path(self.parameters.profiles) if self.parameters.profiles else None) if model is None else None
        self._client = RosToolClient(self) if tools is None else None
        self._tools: ToolClient = tools if tools is not None else self._client  # type: ignore[assignment]
        safety = load_safety(self.parameters.settings or None)
        self._rules, self._authorisation = safety.rules, safety.authorisation
        SafetyRules(self._rules)  # one that is not understood ends the start, not the first task
        self._lock = threading.Lock()
        self._running, self._held = "", 0
        self._tasks = CallCounter()
        self._stop, self._idle, self._closing = threading.Event(), threading.Event(), threading.Event()
        self._idle.set()
        self._history = History()
        self._told: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._deaths: dict[str, str] = {}
        self._death = threading.Event()
        self._peers = Peers(self, watch=self.parameters.watch, died=self._on_death, hang_timeout=safety.watchdog.hang_timeout)
        who = {"arm": self.parameters.arm, "brain": profile.name, "model": self._model.name}
        self._records = TaskRecords(self, self.parameters.episode, self.parameters.episodes, who, lambda: self._peers.dead("recorder"))
        self._unrecorded = ""
        self.create_subscription(String, "recorder/status", lambda message: setattr(self, "_unrecorded", message.data), LATCHED)
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
            result_timeout=RESULT_KEPT,
        )
        self._words = InstructionTopic(self, self._tell_text, lambda: bool(self._running), self._records.note)
        self.get_logger().info(f"brain {profile.name!r} ({self._model.name})")

    def close(self) -> None:
        """See DeskhandNode."""
        self._closing.set()
        end = time.monotonic() + CLOSE_WAIT + NEWS + SENT
        self._server.wait_answered(end - time.monotonic())
        self._idle.wait(max(0.0, end - time.monotonic()))
        self._peers.close()
        self._words.close()
        self._server.destroy()
        if self._client is not None:
            self._client.close()

    def health(self) -> Health:
        """See base."""
        values = {"brain": self._profile.name, "model": self._model.name, "at a task": bool(self._running), **self._tasks.values()}
        return Health("warning" if self._unrecorded else "ok", f"nothing is recorded: {self._unrecorded}" if self._unrecorded else "", values)

    # ------------------------------------------------------------ goals

    def _execute(self, handle: ServerGoalHandle) -> RunTask.Result:
        instruction, mode = handle.request.instruction, handle.request.mode or "tools"
        self._records.note("instruction", text=instruction, mode=handle.request.mode)
        folder = ""
        outcome = self._refused(handle)
        if outcome is None and (outcome := self._take(instruction)) is None:
            folder = self._records.begin(instruction, mode)
            outcome = self._named(self._run(handle, instruction, mode))
            self._records.end(folder, instruction, mode, outcome, self._closing.is_set)
            self._release()
        else:
            self._records.end("", instruction, mode, outcome, self._closing.is_set)
        if outcome.success:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        self._tasks.answered("" if outcome.success else outcome.code or "failed")
        self.get_logger().info(f"{instruction[:80]!r}: {outcome.code or 'done'}; {outcome.summary}"[:400])
        return RunTask.Result(
            success=outcome.success,
            error_code=ERROR_NUMBERS[outcome.code] if outcome.code else 0,
            error_message="" if outcome.success else outcome.summary,
            summary=outcome.summary,
            episode=folder,
            tool_calls=outcome.tool_calls,
            errors=list(outcome.errors),
        )

    def _refused(self, handle: ServerGoalHandle) -> TaskOutcome | None:
        """What is answered without beginning a task."""
        instruction = handle.request.instruction
        if handle.request.mode not in MODES:
            return TaskOutcome(False, "invalid_input", f"mode {handle.request.mode!r} is not one of: {', '.join(MODES[1:])}.")
        if handle.request.mode in MODES[2:] and self._profile.provider == "offline":
            return TaskOutcome(False, "invalid_input", f"the offline brain has no mode {handle.request.mode!r}; it calls tools.")
        if len(instruction) > LONGEST:
            return TaskOutcome(False, "invalid_input", f"the instruction has {len(instruction)} characters; at most {LONGEST} are read.")
        if is_stop(instruction):
            return self._halt(instruction)
        if self._unrecorded and self.parameters.require_recording:
            return TaskOutcome(False, "recording_failed", f"nothing can be recorded: {self._unrecorded}. Make room, or set require_recording to false.")
        return None

    def _take(self, instruction: str) -> TaskOutcome | None:
        """Make the instruction the task that runs, unless there is one."""
        with self._lock:
            if self._running:
                return TaskOutcome(False, "busy", f"I am at another task: {self._running[:200]!r}. Wait for its end, cancel it, or say stop.")
            self._running, self._held = instruction or "(empty)", 2
            self._idle.clear()
            self._stop.clear()
            self._death.clear()
            self._deaths = self._peers.all_dead()
            self._told = queue.SimpleQueue()  # what was told to an earlier task is not for this one
        return None

    def _release(self) -> None:
        """The next task may begin when this one's goal is answered, and what it waited for has ended."""
        with self._lock:
            self._held -= 1
            if self._held:
                return
            self._running = ""
        gc.collect()  # messages and results of a task hold each other, which Python's own count of objects finds long after

    def _run(self, handle: ServerGoalHandle, instruction: str, mode: str) -> TaskOutcome:
        """The outcome of the task; where it does not end by itself after a death, or when this node is ended, one without it."""
        done, ended = threading.Event(), threading.Event()
        outcomes: list[TaskOutcome] = []

        def work() -> None:
            try:
                outcomes.append(self._loop(handle, mode, ended).run(instruction))
            except Exception as error:  # a fault must not leave the caller waiting
                self.get_logger().error(f"task {instruction[:80]!r} failed: {type(error).__name__}: {error}")
                code = error.code if isinstance(error, DeskhandError) else "internal_error"
                outcomes.append(TaskOutcome(False, code, f"{type(error).__name__}: {error}" if code == "internal_error" else str(error)))
            finally:
                self._idle.set()
                done.set()
                self._release()

        threading.Thread(target=work, name="task", daemon=True).start()
        closing = died = float("inf")
        while not done.wait(POLL):
            now = time.monotonic()
            closing = min(closing, now) if self._closing.is_set() else closing
            died = min(died, now) if self._deaths else died
            if now > min(closing + CLOSE_WAIT, died + DEATH_WAIT):
                break
        ended.set()
        if not outcomes:
            return TaskOutcome(False, "cancelled", "The task was cut off, and what it waited for has not ended yet.")
        outcome = outcomes[0]
        if self._closing.is_set() and outcome.code == "cancelled":
            outcome = replace(outcome, summary=f"The robot's software was ended. {outcome.summary}")
        if self._unrecorded:
            outcome = replace(outcome, summary=f"{outcome.summary} This was not recorded: {self._unrecorded}.".strip())
        return outcome

    def _loop(self, handle: ServerGoalHandle, mode: str, ended: threading.Event) -> AgentLoop:
        def report(step: Step) -> None:
            if ended.is_set():
                return
            text = step.text if not step.finished else ("ok" if step.ok else f"{step.code}: {step.message}")
            asked = {"question": step.question, "options": list(step.options)} if not step.finished else {}
            handle.publish_feedback(RunTask.Feedback(step=step.index, tool=step.tool, text=text[:500], **asked))

        return AgentLoop(
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
            lambda: handle.is_cancel_requested or self._stop.is_set() or self._closing.is_set() or bool(self._deaths),
            caller=f"orchestrator/{self._profile.name}",
            mode=mode,
            inbox=self._next_words,
            history=self._history,
            rules=self._rules,
            judge=self._judge,
            authorisation=self._authorisation,
        )

    # ------------------------------------------------------------ nodes that die

    def _on_death(self, name: str, why: str) -> None:
        if self._closing.is_set():
            return  # all are ended now
        self._deaths = {**self._deaths, name: why}
        self._death.set()

    def _named(self, outcome: TaskOutcome) -> TaskOutcome:
        """A task that went wrong while a node was dead failed for that, whatever it met first."""
        if outcome.success:
            return outcome
        if outcome.code in OF_DEATHS:
            self._death.wait(NEWS)
        if not self._deaths and outcome.code in OF_DEATHS and (silent := self._peers.silent(SILENT)):
            if SAFETY not in silent:  # its watchdog may wait longer, and after the result of a task nothing may move any more
                self._stop_by_safety_node()
            dead = " ".join(f"Node {name} has been silent for {seconds:.1f} s." for name, seconds in silent.items())
            return replace(outcome, code="node_unavailable", summary=f"{dead} {outcome.summary}")
        if not self._deaths:
            return outcome
        dead = " ".join(f"Node {name} is dead: {why}." for name, why in self._deaths.items())
        return replace(outcome, code="node_unavailable", summary=f"{dead} {outcome.summary}".strip())

    # ------------------------------------------------------------ words for the running task

    def _tell(self, request: TellTask.Request, response: TellTask.Response) -> TellTask.Response:
        response.accepted, response.message = self._tell_text(request.text.strip())
        return response

    def _tell_text(self, text: str) -> tuple[bool, str]:
        """Give words to the running task: whether they were taken, and what there is to say of it."""
        self._records.note("told", text=text)
        if is_stop(text):
            outcome = self._halt(text)
            return outcome.success, outcome.summary
        with self._lock:
            problem = "there are no words." if not text else "" if self._running else "no task is running."
            if len(text) > LONGEST:
                problem = f"there are {len(text)} characters; at most {LONGEST} are read."
            if not problem:
                self._told.put(text)
        return not problem, problem

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
        return self._stop_by_safety_node()

    def _stop_by_safety_node(self) -> DeskhandError | None:
        try:
            response = call_service(self._safety, Trigger.Request(), timeout=2.0, wait_for=1.0)
        except DeskhandError as error:
            return error
        return None if response.success else DeskhandError("safety_stop", f"safety/stop was refused: {response.message}")


def main() -> int:
    """Run the node."""
    return run_node(OrchestratorNode, THREADS)


if __name__ == "__main__":
    sys.exit(main())
