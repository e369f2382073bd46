"""Decisions that cannot come to anything: invalid ones in a row, the same one over and over, the same few in a circle."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand.agent.records import Budgets, Step
from deskhand.agent.spent import End

CIRCLES = 3
"""A circle of two or three decisions that all fail may be gone through so often."""


class Guard:
    """Of one run."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self._bad = 0

    def after(self, steps: Sequence[Step]) -> str:
        """A warning for the model after the newest step, mostly empty. Raises :class:`End` with ``model_failed`` when warnings did not help."""
        step = steps[-1]
        self._bad = 0 if step.valid else self._bad + 1
        if self._bad >= self._budgets.invalid_in_a_row:
            raise End("model_failed", f"the model made {self._bad} invalid calls in a row; the last: {step.message}")
        same = _in_a_row(steps)
        if same >= self._budgets.repeats:
            raise End("model_failed", f"the model repeated {step.tool} with the same arguments {same} times.")
        if same == self._budgets.repeats - 1:
            return f"You called {step.tool} {same} times with the same arguments. Do something else, or finish."
        for length in (2, 3):
            rounds = _rounds(steps, length)
            if rounds >= CIRCLES + 1:
                raise End("model_failed", f"the model went {rounds} times through the same {length} calls, which all fail.")
            if rounds == CIRCLES:
                return f"You went {rounds} times through the same {length} calls, and all of them fail. Try another way, or finish."
        return ""


def _key(step: Step) -> tuple[str, str]:
    return step.tool, repr(step.arguments)


def _in_a_row(steps: Sequence[Step]) -> int:
    count = 0
    for step in reversed(steps):
        if _key(step) != _key(steps[-1]):
            break
        count += 1
    return count


def _rounds(steps: Sequence[Step], length: int) -> int:
    """How often the last ``length`` steps were gone through at the end of the run, every one of them failing."""
    keys = [_key(step) for step in steps if step.tool]
    fails = [not step.ok for step in steps if step.tool]
    last, count = keys[-length:], 0
    if len(set(last)) < 2:
        return 0
    while len(keys) >= length * (count + 1):
        end = len(keys) - length * count
        if keys[end - length : end] != last or not all(fails[end - length : end]):
            break
        count += 1
    return count
