"""How long tools take and how often they succeed, as measured, over restarts."""

from __future__ import annotations

import json
import logging
import os
import statistics
import threading
from collections import deque
from pathlib import Path

from deskhand.errors import DeskhandError
from deskhand.etp.card import Card, Measured

log = logging.getLogger(__name__)

_WINDOW = 200
_ENOUGH = 5  # runs before anything is said of a tool
_RARELY, _SLOW = 0.7, 0.5  # success below it, median above that share of the time limit: ranked lower
_SAVE_EVERY = 20  # calls


class Measurements:
    """Latency and success per tool over the last calls that really ran.

    Args:
        file: where they are kept; read at once, written by :meth:`save` and now and then. None: only as long as this lives.

    Raises:
        DeskhandError: ``config_error`` when the file holds something else.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._runs: dict[str, deque[tuple[bool, float]]] = {}
        self._calls: dict[str, int] = {}
        self._unsaved = 0
        if file is not None and file.exists():
            self._load(file)

    def add(self, tool: str, ok: bool, duration: float) -> None:
        """One run of ``duration`` [s]."""
        with self._lock:
            self._runs.setdefault(tool, deque(maxlen=_WINDOW)).append((ok, duration))
            self._calls[tool] = self._calls.get(tool, 0) + 1
            self._unsaved += 1
            due = self._unsaved >= _SAVE_EVERY
        if due:
            self.save()

    def of(self, tool: str) -> Measured:
        """What is known of a tool."""
        with self._lock:
            runs, calls = list(self._runs.get(tool, ())), self._calls.get(tool, 0)
        if not runs:
            return Measured()
        times = sorted(duration for _, duration in runs)
        return Measured(
            calls=calls,
            success_rate=round(sum(ok for ok, _ in runs) / len(runs), 4),
            latency_median=round(statistics.median(times), 6),
            latency_p95=round(times[min(len(times) - 1, int(0.95 * len(times)))], 6),
        )

    def judge(self, card: Card) -> tuple[float, str]:
        """By what factor a tool is ranked, at most 1, and what must be said of it, empty for nothing."""
        with self._lock:
            if len(self._runs.get(card.name, ())) < _ENOUGH:
                return 1.0, ""
        measured = self.of(card.name)
        rate, median = measured.success_rate or 0.0, measured.latency_median or 0.0
        factor, notes = 1.0, []
        if rate < _RARELY:
            factor *= 0.5 + 0.5 * rate / _RARELY
            notes.append(f"fails often: {rate:.0%} of its last {min(measured.calls, _WINDOW)} calls succeeded")
        if median > _SLOW * card.timeout:
            factor *= 0.9
            notes.append(f"slow: {median:.1f} s, of at most {card.timeout:g} s")
        return factor, "; ".join(notes)

    def save(self) -> None:
        """Write the file; when that fails, it is logged, and the next time is another try."""
        if self._file is None:
            return
        with self._lock:
            self._unsaved = 0
            data = {tool: {"calls": self._calls[tool], "runs": [[ok, round(duration, 6)] for ok, duration in runs]} for tool, runs in self._runs.items()}
            new = self._file.with_name(f"{self._file.name}.{os.getpid()}.new")
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                new.write_text(json.dumps({"tools": data}))
                new.replace(self._file)
            except OSError as error:
                log.warning("what was measured of the tools cannot be kept in %s: %s", self._file, error)

    def _load(self, file: Path) -> None:
        try:
            for tool, kept in json.loads(file.read_text())["tools"].items():
                self._runs[tool] = deque(((bool(ok), float(duration)) for ok, duration in kept["runs"]), maxlen=_WINDOW)
                self._calls[tool] = int(kept["calls"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DeskhandError("config_error", f"{file} does not hold measurements of tools: {error!r}.", hint="Move it away; a new one is begun.") from error
