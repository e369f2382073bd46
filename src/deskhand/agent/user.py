"""The person who gave the instruction, while the task runs: what they say of their own accord, and their answers to questions."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from deskhand.language.parser import is_stop

Inbox = Callable[[], str | None]
"""The next words that the user said, None when there are none; polled, must not block."""

POLL = 0.05  # [s]
_YES = re.compile(r"\s*(?:y|yes|yeah|yep|sure|ok|okay|please do|do it|go ahead|fine)\b.*", re.IGNORECASE | re.DOTALL)


class User:
    """Args:
    inbox: where words come from; None where nobody can say anything.
    answer_seconds: how long a question waits for its answer [s]; not positive: nobody is there to answer.
    sleep, now: for tests.
    """

    def __init__(
        self, inbox: Inbox | None, answer_seconds: float, sleep: Callable[[float], None] = time.sleep, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._inbox, self._wait = inbox, answer_seconds
        self._sleep, self._now = sleep, now
        self._new: list[str] = []
        self.words: list[str] = []
        """All that was said so far, answers too."""

    def stopped(self) -> bool:
        """Whether the user has said stop; to be asked often."""
        while self._inbox is not None and (text := self._inbox()) is not None:
            if text.strip():
                self._new.append(text.strip())
                self.words.append(text.strip())
        return any(map(is_stop, self._new))

    def said(self) -> list[str]:
        """What came since the last time; blank words are left out."""
        self.stopped()
        new, self._new = self._new, []
        return new

    def answer(self, options: Sequence[str], check: Callable[[], None]) -> str | None:
        """Wait for the answer to a question; a number picks that one of the ``options``, from 1. None: nobody answers.

        Args:
            check: called while waiting; what it raises ends the wait.
        """
        if self._inbox is None or self._wait <= 0:
            return None
        end = self._now() + self._wait
        while self._now() < end:
            check()
            if new := self.said():
                text = "; ".join(new)
                return options[int(text) - 1] if text.isascii() and text.isdigit() and 1 <= int(text) <= len(options) else text
            self._sleep(POLL)
        return None


def means_yes(answer: str | None) -> bool:
    """Whether an answer of the user is a yes."""
    return answer is not None and _YES.fullmatch(answer) is not None
