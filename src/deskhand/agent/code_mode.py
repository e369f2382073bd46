"""Code mode: the model's Python, whose functions are held to the same guards as any call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from deskhand.agent.records import Step
from deskhand.agent.sandbox import Sandbox, signatures
from deskhand.agent.shown_tools import ShownTools
from deskhand.agent.toolset import Toolset
from deskhand.etp.base import ToolResult
from deskhand.llm.base import ToolCall
from deskhand.llm.brevity import brief_data

HINT = "What is under `made` is done. Go on from there with new code; names of earlier code are kept."
LONGEST = 160
"""Characters of a call in a report."""


class CodeMode:
    """Of one run; a context manager.

    Args:
        functions: cards of the tools that are functions from the beginning.
        toolset: answers what the code calls.
        shown: says whether the arguments fit, and finds more tools.
    """

    def __init__(self, functions: Sequence[Mapping[str, Any]], toolset: Toolset, shown: ShownTools) -> None:
        self._toolset, self._shown = toolset, shown
        self._sandbox = Sandbox(functions, self._called)
        self._made: list[str] = []
        self._failed: dict[str, Any] = {}
        self.results: list[tuple[str, ToolResult]] = []
        """Of the calls of the piece of code that ran last, by tool."""

    def __enter__(self) -> CodeMode:
        self._sandbox.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._sandbox.__exit__(kind, error, trace)

    def run(self, step: Step) -> ToolResult:
        """Run the code of a decision. Where it ends early, the result says what it had moved until then, and which call ended it, with what that call gave."""
        self._made, self._failed, self.results = [], {}, []
        seen = self._sandbox.run(str(step.arguments["code"]))
        if seen.ok:
            return ToolResult("", "", {"printed": seen.text})
        where = f"line {seen.line}: " if seen.line else ""
        data = {"printed": seen.text, **({"made": self._made} if self._made else {}), **({"failed": self._failed} if self._failed else {})}
        return ToolResult("tool_failed", f"{where}{seen.error}", data, retry=True, hint=HINT)

    def find(self, step: Step) -> ToolResult:
        """Search all tools; what is found is a function from now on, and its signature is told."""
        found = self._shown.find(str(step.arguments["query"]))
        if not found.ok:
            return found
        cards = [self._shown.by_name[item["name"]] for item in found.data["tools"]]
        self._sandbox.add(cards)
        return replace(found, data={"functions": signatures(cards)})

    def _called(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A tool called by the code. What it disturbed ends the code as a failure would: the rest was decided upon another desk."""
        self._toolset.check()
        given = dict(arguments)
        result = self._shown.problem(ToolCall(name, given)) or self._toolset.call(Step(0, name, given))
        self.results.append((name, result))
        moved = disturbed(result.data) if result.ok else ""
        if result.ok and self._shown.by_name.get(name, {}).get("effects") == "motion":
            self._made.append(_as_code(name, given))
        if moved:
            result = ToolResult(
                "stale_data", f"{name} was made and {moved}; what comes after it was decided upon another desk.", result.data, hint="Look again."
            )
        self._failed = {} if result.ok else {"tool": name, "call": _as_code(name, given), "code": result.code}
        if self._failed and result.data:
            self._failed["data"] = brief_data(result.data)
        return result


def disturbed(data: Any) -> str:
    """What a motion moved besides, in words; empty when nothing."""
    names = data.get("disturbed") if isinstance(data, Mapping) else None
    return f"disturbed {', '.join(map(str, names))}" if names else ""


def _as_code(name: str, arguments: Mapping[str, Any]) -> str:
    """The call, short."""
    text = f"{name}({', '.join(f'{key}={value!r}' for key, value in brief_data(arguments).items())})"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
