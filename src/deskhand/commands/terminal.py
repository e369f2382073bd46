"""What a person types while the robot works: instructions, answers to its questions, corrections."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable

from deskhand.bringup.environment import workstation_defaults
from deskhand.bringup.task_process import TaskProcess

Lines = Callable[[], str | None]
"""The next line that was typed, None when there is none."""


def typed_lines() -> Lines | None:
    """What is typed at the terminal, a line a call; None where there is no terminal, so that nobody can answer."""
    if not sys.stdin.isatty():
        return None
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line.strip())

    def next_line() -> str | None:
        try:
            return lines.get_nowait()
        except queue.Empty:
            return None

    threading.Thread(target=read, daemon=True, name="terminal").start()
    return next_line


class Dialogue:
    """Gives a running robot what is typed: an instruction, or words for the task that runs. ``show`` prints a line.

    Empty lines are left out; how a task goes, what it asks and how it ended is shown as it comes.
    """

    def __init__(self, lines: Lines, show: Callable[[str], None], namespace: str = "") -> None:
        self._lines, self._show, self._namespace = lines, show, namespace
        self._task: TaskProcess | None = None

    def poll(self) -> None:
        """Pass on what was typed and said since the last time."""
        while (text := self._lines()) is not None:
            if not text:
                continue
            if self._task is None:
                self._task = TaskProcess(text, "tools", {**os.environ, **workstation_defaults(os.environ)}, listen=True, namespace=self._namespace)
                self._task.__enter__()
            else:
                self._task.tell(text)
        while self._task is not None and (line := self._task.next_line(0.0)) is not None:
            if line["type"] == "feedback":
                self._show(f"{line['step']:>3} {line['tool']} {line['text']}".rstrip())
                if line.get("question"):
                    choices = "".join(f"\n  {number}  {option}" for number, option in enumerate(line["options"], 1))
                    self._show(f"? {line['question']}{choices}")
            elif line["type"] == "told" and not line["accepted"]:
                self._show(f"not heard: {line['message']}")
            elif line["type"] == "result":
                if line["episode"]:
                    self._show(f"record: {line['episode']}")
                self._show(f"{'done' if line['success'] else line['error_code']}: {line['summary'] or line['error_message']}")
                self.close()
        if self._task is not None and self._task.ended():
            self._show(f"the task ended without a result: {self._task.errors()}")
            self.close()

    def close(self) -> None:
        """End the task that runs, if one does."""
        task, self._task = self._task, None
        if task is not None:
            task.__exit__(None, None, None)
