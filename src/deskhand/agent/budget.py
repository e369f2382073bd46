"""What a run has used of its budgets, and its ends."""

from __future__ import annotations

import time
from collections.abc import Callable

from deskhand.agent.records import Budgets
from deskhand.llm.base import Usage


class End(Exception):
    """Ends the run with a code."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class Spent:
    """Args:
    budgets: the limits.
    stopped: polled; whether somebody wants the run to end.
    now: clock [s].

    Attributes:
        calls: of the robot's tools; ``refused``: decisions that the gate held back; ``tokens``, ``cost``: of the model.
    """

    def __init__(self, budgets: Budgets, stopped: Callable[[], bool], now: Callable[[], float]) -> None:
        self._budgets, self.stopped, self._now = budgets, stopped, now
        self._start = now()
        self.calls = self.refused = self.tokens = 0
        self.cost = 0.0
        self._mark, self._elsewhere = time.thread_time(), 0.0

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return self._now() - self._start

    def model(self, usage: Usage) -> None:
        """A reply was had."""
        self.tokens += usage.prompt_tokens + usage.completion_tokens
        self.cost += usage.cost

    def tool(self, cpu: float) -> None:
        """A tool was called and took so much of this thread's CPU time [s], which is not the loop's."""
        self.calls += 1
        self.elsewhere(cpu)

    def elsewhere(self, cpu: float) -> None:
        """So much of this thread's CPU time [s] went into a tool, or into waiting for the model."""
        self._elsewhere += cpu

    def overhead(self) -> float:
        """CPU time [s] of this thread since the last time, outside of tools; models run in threads of their own."""
        now = time.thread_time()
        own = max(0.0, now - self._mark - self._elsewhere)
        self._mark, self._elsewhere = now, 0.0
        return own

    def refuse(self, code: str, why: str) -> None:
        """A decision was held back. Raises :class:`End` when it was one too many."""
        self.refused += 1
        if self.refused >= self._budgets.refusals:
            raise End(code, f"{self.refused} calls were refused; the last: {why}")

    def over(self) -> bool:
        """Whether a call that runs has to end."""
        return self.stopped() or self.seconds > self._budgets.seconds

    def check(self) -> None:
        """Raises :class:`End` with ``cancelled`` or ``budget_exceeded``."""
        if self.stopped():
            raise End("cancelled", "the task was cancelled.")
        limits = self._budgets
        if self.seconds > limits.seconds:
            raise End("budget_exceeded", f"{limits.seconds:g} s were not enough.")
        if self.calls >= limits.tool_calls:
            raise End("budget_exceeded", f"{limits.tool_calls} tool calls were not enough.")
        if limits.tokens and self.tokens >= limits.tokens:
            raise End("budget_exceeded", f"{limits.tokens} tokens were not enough.")
        if limits.cost and self.cost >= limits.cost:
            raise End("budget_exceeded", f"the model has cost {self.cost:.2f}, and {limits.cost:g} is the limit.")
