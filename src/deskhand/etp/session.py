"""Calls of tools: checked, permitted, one at a time per device, bounded in time, recorded."""

from __future__ import annotations

import contextvars
import copy
import logging
import math
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import TracebackType
from typing import Any, Protocol

from deskhand.errors import DeskhandError
from deskhand.etp.approval import Approval
from deskhand.etp.base import Feedback, ToolResult, ToolSummary
from deskhand.etp.card import Card
from deskhand.etp.isolation.runner import ProcessRunner
from deskhand.etp.locks import Locks, resources_of
from deskhand.etp.measurements import Measurements
from deskhand.etp.outcome import failure
from deskhand.etp.predicates import broken_promises, check_preconditions
from deskhand.etp.registry import Registry
from deskhand.etp.resources import Resource, ResourceStore
from deskhand.etp.runner import Control, Runner, ThreadRunner
from deskhand.etp.tool import FunctionTool, ToolContext
from deskhand.etp.validation import InvalidArguments, shown, unreadable
from deskhand.etp.watches import Listener, Watches, WatchEvent, WatchInfo

log = logging.getLogger(__name__)

Sink = Callable[[Mapping[str, Any]], None]
"""Takes one JSON-able record: ``{"event": "start" | "end", "id", "tool", "caller", "time", "sim_time", …}``; start has the
``arguments``, end the fields of a ToolResult. A continuous tool tells
``{"event": "watch", "sim_time", …}`` with the fields of a WatchEvent. ``time`` is wall clock [s since the epoch], ``sim_time`` ROS time [s]."""

MAX_LOG_LINES = 50
MISSING_AGE = 1.0  # [s] that what is missing is believed


def nowhere(record: Mapping[str, Any]) -> None:
    """A sink for records that nobody wants."""


class Guard(Protocol):
    """What every call of a session is held against, besides its card and the approval; called from many threads."""

    def check(self, card: Card, arguments: Mapping[str, Any], caller: str) -> None:
        """Raises DeskhandError when the call must not run."""
        ...

    def heard(self, card: Card, arguments: Mapping[str, Any], caller: str, result: ToolResult) -> None:
        """A call of a tool that exists has ended, whether it ran or not."""
        ...


@dataclass
class Call:
    """One call on its way."""

    tool: str
    caller: str
    feedback: Feedback | None
    capture: logging.Handler | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    lines: list[str] = field(default_factory=list)
    control: Control | None = None
    ran: bool = False
    fraction: float = 0.0

    def log(self, level: str, text: str) -> None:
        """A line for the record and for whoever follows the call."""
        line = f"{level}: {text}"[:500]
        if len(self.lines) < MAX_LOG_LINES:
            self.lines.append(line)
            self.report(self.fraction, line)

    def report(self, fraction: float, text: str) -> None:
        """Progress for the caller; what its callback raises is logged and does not end the call."""
        self.fraction = min(max(float(fraction), 0.0), 1.0)
        if self.feedback is None:
            return
        try:
            self.feedback(self.fraction, text)
        except Exception:  # the caller's code
            log.exception("feedback of call %s failed", self.id)
            self.feedback = None


_CURRENT: contextvars.ContextVar[Call | None] = contextvars.ContextVar("deskhand_tool_call", default=None)


class _LogCapture(logging.Handler):
    """Log lines of a tool's own thread go into its call's record, once, however many sessions the process has."""

    def emit(self, record: logging.LogRecord) -> None:
        call = _CURRENT.get()
        if call is not None and call.capture is self and record.name != __name__:
            call.log(record.levelname.lower(), record.getMessage())


