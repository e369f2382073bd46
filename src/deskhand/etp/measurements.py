"""How long tools take and how often they succeed, as measured."""

from __future__ import annotations

import statistics
import threading
from collections import deque

from deskhand.etp.card import Measured

_WINDOW = 200


class Measurements:
    """Latency and success per tool over the last calls that really ran."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, deque[tuple[bool, float]]] = {}
        self._calls: dict[str, int] = {}

    def add(self, tool: str, ok: bool, duration: float) -> None:
        """One run of ``duration`` [s]."""
        with self._lock:
            self._runs.setdefault(tool, deque(maxlen=_WINDOW)).append((ok, duration))
            self._calls[tool] = self._calls.get(tool, 0) + 1

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
