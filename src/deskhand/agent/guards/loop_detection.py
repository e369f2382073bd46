"""Decisions that cannot come to anything: invalid ones in a row, the same one over and over, the same few in a circle, an object moved to and fro."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand.agent.controls import ASK_USER, FINISH, SUBMIT_PLAN
from deskhand.agent.ends import End
from deskhand.agent.records import Budgets, Step
from deskhand.agent.toolset import Guard, Toolset

PICK = "pick"
CIRCLES = 3
"""A circle of two to four decisions that all fail, or that move the same objects the same way, may be gone through so often."""
TO_AND_FRO = 6
"""So often the same object may be picked up, and put down, without the end being claimed or the user saying something in between."""


class LoopDetection(Guard):
    """Args:
    budgets: how often is too often.
    steps: of the run, in order.
    """

    def __init__(self, inner: Toolset, budgets: Budgets, steps: Sequence[Step]) -> None:
        super().__init__(inner)
        self._budgets, self._steps = budgets, steps
        self._bad = 0

    def answered(self, step: Step) -> str:
        """A warning for the model after the newest step, mostly empty. Raises :class:`End` with ``model_failed`` when warnings did not help."""
        return self._warning(step) or self.inner.answered(step)

    def _warning(self, step: Step) -> str:
        steps = self._steps
        self._bad = 0 if step.valid else self._bad + 1
        if self._bad >= self._budgets.invalid_in_a_row:
            raise End("model_failed", f"the model made {self._bad} invalid calls in a row; the last: {step.message}")
        same = _in_a_row(steps)
        if same >= self._budgets.repeats:
            raise End("model_failed", f"the model repeated {step.tool} with the same arguments {same} times.")
        if same == self._budgets.repeats - 1:
            return f"You called {step.tool} {same} times with the same arguments. Do something else, or finish."
        for length in (2, 3, 4):
            rounds, moves = _rounds(steps, length)
            what = "which move the same objects over and over" if moves else "which all fail"
            if rounds >= CIRCLES + 1:
                raise End("model_failed", f"the model went {rounds} times through the same {length} calls, {what}.")
            if rounds == CIRCLES:
                return f"You went {rounds} times through the same {length} calls, {what}. Try another way, or finish."
        return _to_and_fro(steps)


def _key(step: Step) -> tuple[str, str]:
    return step.tool, repr(step.arguments)


def _in_a_row(steps: Sequence[Step]) -> int:
    count = 0
    for step in reversed(steps):
        if _key(step) != _key(steps[-1]):
            break
        count += 1
    return count


def _rounds(steps: Sequence[Step], length: int) -> tuple[int, bool]:
    """How often the last ``length`` steps were gone through at the end of the run, every one of them failing or with an object picked up among them; and
    whether it is the latter.
    """
    keys = [_key(step) for step in steps if step.tool]
    fails = [not step.ok for step in steps if step.tool]
    last, count = keys[-length:], 0
    if len(set(last)) < 2:
        return 0, False
    moves = any(step.tool == PICK and step.ok for step in [step for step in steps if step.tool][-length:])
    while len(keys) >= length * (count + 1):
        end = len(keys) - length * count
        if keys[end - length : end] != last or not (moves or all(fails[end - length : end])):
            break
        count += 1
    return count, moves


def _to_and_fro(steps: Sequence[Step]) -> str:
    """An object that is taken up again and again, wherever it is put."""
    if steps[-1].tool != PICK or not steps[-1].ok:
        return ""
    count = 0
    for step in reversed(steps):
        if step.tool in (FINISH, ASK_USER, SUBMIT_PLAN):
            break
        count += _key(step) == _key(steps[-1]) and step.ok
    if count > TO_AND_FRO:
        raise End("model_failed", f"the model picked up {steps[-1].arguments.get('object_id')} {count} times.")
    if count == TO_AND_FRO:
        return f"You picked up {steps[-1].arguments.get('object_id')} {count} times. Put it where it belongs, and go on to something else, or finish."
    return ""
