"""The stop: set by anybody, latched until it is reset, and not resettable while its cause lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.types import SafetyStatus

NodeExecutor = Callable[[SafetyStatus], None]


class SafetyStop:
    """Running or stopped. Listeners are called at every change, outside the lock; the first reason stays."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._status = SafetyStatus(False, stamp=now())
        self._listeners: list[NodeExecutor] = []
        self._causes: list[Callable[[], str]] = []

    def listen(self, listener: NodeExecutor) -> None:
        """Call ``listener`` with the new status at every change."""
        self._listeners.append(listener)

    def add_cause(self, cause: Callable[[], str]) -> None:
        """``cause`` says why a reset must be refused, or gives an empty text."""
        self._causes.append(cause)

    def status(self) -> SafetyStatus:
        """Now."""
        with self._lock:
            return self._status

    def stop(self, code: str, reason: str) -> bool:
        """Stop and latch; True when it was running. ``code`` is a key of ``errors.ERROR_NUMBERS``."""
        if code not in ERROR_NUMBERS:
            raise ValueError(f"unknown code {code!r}")
        with self._lock:
            if self._status.stopped:
                return False
            self._status = status = SafetyStatus(True, code, reason or "stopped", self._now())
        for listener in self._listeners:
            listener(status)
        return True

    def restore(self, status: SafetyStatus) -> None:
        """Be as at a moment before, in a simulation that is put back to it; listeners are told."""
        with self._lock:
            self._status = status
        for listener in self._listeners:
            listener(status)

    def require(self) -> None:
        """Raise the code of the stop while stopped."""
        status = self.status()
        if status.stopped:
            raise DeskhandError(status.code, f"the robot is stopped: {status.reason}.", hint="Remove the cause, then reset the stop.")

    def reset(self) -> None:
        """Run again.

        Raises:
            DeskhandError: the code of the stop, when a cause still lasts.
        """
        lasting = [text for cause in self._causes if (text := cause())]
        with self._lock:
            if lasting:
                raise DeskhandError(self._status.code or "safety_stop", f"cannot reset: {'; '.join(lasting)}.", hint="Remove the cause first.")
            if not self._status.stopped:
                return
            self._status = status = SafetyStatus(False, stamp=self._now())
        for listener in self._listeners:
            listener(status)
