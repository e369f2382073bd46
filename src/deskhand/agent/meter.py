"""What a run has used: time, calls, tokens, money."""

from __future__ import annotations

import time
from collections.abc import Callable

from deskhand.llm.base import Usage


class Meter:
    """Args:
    now: clock [s].

    Attributes:
        calls: of the robot's tools; ``tokens``, ``cost``: of the model. ``errors``: codes of the calls that failed, in order.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._start = now()
        self.calls = self.tokens = 0
        self.cost = 0.0
        self.errors: list[str] = []
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