class Session:
    """A :class:`deskhand.etp.base.ToolClient` in process; safe to use from many threads.

    Args:
        registry: the tools.
        context: makes the context of a call; robot and belief are shared by all calls.
        approval: whose leave is needed; default: nobody's.
        guard: what calls are held against besides; it is asked before the operator is, and again when the devices are free.
        audit: where every call is written before and after it ran; when it cannot be written, nothing runs.
        events: where the same records go for whoever watches; its failures are logged.
        lock_wait: [s] that a call waits for a device that another call has.
        runner: how tools are run, unless their card says ``isolated``: these run in worker processes.
        clock: ROS time [s], for records.
        missing: tells the needs that are not there now -> why, for example ``{"model": "no language model is configured"}``.
        measurements: where latency and success of every call go; default: new ones, which end with the session.
        resources: where tools put what is too large for JSON; closed with the session.
    """

    def __init__(
        self,
        registry: Registry,
        context: Callable[[], ToolContext],
        *,
        approval: Approval | None = None,
        guard: Guard | None = None,
        audit: Sink = nowhere,
        events: Sink = nowhere,
        lock_wait: float = 5.0,
        runner: Runner | None = None,
        clock: Callable[[], float] | None = None,
        missing: Callable[[], Mapping[str, str]] | None = None,
        measurements: Measurements | None = None,
        resources: ResourceStore | None = None,
    ) -> None:
        self.registry = registry
        self._context = context
        self.approval = approval or Approval()
        self._guard = guard
        self._audit, self._events = audit, events
        self._locks = Locks()
        self._lock_wait = lock_wait
        self._runner = runner or ThreadRunner()
        self._processes = ProcessRunner(self._isolated_modules)
        self._missing = missing or dict
        self._known_missing: Mapping[str, str] = {}
        self._asked = -math.inf
        self._clock = clock
        self.resources = resources or ResourceStore()
        self._watches = Watches(self._tell)
        self._measurements = measurements or Measurements()
        self._capture = _LogCapture(logging.INFO)
        self._calls: dict[str, Call] = {}
        self._closed = False
        self._lock = threading.Lock()
        logging.getLogger().addHandler(self._capture)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Cancel what runs and take no more calls."""
        with self._lock:
            self._closed = True
            calls = list(self._calls.values())
        for call in calls:
            if call.control:
                call.control.abandon()
        self._watches.close()
        self._processes.close()
        self.resources.close()
        self._measurements.save()
        logging.getLogger().removeHandler(self._capture)

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        """See ToolClient; ``available`` says whether what a tool needs is there. What failed often or is slow ranks lower, and its summary says so."""
        missing = self._absent()
        hits = []
        for hit in self.registry.search(text, group, unit):
            card = self.registry.get(hit.name).card
            factor, note = self._measurements.judge(card)
            reason = _lacking(card, missing)
            summary = f"{hit.summary} ({note})" if note else hit.summary
            hits.append(replace(hit, summary=summary, score=round(hit.score * factor, 4), available=not reason, unavailable_reason=reason))
        if text.strip():
            hits.sort(key=lambda hit: -hit.score)
        return hits[:limit] if limit > 0 else hits

    def describe(self, name: str) -> dict[str, Any]:
        """See ToolClient; with what calls of this session have measured."""
        card = self.registry.get(name).card
        return card.model_copy(update={"measured": self._measurements.of(name)}).to_json()

    def resource(self, uri: str) -> Resource:
        """See ToolClient."""
        return self.resources.get(uri)

    def start(self, name: str, arguments: Mapping[str, Any], caller: str = "") -> str:
        """Start a continuous or event tool, which runs until it is stopped; the id of the watch.

        Raises:
            DeskhandError: ``invalid_input`` for an on_demand tool; what :meth:`invoke` answers with else.
        """
        if self.registry.get(name).card.mode == "on_demand":
            raise DeskhandError("invalid_input", f"{name} answers at once; only continuous and event tools are started.", hint="Invoke it.")
        result = self.invoke(name, arguments, caller=caller)
        if not result.ok:
            raise DeskhandError(result.code, result.message, retry=result.retry, hint=result.hint)
        return str(result.data["watch_id"])

    def unkept(self, tool: str, arguments: Mapping[str, Any], data: Any) -> list[str]:
        """What the card of a tool says to hold after a success, and does not now; ``data`` is the result of that call."""
        context = replace(self._context(), resources=self.resources, watches=self._watches)
        return broken_promises(self.registry.get(tool).card, context, arguments, data)

    def watches(self) -> list[WatchInfo]:
        """What was started and runs, and what ended last."""
        return self._watches.infos()

    def stop(self, watch_id: str) -> WatchInfo:
        """Stop a watch. Raises ``unknown_watch``, ``timeout``."""
        return self._watches.stop(watch_id)

    def events(self, watch_id: str, since: int = 0) -> list[WatchEvent]:
        """What a watch published after the event number ``since``. Raises ``unknown_watch``."""
        return self._watches.events(watch_id, since)

    def subscribe(self, watch_id: str, listener: Listener, since: int = 0) -> Callable[[], None]:
        """See ToolClient."""
        return self._watches.subscribe(watch_id, listener, since)

    def invoke(
        self, name: str, arguments: Mapping[str, Any], feedback: Feedback | None = None, cancelled: Callable[[], bool] | None = None, caller: str = ""
    ) -> ToolResult:
        """See ToolClient. Never raises: what went wrong is the result's code. A continuous tool is started: ``data`` is ``{"watch_id"}``."""
        started = time.perf_counter()
        call = Call(str(name), caller, feedback, self._capture)
        with self._lock:
            self._calls[call.id] = call
        given: dict[str, Any] = {}
        try:
            given = self._given(call.tool, arguments)
            problem = unreadable(given)
            self._record(call, "start", arguments={"unreadable": str(problem)} if problem else given)
            result = ToolResult("", "", self._perform(call, given, cancelled or _never))
        except BaseException as error:
            result = failure(error, call.tool, 0.0)
            if not isinstance(error, Exception):
                raise
            if not isinstance(error, DeskhandError):
                log.exception("tool %s failed", call.tool)
        finally:
            with self._lock:
                del self._calls[call.id]
        self._tell_guard(call, given, result)
        duration = time.perf_counter() - started
        if call.ran:
            self._measurements.add(call.tool, result.ok, duration)
        details = {**result.details, "call_id": call.id, **({"log": call.lines} if call.lines else {})}
        if news := self._watches.news(caller):
            details["events"] = [event.to_json() for event in news]
        return self._finish(call, replace(result, duration=duration, details=details))

    def _perform(self, call: Call, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Any:
        entry = self.registry.get(call.tool)
        problems = entry.inputs.problems(arguments)
        if problems and entry.card.lenient:
            call.log("warning", f"left out what does not fit: {InvalidArguments(call.tool, problems).message}")
            wrong = {str(problem.field).split(".")[0].split("[")[0] for problem in problems}
            arguments = {name: value for name, value in arguments.items() if name not in wrong}
            arguments = {} if entry.inputs.problems(arguments) else arguments
        elif problems:
            raise InvalidArguments(call.tool, problems)
        if "model" in entry.card.needs and (reason := self._absent().get("model")):  # devices tell for themselves, and may only be late
            raise DeskhandError("precondition_failed", f"{call.tool} is not available: {reason}.")
        context = replace(self._context(), progress=call.report, log=call.log, caller=call.caller, resources=self.resources, watches=self._watches)
        context.cards = self.registry.cards
        context.measured = self._measurements.of
        check_preconditions(entry.card, context, arguments)
        self._check_guard(entry.card, arguments, call.caller)
        self.approval.check(entry.card, arguments, call.caller, cancelled)
        if entry.card.mode != "on_demand":
            return {"watch_id": self._watches.begin(entry, context, arguments, call.caller)}
        if entry.card.isolated:
            self._processes.pool().start()  # what the first call of all waits for is no part of its time
        hold = self._locks.acquire(resources_of(entry.card), call.tool, self._lock_wait, cancelled)
        try:
            check_preconditions(entry.card, context, arguments)  # the wait for leave and devices may have been long
            self._check_guard(entry.card, arguments, call.caller)
            control = Control(call.tool, entry.card.timeout, cancelled)
            with self._lock:
                if self._closed:
                    raise DeskhandError("cancelled", "the tool session was closed.")
                call.control = control
        except BaseException:
            hold.release()
            raise
        call.ran = True
        token = _CURRENT.set(call)
        try:
            runner = self._processes if entry.card.isolated else self._runner
            data = runner.run(entry.tool, context, arguments, control, hold.release)
        finally:
            _CURRENT.reset(token)
        problems = entry.outputs.problems(data)
        if problems:
            raise DeskhandError("invalid_output", f"{call.tool} returned a result that does not fit its card: {problems[0]}.", hint="Tell the operator.")
        return data

    def _given(self, tool: str, arguments: Any) -> dict[str, Any]:
        try:
            return _copied(tool, arguments)
        except DeskhandError:
            if not self.lenient(tool):
                raise
            return {}

    def lenient(self, tool: str) -> bool:
        """Whether a tool runs whatever its arguments are; False for one that does not exist."""
        try:
            return self.registry.get(tool).card.lenient
        except DeskhandError:
            return False

    def _check_guard(self, card: Card, arguments: Mapping[str, Any], caller: str) -> None:
        if self._guard is not None:
            self._guard.check(card, arguments, caller)

    def _tell_guard(self, call: Call, arguments: Mapping[str, Any], result: ToolResult) -> None:
        if self._guard is None or result.code == "unknown_tool":
            return
        try:
            self._guard.heard(self.registry.get(call.tool).card, arguments, call.caller, result)
        except Exception:  # the call has been made; what watches it must not make it a failure
            log.exception("the guard of call %s failed", call.id)

    def warm_up(self) -> None:
        """Start a worker process now, so that the first call of an isolated tool need not wait for it."""
        self._processes.warm_up()

    def _isolated_modules(self) -> list[str]:
        tools = [entry.tool for entry in self.registry.entries() if entry.card.isolated]
        carrier = self._context().carrier
        return [*(tool.function.__module__ for tool in tools if isinstance(tool, FunctionTool)), *([type(carrier).__module__] if carrier else [])]

    def _absent(self) -> Mapping[str, str]:
        now = time.monotonic()
        if now - self._asked > MISSING_AGE:
            self._known_missing, self._asked = self._missing(), now
        return self._known_missing

    def _tell(self, event: WatchEvent) -> None:
        record = {"event": "watch", "sim_time": self._clock() if self._clock else None, **event.to_json()}
        self._events(record)

    def _record(self, call: Call, event: str, **data: Any) -> None:
        record = {"event": event, "id": call.id, "tool": call.tool, "caller": call.caller, "time": time.time(), **data}
        if self._clock:
            record["sim_time"] = self._clock()
        try:
            self._audit(record)
        except (OSError, DeskhandError) as error:
            raise DeskhandError("internal_error", f"the audit log cannot be written, so nothing is run: {error}", hint="Tell the operator.") from error
        try:
            self._events(record)
        except Exception:  # a watcher's code
            log.exception("the event of call %s was lost", call.id)

    def _finish(self, call: Call, result: ToolResult) -> ToolResult:
        try:
            self._record(call, "end", **asdict(result))
        except DeskhandError as error:
            log.error("%s", error)
            return replace(result, details={**result.details, "audit_error": str(error)})
        return result


def _lacking(card: Card, missing: Mapping[str, str]) -> str:
    """Why a tool cannot be used now, empty when it can."""
    return next((missing[need] for need in card.needs if need in missing), "")


def _never() -> bool:
    return False


def _copied(tool: str, arguments: Any) -> dict[str, Any]:
    """The arguments as they were when the call was made, whatever the caller does to them later."""
    if not isinstance(arguments, Mapping):
        raise DeskhandError("invalid_arguments", f"{tool}: the arguments must be an object, got {shown(arguments)}.", retry=True)
    try:
        return copy.deepcopy(dict(arguments))
    except (RecursionError, TypeError) as error:
        raise DeskhandError("invalid_arguments", f"{tool}: the arguments are nested too deeply or are not plain JSON data.", retry=True) from error
