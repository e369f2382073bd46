"""An append-only file of JSON lines."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Journal:
    """Appends one line a record, each in one write, so that lines of several processes do not mix. Opened at the first record."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file = -1

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record.

        Raises:
            OSError: the file cannot be written.
        """
        line = (json.dumps(record, ensure_ascii=False, allow_nan=False, default=repr) + "\n").encode()
        with self._lock:
            if self._file < 0:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(self._file, line)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
