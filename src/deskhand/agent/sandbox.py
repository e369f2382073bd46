"""Python that a model wrote, run where it can do nothing but compute and call tools (pydantic-monty: an interpreter of its own, in a process of its own).

Tools are functions, ``print`` is what the model observes, names stay from one piece of code to the next. No imports but ``math``, no files, no network.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.llm.decision import inline

MAX_CODE = 8000
"""Characters of one piece of code."""
MAX_PRINTED = 6000
"""Characters that are observed of one piece of code; more is cut."""
SECONDS = 2.0  # [s] of computing between two calls of tools
MEMORY = 64 * 2**20  # bytes
CALLS = 10_000  # of tools and look-ups of names in one session
ALLOWED = frozenset(("math",))

CallTool = Callable[[str, Mapping[str, Any]], ToolResult]
"""Calls a tool; what it raises, other than a failed result, ends the code and reaches whoever runs it."""


@dataclass(frozen=True)
class Observation:
    """What a piece of code gave: what it printed, and its error, with the line (from 1) where it was."""

    text: str
    error: str = ""
    line: int = 0

    @property
    def ok(self) -> bool:
        """True when it ran to its end."""
        return not self.error


class Sandbox:
    """A session of code; a context manager. One thread at a time.

    Args:
        cards: of the tools that are functions.
        call: calls one.
    """

    def __init__(self, cards: Sequence[Mapping[str, Any]], call: CallTool) -> None:
        self._call = call
        self._functions: dict[str, Any] = {}
        self.add(cards)
        self._pool: Any = None
        self._session: Any = None
        self._stopped: BaseException | None = None

    def add(self, cards: Sequence[Mapping[str, Any]]) -> None:
        """These tools are functions from now on."""
        self._functions |= {str(card["name"]): self._function(card) for card in cards}

    def __enter__(self) -> Sandbox:
        try:
            from pydantic_monty import Monty
        except ImportError as error:
            raise DeskhandError("missing_dependency", f"code mode needs pydantic-monty ({error}).", hint="pip install pydantic-monty") from error
        self._pool = Monty(max_processes=1, request_timeout=None)
        self._pool.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._drop()
        self._pool.__exit__(kind, error, trace)

    def run(self, code: str) -> Observation:
        """Run a piece of code in the session. Never raises for what the code did; what ``call`` raised goes on."""
        if len(code) > MAX_CODE:
            return Observation("", f"the code has {len(code)} characters; at most {MAX_CODE}.")
        if problem := forbidden(code):
            return problem
        from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

        printed = _Printed()
        self._stopped = None
        try:
            value = self._open().feed_run(code, external_lookup=self._functions, print_callback=printed.take)
        except MontyCrashedError as error:
            self._drop()
            return Observation(printed.text(), f"the interpreter crashed: {error}. All names are gone.")
        except (MontyRuntimeError, MontySyntaxError) as error:
            if self._stopped is None:
                return self._failed(error, printed)
            value = None
        except MontyError as error:
            return Observation(printed.text(), str(error))
        if self._stopped is not None:  # whatever the code did with it
            raise self._stopped
        if value is not None:
            printed.take("stdout", f"{value!r}\n")
        return Observation(printed.text())

    def _failed(self, error: Any, printed: _Printed) -> Observation:
        frames = error.traceback() if hasattr(error, "traceback") else []
        line = int(frames[-1].line) if frames else 0
        text = error.display("type-msg")
        if "time limit exceeded" in text:  # the interpreter may be in the middle of anything
            self._drop()
            text += ". All names are gone."
        return Observation(printed.text(), text, line)

    def _open(self) -> Any:
        if self._session is None:
            limits = {"max_turn_duration_secs": SECONDS, "max_memory": MEMORY, "max_suspensions": CALLS, "max_total_sleep_secs": 0.0}
            session = self._pool.checkout(script_name="code", limits=limits)
            self._session = session.__enter__()
        return self._session

    def _drop(self) -> None:
        if self._session is not None:
            self._session.__exit__(None, None, None)
            self._session = None

    def _function(self, card: Mapping[str, Any]) -> Callable[..., Any]:
        name, names = str(card["name"]), list(card["input_schema"].get("properties", {}))

        def function(*positional: Any, **named: Any) -> Any:
            if len(positional) > len(names):
                raise TypeError(f"{name} takes {len(names)} arguments, got {len(positional)}")
            given = dict(zip(names, positional, strict=False))
            if both := set(given) & set(named):
                raise TypeError(f"{name}: {', '.join(sorted(both))} is given twice")
            if self._stopped is not None:
                raise self._stopped
            try:
                result = self._call(name, {**given, **named})
            except BaseException as error:  # the run is over: out of the code, and on to whoever runs it
                self._stopped = error
                raise
            if not result.ok:
                raise RuntimeError(f"{result.code}: {result.message} {result.hint}".strip())
            return result.data

        return function


class _Printed:
    """What code printed, up to a limit."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = self._lost = 0

    def take(self, stream: str, text: str) -> None:
        """A piece of it."""
        kept = text[: max(0, MAX_PRINTED - self._length)]
        self._parts.append(kept)
        self._length += len(kept)
        self._lost += len(text) - len(kept)

    def text(self) -> str:
        """All that was kept, and how much was not."""
        cut = f"\n… ({self._lost} more characters were printed)" if self._lost else ""
        return "".join(self._parts) + cut


def forbidden(code: str) -> Observation | None:
    """What is wrong with code before it runs: it cannot be read, or imports more than ``math``."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Observation("", f"SyntaxError: {getattr(error, 'msg', error)}", getattr(error, "lineno", 0) or 0)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        else:
            continue
        wrong = [module for module in modules if module not in ALLOWED]
        if wrong:
            return Observation("", f"ImportError: {wrong[0]} cannot be imported; only math can. Tools are functions that need no import.", node.lineno)
    return None


def signatures(cards: Sequence[Mapping[str, Any]], brief: bool = False) -> str:
    """The tools as Python functions, one a line, as the model reads them; ``brief``: with no more than the first words of what they do."""
    return "\n".join(f"{_signature(card)}  # {re.split(r'[:;,(]', card['summary'])[0].rstrip('.') if brief else card['summary']}" for card in cards)


def _signature(card: Mapping[str, Any]) -> str:
    properties, required = card["input_schema"].get("properties", {}), card["input_schema"].get("required", [])
    parts = [f"{name}: {_type(schema)}" + ("" if name in required else f" = {schema.get('default')!r}") for name, schema in properties.items()]
    given = inline(card.get("output_schema", {}))
    return f"{card['name']}({', '.join(parts)}) -> {{{', '.join(_result(name, schema) for name, schema in given.get('properties', {}).items())}}}"


def _result(name: str, schema: Mapping[str, Any]) -> str:
    """The name of a result; of a list of objects with the names that these have, for nobody can guess them."""
    items = schema.get("items", {})
    keys = items.get("properties", {}) if isinstance(items, Mapping) else {}
    return f"{name}: [{{{', '.join(keys)}}}]" if keys else name


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(repr(item) for item in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_type(option) for option in schema["anyOf"])
    names = {"number": "float", "integer": "int", "string": "str", "boolean": "bool", "null": "None", "array": "list", "object": "dict"}
    return names.get(str(schema.get("type", "")), "dict")
