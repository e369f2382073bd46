"""Takes the steps in their order: shows where one is, does what is not done yet, writes down what came of it, and says how to go on after a failure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand import __version__
from deskhand.arms.operator import Operator
from deskhand.bringup.first_day.base import Day, Step
from deskhand.bringup.first_day.journal import Entry, Failure, Journal, now
from deskhand.errors import DeskhandError


@dataclass
class TimedOperator:
    """An operator whose answers' time is counted [s]."""

    operator: Operator
    seconds: float = field(default=0.0, init=False)

    def say(self, text: str) -> None:
        """See Operator."""
        self.operator.say(text)

    def act(self, key: str, text: str) -> None:
        """See Operator."""
        began = time.monotonic()
        self.operator.act(key, text)
        self.seconds += time.monotonic() - began

    def confirm(self, key: str, text: str) -> bool:
        """See Operator."""
        began = time.monotonic()
        answer = self.operator.confirm(key, text)
        self.seconds += time.monotonic() - began
        return answer

    def number(self, key: str, text: str, default: float | None) -> float:
        """See Operator."""
        began = time.monotonic()
        answer = self.operator.number(key, text, default)
        self.seconds += time.monotonic() - began
        return answer

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        """See Operator."""
        began = time.monotonic()
        answer = self.operator.choose(key, text, options, default)
        self.seconds += time.monotonic() - began
        return answer


class FirstDay:
    """The steps of one day, with the journal of the unit.

    Raises:
        DeskhandError: ``config_error`` when two steps have one name.
    """

    def __init__(self, day: Day, steps: Sequence[Step], journal: Journal) -> None:
        self.day, self.steps, self.journal = day, tuple(steps), journal
        self._timed = TimedOperator(day.operator)
        names = [step.name for step in self.steps]
        if len(set(names)) < len(names):
            raise DeskhandError("config_error", f"the steps {names} do not all have names of their own.")
        day.settings = {**journal.settings, **day.settings}
        day.operator = self._timed

    def again(self, start: str = "", redo: str = "") -> None:
        """Forget what was measured by ``start`` and all steps after it, or by the step ``redo`` alone.

        Raises:
            DeskhandError: ``invalid_input`` with the names of the steps.
        """
        names = [step.name for step in self.steps]
        for name in filter(None, (start, redo)):
            if name not in names:
                raise DeskhandError("invalid_input", f"there is no step {name!r}; valid: {', '.join(names)}.")
        if start:
            self.journal.forget(tuple(names[names.index(start) :]))
        if redo:
            self.journal.forget((redo,))
            later = [name for name in names[names.index(redo) + 1 :] if self.journal.done(name)]
            if later:
                self.day.operator.say(f"Steps that stay as they are: {', '.join(later)}. Where they build on {redo}, use --from {redo} instead.")

    def run(self) -> None:
        """Do every step that is not done.

        Raises:
            DeskhandError: of the step that failed; the journal has what was done before, and that it failed.
        """
        for number, step in enumerate(self.steps, 1):
            entry = self.journal.entries.get(step.name)
            if entry is not None:
                state = "left out" if entry.left_out else f"done: {words(entry.measured)}"
                self.day.operator.say(f"[{number}/{len(self.steps)}] {step.title}: {entry.date}, {state}")
                continue
            self._say_where(number, step)
            self._take(step)
        self._clean_up()

    def _say_where(self, number: int, step: Step) -> None:
        left = sum(item.hands for item in self.steps[number - 1 :] if not self.journal.done(item.name))
        lines = [f"\n[{number}/{len(self.steps)}] {step.name}: {step.title}", f"    your hands: about {step.hands:g} min; {left:g} min until the end"]
        self.day.operator.say("\n".join(lines))

    def _take(self, step: Step) -> None:
        began, self._timed.seconds = time.monotonic(), 0.0
        self.day.measured = self.journal.measured
        try:
            wanted = not step.optional or self.day.operator.confirm(f"optional.{step.name}", f"This step can be left out. Do it: {step.title}?")
            measured = dict(step.run(self.day)) if wanted else {}
        except DeskhandError as error:
            self._failed(step, error.code, str(error))
            raise
        except KeyboardInterrupt:
            self._failed(step, "cancelled", "left by the person")
            raise
        seconds = time.monotonic() - began
        self.journal.entries[step.name] = Entry(now(), round(seconds, 1), round(self._timed.seconds, 1), __version__, measured, not wanted)
        self.journal.settings = dict(self.day.settings)
        self.journal.save()
        if wanted:
            self.day.operator.say(f"    done in {seconds:.0f} s: {words(measured)}" + (f"\n    what you see: {step.seen}" if step.seen else ""))

    def _failed(self, step: Step, code: str, message: str) -> None:
        self._clean_up()
        self.journal.failures.append(Failure(step.name, now(), code, message))
        self.journal.settings = {**self.journal.settings, **self.day.settings}
        self.journal.save()

    def _clean_up(self) -> None:
        if self.day.workplace is not None:
            self.day.workplace.release()


def words(measured: Mapping[str, Any]) -> str:
    """What a step measured on one line."""
    return ", ".join(f"{name} {_word(value)}" for name, value in measured.items()) or "nothing to measure"


def _word(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{name} {_word(item)}" for name, item in value.items()) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(_word, value)) + "]"
    return str(value)
