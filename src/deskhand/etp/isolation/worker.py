"""Inside of a worker process: takes calls, runs the tool, tells progress and the result.

Both sides speak JSON objects over one socket; the bytes of a resource follow the message that announces them.

To the worker: ``{"call": {"module", "function", "arguments", "carried"}}``, where ``carried`` is true followed by bytes; ``{"cancel": true}``;
``{"resource": {…}}``, ``{"answer": true}`` and bytes, or ``{"error": {…}}`` as an answer to put, get and ask.
From it: ``{"progress": [fraction, text]}``, ``{"log": [level, text]}``, ``{"put": {"media_type", "text"}}`` and bytes, ``{"get": uri}``,
``{"ask": [of, what, arguments, named]}``, and at the end
``{"result": …}`` or ``{"error": {"code", "message", "retry", "hint", "data"}}``.
"""

from __future__ import annotations

import gc
import json
import logging
import pickle
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, NoReturn, cast

from deskhand.errors import DeskhandError
from deskhand.etp.outcome import ToolError
from deskhand.etp.resources import Resource, ResourceRef, encoded
from deskhand.etp.tool import FunctionTool, ToolContext, tool_of

MAX_RESULT = 8 * 2**20
"""Bytes of JSON that a result may have; what is larger is a resource."""


class _Nobody:
    """The robot and the belief of an isolated tool to which nothing is carried: there are none."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> NoReturn:
        raise DeskhandError("access_denied", f"an isolated tool has no {self._what}: ctx.{self._what}.{name} is not there.")


class Worker:
    """The worker's end of the socket; also the :class:`~deskhand.etp.resources.Resources` that its tools see."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stopping = False
        self._lock = threading.RLock()  # a tool may log from threads of its own

    def serve(self) -> None:
        """One call after the other until the other side hangs up."""
        logging.getLogger().addHandler(_Log(self))
        logging.getLogger().setLevel(logging.INFO)
        while True:
            try:
                message = self._receive()
            except EOFError:
                return
            if "call" in message:
                self._stopping = False
                carried = self._connection.recv_bytes() if message["call"]["carried"] else None
                self._answer(message["call"], carried)

    def put(self, data: Any, media_type: str = "", text: str = "") -> ResourceRef:
        """See Resources."""
        content, media_type = encoded(data, media_type)
        with self._lock:
            self.send({"put": {"media_type": media_type, "text": text[:500]}})
            self._connection.send_bytes(content)
            return cast(ResourceRef, self._reply()["resource"])

    def get(self, uri: str) -> Resource:
        """See Resources."""
        with self._lock:
            self.send({"get": str(uri)})
            found = self._reply()["resource"]
            return Resource(uri, found["media_type"], self._connection.recv_bytes(), found["text"])

    def ask(self, of: str, what: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """See :data:`deskhand.etp.tool.Ask`."""
        with self._lock:
            self.send({"ask": [of, what, list(arguments), dict(named)]})
            self._reply()
            return pickle.loads(self._connection.recv_bytes())  # of the robot's process, which need not fear this one

    def send(self, message: Mapping[str, Any]) -> None:
        """One message to the other side."""
        with self._lock:
            self._connection.send_bytes(json.dumps(message, ensure_ascii=False).encode())

    def stopping(self) -> bool:
        """What tools see as ``ctx.cancelled``."""
        with self._lock:
            while not self._stopping and self._connection.poll(0):
                self._receive()
        return self._stopping

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._connection.recv_bytes())
        self._stopping = self._stopping or "cancel" in message
        return message

    def _reply(self) -> dict[str, Any]:
        message = self._receive()
        while "cancel" in message:
            message = self._receive()
        if "error" in message:
            told = message["error"]
            raise DeskhandError(told["code"], told["message"], retry=told["retry"], hint=told["hint"])
        return message

    def _answer(self, call: Mapping[str, Any], carried: bytes | None) -> None:
        try:
            text = json.dumps({"result": self._run(call, carried)}, ensure_ascii=False).encode()
            if len(text) > MAX_RESULT:
                raise DeskhandError(
                    "limit_exceeded", f"the result has {len(text) >> 20} MB of JSON; at most {MAX_RESULT >> 20}.", hint="Hand large ones on by ctx.resources."
                )
            self._connection.send_bytes(text)
        except BaseException as error:  # of the tool, whatever it is; the other side is told
            gc.collect()
            self.send({"error": told(error)})
            if not isinstance(error, Exception):
                raise

    def _run(self, call: Mapping[str, Any], carried: bytes | None) -> Any:
        function = find(call["module"], call["function"])
        fields: dict[str, Any] = {"robot": _Nobody("robot"), "belief": _Nobody("belief")}
        if carried is not None:
            fields = pickle.loads(carried).fields(self.ask)
        context = ToolContext(**fields, progress=self._progress, cancelled=self.stopping, log=self.log, resources=self)
        try:
            return function.run(context, call["arguments"])
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    def _progress(self, fraction: float, text: str) -> None:
        self.send({"progress": [float(fraction), str(text)[:500]]})

    def log(self, level: str, text: str) -> None:
        """See ToolContext."""
        self.send({"log": [str(level)[:20], str(text)[:500]]})


def find(module: str, function: str) -> FunctionTool:
    """The tool that a function of a module is.

    Raises:
        DeskhandError: ``config_error`` when there is none, as for a function inside of another.
    """
    try:
        found = tool_of(getattr(sys.modules.get(module) or import_module(module), function))
    except (ImportError, AttributeError) as error:
        raise DeskhandError("config_error", f"the isolated tool {module}.{function} cannot be imported: {error}.") from error
    if found is None:
        raise DeskhandError("config_error", f"{module}.{function} is no tool.")
    return found


def told(error: BaseException) -> dict[str, Any]:
    """An exception of a tool as it goes through the socket."""
    if isinstance(error, DeskhandError):
        data = error.data if isinstance(error, ToolError) else None
        return {"code": error.code, "message": error.message, "retry": error.retry, "hint": error.hint, "data": data}
    text = f"{type(error).__name__}: {error}"[:1000]
    if isinstance(error, MemoryError):
        return {"code": "limit_exceeded", "message": f"out of memory: {text}", "hint": "Call it with less data."}
    if isinstance(error, PermissionError):
        return {"code": "access_denied", "message": f"the tool tried what its card does not allow: {text}", "hint": "Tell the operator."}
    if isinstance(error, OSError) and error.errno in (24, 27):  # EMFILE, EFBIG
        return {"code": "limit_exceeded", "message": text}
    return {"code": "tool_failed", "message": text, "hint": "This is a fault of the tool; tell the operator."}


class _Log(logging.Handler):
    def __init__(self, worker: Worker) -> None:
        super().__init__(logging.INFO)
        self._worker = worker

    def emit(self, record: logging.LogRecord) -> None:
        self._worker.log(record.levelname.lower(), record.getMessage())
