"""The audit log of the tool server, of which each task has its part beside its recording."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.safety.audit import AuditLog

log = logging.getLogger(__name__)

FILE = "audit.jsonl"


class TaskAudit:
    """An :class:`AuditLog` at ``path`` that lasts; between :meth:`begin` and :meth:`end` each line goes into the task's folder too, as a log of its own.

    A folder that cannot be written takes nothing from the log itself.
    """

    def __init__(self, path: Path) -> None:
        self._log = AuditLog(path)
        self._lock = threading.Lock()
        self._folder = ""
        self._part: AuditLog | None = None

    def open(self) -> TaskAudit:
        """See AuditLog."""
        self._log.open()
        return self

    def close(self) -> None:
        """See AuditLog."""
        self.end(self._folder)
        self._log.close()

    def write(self, event: str, data: dict[str, Any], durable: bool = True) -> dict[str, Any]:
        """See AuditLog; gives the line of the log that lasts."""
        line = self._log.write(event, data, durable)
        with self._lock:
            if self._part is not None:
                try:
                    self._part.write(event, data, durable=False)
                except (OSError, DeskhandError) as error:
                    self._given_up(error)
        return line

    def begin(self, folder: str) -> None:
        """A task is recorded in ``folder``; nothing where a log is there: this one, or that of a task that was told before this process began."""
        self.end(self._folder)
        path = Path(folder) / FILE
        if not folder or path.exists():
            return
        with self._lock:
            try:
                self._part, self._folder = AuditLog(path).open(), folder
            except (OSError, DeskhandError) as error:
                self._given_up(error)

    def end(self, folder: str) -> None:
        """The task of ``folder`` has ended."""
        with self._lock:
            if self._part is not None and folder == self._folder:
                self._part.close()
                self._part, self._folder = None, ""

    def _given_up(self, error: Exception) -> None:
        log.error("the part of the audit log in %s: %s", self._folder, error)
        self._part, self._folder = None, ""
