"""The limits of a run, held against what it has used."""

from __future__ import annotations

from collections.abc import Callable

from deskhand.agent.ends import End
from deskhand.agent.meter import Meter
from deskhand.agent.records import Budgets


class Limits:
    """Args:
    budgets: the limits.
    meter: what was used of them.
    stopped: polled; whether somebody wants the run to end.
    """

    def __init__(self, budgets: Budgets, meter: Meter, stopped: Callable[[], bool]) -> None:
        self.budgets, self.meter, self.stopped = budgets, meter, stopped

    def over(self) -> bool:
        """Whether a call that runs has to end."""
        return self.stopped() or self.meter.seconds > self.budgets.seconds

    def check(self) -> None:
        """Raises :class:`End` with ``cancelled`` or ``budget_exceeded``."""
        if self.stopped():
            raise End("cancelled", "the task was cancelled.")
        limits, used = self.budgets, self.meter
        if used.seconds > limits.seconds:
            raise End("budget_exceeded", f"{limits.seconds:g} s were not enough.")
        if used.calls >= limits.tool_calls:
            raise End("budget_exceeded", f"{limits.tool_calls} tool calls were not enough.")
        if limits.tokens and used.tokens >= limits.tokens:
            raise End("budget_exceeded", f"{limits.tokens} tokens were not enough.")
        if limits.cost and used.cost >= limits.cost:
            raise End("budget_exceeded", f"the model has cost {used.cost:.2f}, and {limits.cost:g} is the limit.")
