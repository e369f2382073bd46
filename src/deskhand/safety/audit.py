"""The audit log: append-only JSON lines, each chained to the one before by its hash.

What matters is on disk (``fsync``) before :meth:`AuditLog.write` returns; the rest is with the operating system, where the end of this process does not harm
it: only a power cut can take such lines, and only the last ones.

A line is ``{"index", "stamp", "event", "data", "previous", "hash"}``; ``hash`` is the SHA-256 of the line's JSON (sorted keys, no spaces)
without the field ``hash`` itself, ``previous`` the hash of the line before, 64 zeros for the first. A changed, removed or inserted line breaks the chain.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path
from typing import IO, Any

from deskhand.errors import DeskhandError

FIRST = "0" * 64


class AuditLog:
    """Writes one file; continues a file that is already there. Safe to use from several threads, not from several processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._index, self._previous = 0, FIRST

    def open(self) -> AuditLog:
        """Create or continue the file.

        Raises:
            DeskhandError: ``config_error`` when it cannot be written, or its chain is broken.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size:
                self._index, self._previous = verify(self._path)
            self._file = self._path.open("ab")
        except OSError as error:
            raise DeskhandError("config_error", f"the audit log {self._path} cannot be written: {error}.") from error
        return self

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file:
                self._file.close()
                self._file = None

    def __enter__(self) -> AuditLog:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, event: str, data: dict[str, Any], durable: bool = True) -> dict[str, Any]:
        """Append one event (JSON-able ``data``); when it is ``durable``, it and all before it are on disk when this returns. Gives the line as written."""
        with self._lock:
            if self._file is None:
                raise DeskhandError("internal_error", f"the audit log {self._path} is not open.")
            entry: dict[str, Any] = {"index": self._index, "stamp": time.time(), "event": event, "data": data, "previous": self._previous}
            entry["hash"] = _digest(entry)
            self._file.write(_json(entry) + b"\n")
            self._file.flush()
            if durable:
                os.fsync(self._file.fileno())
            self._index, self._previous = self._index + 1, entry["hash"]
            return entry


def verify(path: Path) -> tuple[int, str]:
    """Number of lines and the last hash of a file whose chain holds.

    Raises:
        DeskhandError: ``config_error`` naming the first line that does not fit.
    """
    previous, count = FIRST, 0
    with path.open("rb") as lines:
        for count, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                good = entry["previous"] == previous and entry["index"] == count - 1 and entry["hash"] == _digest(entry)
            except (ValueError, KeyError, TypeError):
                good = False
            if not good or not line.endswith(b"\n"):
                raise DeskhandError(
                    "config_error", f"the audit log {path} was changed: line {count} does not follow the one before.", hint="Keep it and begin a new file."
                )
            previous = entry["hash"]
    return count, previous


def _digest(entry: dict[str, Any]) -> str:
    return hashlib.sha256(_json({key: value for key, value in entry.items() if key != "hash"})).hexdigest()


def _json(data: dict[str, Any]) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode()
