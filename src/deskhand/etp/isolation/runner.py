"""Runs an isolated tool in a worker process: what it may take is bounded, whatever it does ends with it."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from multiprocessing.connection import wait
from typing import Any

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.etp.isolation.pool import Pool, Process, borrow, give_back
from deskhand.etp.isolation.worker import MAX_RESULT
from deskhand.etp.outcome import ToolError
from deskhand.etp.resources import MAX_BYTES
from deskhand.etp.runner import POLL, Control
from deskhand.etp.tool import FunctionTool, Tool, ToolContext

KEPT_OUTPUT = 16 * 1024
"""Bytes of what a tool prints that are kept, as log lines."""
MAX_OUTPUT = 16 * 2**20
"""Bytes after which a tool that prints is ended."""
GRACE = 0.3  # [s] that a cancelled tool may take to end by itself
MAX_MESSAGES = 10_000


class ProcessRunner:
    """A :class:`deskhand.etp.runner.Runner` for isolated tools."""

    def __init__(self, modules: Callable[[], Iterable[str]]) -> None:
        """``modules``: where the isolated tools are; asked when a worker is wanted for the first time."""
        self._modules = modules
        self._borrowed: Pool | None = None
        self._closed = False
        self._lock = threading.Lock()

    def run(self, tool: Tool, context: ToolContext, arguments: Mapping[str, Any], control: Control, ended: Callable[[], None]) -> Any:
        """See Runner."""
        try:
            if not isinstance(tool, FunctionTool):
                raise DeskhandError("config_error", f"{tool.card.name} is no function, so it cannot be isolated.")
            pool = self.pool()
            process = pool.acquire(frozenset(tool.card.access), control.stopping)
            if process is None:
                raise control.error()
            return _call(pool, process, tool, context, arguments, control)
        finally:
            ended()

    def warm_up(self) -> None:
        """Start a first worker now."""
        self.pool().warm_up()

    def close(self) -> None:
        """Take no more calls; the workers go to the next session that wants them."""
        with self._lock:
            self._closed = True
            pool, self._borrowed = self._borrowed, None
        if pool is not None:
            give_back(pool)

    def pool(self) -> Pool:
        """Where the workers are. Raises ``cancelled`` after :meth:`close`."""
        with self._lock:
            if self._closed:
                raise DeskhandError("cancelled", "the tool session was closed.")
            if self._borrowed is None:
                self._borrowed = borrow(frozenset(self._modules()))
            return self._borrowed


def _call(pool: Pool, process: Process, tool: FunctionTool, context: ToolContext, arguments: Mapping[str, Any], control: Control) -> Any:
    conversation = _Conversation(process, tool, context, control)
    try:
        message = conversation.hold(arguments)
    except (EOFError, OSError) as error:
        conversation.read_output()
        status = pool.discard(process)
        raise DeskhandError(
            "tool_failed", f"{tool.card.name}: its process {_ended(status)}.", hint="This is a fault of the tool; tell the operator."
        ) from error
    except BaseException:
        pool.discard(process)
        raise
    failed = message.get("error")
    if failed is None:
        pool.release(process)
        return message.get("result")
    if failed.get("code") in ("limit_exceeded", "access_denied", "tool_failed"):
        pool.discard(process)
    else:
        pool.release(process)
    raise _raised(tool.card.name, failed, control)


class _Conversation:
    """One call with its worker, from the question to the answer."""

    def __init__(self, process: Process, tool: FunctionTool, context: ToolContext, control: Control) -> None:
        self._process, self._tool, self._context, self._control = process, tool, context, control
        self._name = tool.card.name
        self._printed, self._line = 0, b""
        self._open = True

    def hold(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The last message: a result or an error.

        Raises:
            DeskhandError: ``timeout``, ``cancelled``, ``limit_exceeded``, ``tool_failed``: the worker must be killed.
            EOFError, OSError: the worker has ended.
        """
        function = self._tool.function
        self._process.limit_memory(self._tool.card.memory)
        carrier = self._context.carrier
        call = {"module": function.__module__, "function": function.__qualname__, "arguments": arguments, "carried": carrier is not None}
        self._send({"call": call})
        if carrier is not None:
            self._process.connection.send_bytes(carrier.packed())
        kill_at = float("inf")
        messages = 0
        while True:
            ready = wait([self._process.connection, *([self._process.output] if self._open else [])], POLL)
            if self._process.output in ready:
                self.read_output()
            if self._process.connection in ready:
                messages += 1
                message = self._receive()
                if "result" in message or "error" in message:
                    self.read_output()
                    return message
                if messages > MAX_MESSAGES:
                    raise DeskhandError("limit_exceeded", f"{self._name} sent more than {MAX_MESSAGES} messages.")
                self._handle(message)
            if self._control.why() and kill_at == float("inf"):
                kill_at = time.monotonic() + GRACE
                self._send({"cancel": True})
            if time.monotonic() > kill_at:
                raise self._control.error()

    def read_output(self) -> None:
        """What the tool printed: the first of it becomes log lines, too much of it ends the call."""
        with contextlib.suppress(BlockingIOError, OSError):
            while data := os.read(self._process.output, 65536):
                if self._printed < KEPT_OUTPUT:
                    *lines, self._line = (self._line + data[: KEPT_OUTPUT - self._printed]).split(b"\n")
                    for line in lines:
                        self._context.log("print", line.decode(errors="replace"))
                self._printed += len(data)
                if self._printed > MAX_OUTPUT:
                    raise DeskhandError("limit_exceeded", f"{self._name} printed more than {MAX_OUTPUT >> 20} MB, so it was ended.")
            self._open = False

    def _send(self, message: Mapping[str, Any]) -> None:
        self._process.connection.send_bytes(json.dumps(message, ensure_ascii=False).encode())

    def _receive(self) -> dict[str, Any]:
        try:
            message = json.loads(self._process.connection.recv_bytes(2 * MAX_RESULT))
        except ValueError as error:
            raise DeskhandError("tool_failed", f"{self._name}: its process sent what is no message: {error}.") from error
        if not isinstance(message, dict):
            raise DeskhandError("tool_failed", f"{self._name}: its process sent what is no message.")
        return message

    def _handle(self, message: Mapping[str, Any]) -> None:
        try:
            if "progress" in message:
                fraction, text = message["progress"]
                self._context.progress(float(fraction), str(text))
            elif "log" in message:
                level, text = message["log"]
                self._context.log(str(level), str(text))
            elif "put" in message:
                content = self._process.connection.recv_bytes(MAX_BYTES)
                ref = self._context.resources.put(content, str(message["put"]["media_type"]), str(message["put"]["text"]))
                self._send({"resource": ref})
            elif "get" in message:
                self._give(str(message["get"]))
            elif "ask" in message:
                of, what, arguments, named = message["ask"]
                self._tell(str(of), str(what), list(arguments), dict(named))
        except (KeyError, TypeError, ValueError) as error:
            raise DeskhandError("tool_failed", f"{self._name}: its process sent what is no message: {error!r}.") from error

    def _give(self, uri: str) -> None:
        try:
            resource = self._context.resources.get(uri)
        except DeskhandError as error:
            self._refuse(error)
            return
        self._send({"resource": resource.ref})
        self._process.connection.send_bytes(resource.data)

    def _tell(self, of: str, what: str, arguments: list[Any], named: dict[str, Any]) -> None:
        try:
            if self._context.carrier is None:
                raise DeskhandError("access_denied", f"there is no {of} to ask.")
            answer = self._context.carrier.answer(of, what, arguments, named)
        except DeskhandError as error:
            self._refuse(error)
            return
        self._send({"answer": True})
        self._process.connection.send_bytes(answer)

    def _refuse(self, error: DeskhandError) -> None:
        self._send({"error": {"code": error.code, "message": error.message, "retry": error.retry, "hint": error.hint}})


def _raised(name: str, failed: Mapping[str, Any], control: Control) -> DeskhandError:
    """What the tool raised, as far as it can be believed."""
    code, message = str(failed.get("code")), str(failed.get("message"))
    if code == "cancelled" and control.why():
        return control.error()
    if code not in ERROR_NUMBERS:
        return DeskhandError("tool_failed", f"{name} failed with the unknown code {code[:40]!r}: {message}")
    text = f"{name}: {message}" if code in ("limit_exceeded", "access_denied", "tool_failed") else message
    data, retry, hint = failed.get("data"), failed.get("retry") is True, str(failed.get("hint") or "")
    return ToolError(code, text, data=data, retry=retry, hint=hint) if isinstance(data, dict) else DeskhandError(code, text, retry=retry, hint=hint)


def _ended(status: int | None) -> str:
    if status is None:
        return "is gone"
    return f"was ended by signal {-status}" if status < 0 else f"ended with exit code {status}"
