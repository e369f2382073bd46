"""How a call is run: what bounds it in time, and what becomes of it when it does not end.

A :class:`Runner` is chosen per tool by the session, so that pure tools can get a process of their own while tools that talk
to the robot share this one.
"""

from __future__ import annotations

import contextvars
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from deskhand.errors import DeskhandError
from deskhand.etp.tool import Tool, ToolContext

log = logging.getLogger(__name__)

POLL = 0.02  # [s]


class Control:
    """The bounds of one call: its deadline, and whether its caller still wants it."""

    def __init__(self, tool: str, timeout: float, cancelled: Callable[[], bool] | None = None) -> None:
        self.tool, self.timeout = tool, timeout
        self._deadline = time.monotonic() + timeout
        self._cancelled = cancelled
        self._abandoned = threading.Event()
        self._lock = threading.Lock()
        self._reason = ""

    def why(self) -> str:
        """Empty while the call may go on, else ``timeout`` or ``cancelled``, whichever came first."""
        with self._lock:
            if not self._reason and (self._abandoned.is_set() or (self._cancelled and self._cancelled())):
                self._reason = "cancelled"
            elif not self._reason and time.monotonic() >= self._deadline:
                self._reason = "timeout"
            return self._reason

    def stopping(self) -> bool:
        """True when the tool must come to an end; what tools see as ``ctx.cancelled``."""
        return bool(self.why())

    def abandon(self) -> None:
        """Cancel from the session's side."""
        self._abandoned.set()

    def wait(self, done: threading.Event) -> bool:
        """Until ``done`` (True) or until the call must stop (False)."""
        while not self.why():
            left = max(0.0, self._deadline - time.monotonic())
            if done.wait(min(left, POLL)):
                return True
        return done.is_set()

    def error(self) -> DeskhandError:
        """What a call that was stopped ends with."""
        if self.why() == "timeout":
            return DeskhandError("timeout", f"{self.tool} did not end within its {self.timeout:g} s.", retry=True)
        return DeskhandError("cancelled", f"{self.tool} was cancelled.")


class Runner(Protocol):
    """Runs a tool within the bounds of a control."""

    def run(self, tool: Tool, context: ToolContext, arguments: Mapping[str, Any], control: Control, ended: Callable[[], None]) -> Any:
        """The tool's result; ``ended`` is called once, when nothing of the call runs any more, which may be after this returned.

        Raises:
            DeskhandError: ``timeout``, ``cancelled``, or what the tool raised.
        """
        ...


class Threads:
    """Daemon threads for work of any length, used again: to start one takes as long as a short tool. ``spare`` of them are kept."""

    def __init__(self, spare: int = 8) -> None:
        self._spare = spare
        self._idle: list[queue.SimpleQueue[Callable[[], None]]] = []
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None], name: str) -> None:
        """Begin ``work``, which must not raise, in a thread that is idle or a new one. Raises RuntimeError when there can be none."""
        with self._lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(jobs,), name=name, daemon=True).start()
        jobs.put(work)

    def _serve(self, jobs: queue.SimpleQueue[Callable[[], None]]) -> None:
        while True:
            jobs.get()()
            with self._lock:
                if len(self._idle) >= self._spare:
                    return
                self._idle.append(jobs)


class ThreadRunner:
    """Runs a tool in a thread of this process, for tools that talk to the robot.

    A thread cannot be killed: a tool that goes on ``grace`` seconds after it was told to stop is left behind, its resources
    stay taken until it ends, and a robot that it may move is stopped.
    """

    def __init__(self, grace: float = 3.0) -> None:
        self._grace = grace
        self._threads = Threads()

    def run(self, tool: Tool, context: ToolContext, arguments: Mapping[str, Any], control: Control, ended: Callable[[], None]) -> Any:
        """See :class:`Runner`."""
        done = threading.Event()
        outcome: list[Any] = []
        failure: list[BaseException] = []
        context = replace(context, cancelled=control.stopping)

        def work() -> None:
            try:
                outcome.append(tool.run(context, arguments))
            except BaseException as error:  # handed to the caller's thread, which raises it
                failure.append(error)
            finally:
                ended()
                done.set()

        within = contextvars.copy_context()
        try:
            self._threads.run(lambda: within.run(work), f"tool {tool.card.name}")
        except RuntimeError as error:
            ended()
            raise DeskhandError("internal_error", f"no thread for {tool.card.name}: {error}.", retry=True) from error
        if not control.wait(done) and not done.wait(self._grace):
            raise self._left_behind(tool, context, control)
        if outcome:
            return outcome[0]
        raised = failure[0]
        if isinstance(raised, DeskhandError) and raised.code == "cancelled" and control.why():
            raise control.error() from raised
        if not isinstance(raised, Exception):  # sys.exit() or a KeyboardInterrupt of a tool ends the tool, not its server
            text = f"{tool.card.name} failed: {type(raised).__name__}: {raised}"
            raise DeskhandError("tool_failed", text, hint="This is a fault of the tool; tell the operator.") from raised
        raise raised

    def _left_behind(self, tool: Tool, context: ToolContext, control: Control) -> DeskhandError:
        error = control.error()
        text = f"{error.message} It still runs {self._grace:g} s after it was told to stop"
        log.error("tool %s does not stop", tool.card.name)
        if tool.card.effects != "motion":
            return DeskhandError(error.code, f"{text}.", retry=False)
        try:
            context.robot.stop(f"tool {tool.card.name} did not stop")
        except DeskhandError as stop_error:
            return DeskhandError(error.code, f"{text}, and the robot could not be stopped: {stop_error}", hint="Use the hardware stop.")
        return DeskhandError(error.code, f"{text}, so the robot was stopped.", hint="The operator must reset the stop.")
