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

    def __enter__(self) -> CodeMode:
        self._sandbox.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._sandbox.__exit__(kind, error, trace)

    def run(self, step: Step) -> ToolResult:
        """Run the code of a decision."""
        seen = self._sandbox.run(str(step.arguments["code"]))
        if seen.ok:
            return ToolResult("", "", {"printed": seen.text})
        where = f"line {seen.line}: " if seen.line else ""
        return ToolResult("tool_failed", f"{where}{seen.error}", {"printed": seen.text}, retry=True, hint="Correct the code; names of earlier code are kept.")

    def find(self, step: Step) -> ToolResult:
        """Search all tools; what is found is a function from now on, and its signature is told."""
        found = self._shown.find(str(step.arguments["query"]))
        if not found.ok:
            return found
        cards = [self._shown.by_name[item["name"]] for item in found.data["tools"]]
        self._sandbox.add(cards)
        return replace(found, data={"functions": signatures(cards)})

    def _called(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A tool called by the code."""
        self._toolset.check()
        given = dict(arguments)
        return self._shown.problem(ToolCall(name, given)) or self._toolset.call(Step(0, name, given))
