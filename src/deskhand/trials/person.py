"""The person of a task: says what the task lets somebody say while the robot works, and keeps what the robot asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from deskhand.sim.spec import Truth
from deskhand.tasks.base import Remark

if TYPE_CHECKING:
    from deskhand.trials.base import Progress


class Person:
    """An inbox (``person()`` gives the next words or None) that hears how the task goes."""

    def __init__(self, remarks: Sequence[Remark]) -> None:
        self._left = list(remarks)
        self._words: deque[str] = deque()
        self._asked: list[str] = []
        self._steps: set[int] = set()
        self.truth: Callable[[], Truth] | None = None
        """Where objects really are; the person sees the robot's hand."""
        self.held_then: tuple[str, ...] = ()

    def __call__(self) -> str | None:
        """The next words."""
        return self._words.popleft() if self._words else None

    @property
    def speaks(self) -> bool:
        """Whether there is anything that they would say; else nobody is there."""
        return bool(self._left)

    @property
    def questions(self) -> tuple[str, ...]:
        """All that the robot asked."""
        return tuple(self._asked)

    def hears(self, progress: Progress) -> None:
        """A line of what goes on."""
        if progress.question and progress.step not in self._steps:
            self._steps.add(progress.step)
            self._asked.append(progress.question)
            self._say(next((remark for remark in self._left if remark.asked and remark.asked.lower() in progress.question.lower()), None))
        elif progress.done:
            remark = next((remark for remark in self._left if remark.after == progress.tool), None)
            if remark is not None and self.truth is not None:
                self.held_then = self.truth().in_hand
            self._say(remark)

    def _say(self, remark: Remark | None) -> None:
        if remark is not None:
            self._left.remove(remark)
            self._words.append(remark.say)

    def next_task(self) -> None:
        """The next instruction begins: its steps are numbered anew, and words that nobody heard are gone."""
        self._steps.clear()
        self._words.clear()
