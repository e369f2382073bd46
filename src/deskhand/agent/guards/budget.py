"""The budgets of a run: what may be used, how many refusals and failures it bears."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deskhand.agent.ends import End, Fatal
from deskhand.agent.limits import Limits
from deskhand.agent.records import Step
from deskhand.agent.toolset import Guard, Refusal, Toolset
from deskhand.etp.base import ToolResult

FATAL = frozenset(("node_unavailable", "safety_stop", "watchdog", "permission_denied"))
"""Codes of tools after which nobody may go on without a person."""
PATIENCE = {"stale_data": 3, "no_frame": 3, "timeout": 4, "internal_error": 4, "controller_failed": 3, "config_error": 1, "missing_dependency": 1}
"""How many such results a run bears."""


class BudgetGuard(Guard):
    """Ends the run where a limit is reached, and after a result that nobody may carry on after."""

    def __init__(self, inner: Toolset, limits: Limits) -> None:
        super().__init__(inner)
        self._limits, self._refused = limits, 0

    def check(self) -> None:
        """Of the limits."""
        self._limits.check()
        self.inner.check()

    def call(self, step: Step) -> ToolResult:
        """A refusal counts; one too many ends the run with its code."""
        result = self.inner.call(step)
        if isinstance(result, Refusal):
            self._refused += 1
            if self._refused >= self._limits.budgets.refusals:
                raise End(result.code, f"{self._refused} calls were refused; the last: {result.message}")
        return result

    def heard(self, name: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Raises :class:`End` on what nobody may carry on after."""
        if result.ok:
            return
        if result.code == "cancelled":
            if self._limits.stopped():
                raise End("cancelled", f"the task was cancelled: {result.message} {result.hint}".strip())
            self._limits.check()
        if result.code in FATAL or self._limits.meter.errors.count(result.code) >= PATIENCE.get(result.code, 10**6):
            raise Fatal(result)
