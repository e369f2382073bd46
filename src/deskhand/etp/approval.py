"""Who may let a tool run: the operator, never the model."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.card import Card

MODES = ("never", "motion", "always")


@dataclass(frozen=True)
class Request:
    """A call that waits for the operator."""

    tool: str
    effects: str
    arguments: Mapping[str, Any]
    caller: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:8])


Approver = Callable[[Request, Callable[[], bool]], bool]
"""Asks the operator and waits; the second argument says when the caller gave up."""


class Approval:
    """The approval mode: ask for no call (``never``), for those that may move something (``motion``), or for all (``always``).

    It is set by whoever starts the session; no tool can reach it. ``exempt`` tools, the stop, need no leave.
    """

    def __init__(self, mode: str = "never", approver: Approver | None = None, exempt: frozenset[str] = frozenset({"stop_motion"})) -> None:
        if mode not in MODES:
            raise DeskhandError("config_error", f"the approval mode must be one of {', '.join(MODES)}, got {mode!r}.")
        self.mode = mode
        self._approver = approver
        self._exempt = exempt

    def check(self, card: Card, arguments: Mapping[str, Any], caller: str, cancelled: Callable[[], bool]) -> str:
        """Who approved, empty when nobody had to.

        Raises:
            DeskhandError: ``permission_denied``.
        """
        if self.mode == "never" or (self.mode == "motion" and card.effects != "motion"):
            return ""
        if card.name in self._exempt and card.effects != "motion":
            return ""
        if self._approver is None:
            raise DeskhandError(
                "permission_denied",
                f"{card.name} needs the operator's approval (mode {self.mode!r}), and no operator is connected.",
                hint="Ask the operator; no tool can grant it.",
            )
        if not self._approver(Request(card.name, card.effects, arguments, caller), cancelled):
            raise DeskhandError("permission_denied", f"the operator did not approve {card.name}.", hint="Ask the operator what to do instead.")
        return "operator"


class PendingApprovals:
    """An approver that lets another thread, the operator's, decide: first asked, first decided."""

    def __init__(self, timeout: float = 60.0, announce: Callable[[Request], None] | None = None) -> None:
        self._timeout = timeout
        self._announce = announce
        self._lock = threading.Lock()
        self._waiting: list[tuple[Request, threading.Event, list[bool]]] = []

    def __call__(self, request: Request, cancelled: Callable[[], bool]) -> bool:
        """Wait for the decision; no answer in time is a no."""
        decided, answer = threading.Event(), [False]
        entry = (request, decided, answer)
        with self._lock:
            self._waiting.append(entry)
        try:
            if self._announce:
                self._announce(request)
            waited = 0.0
            while waited < self._timeout and not cancelled():
                if decided.wait(0.05):
                    return answer[0]
                waited += 0.05
            return False
        finally:
            with self._lock:
                self._waiting = [other for other in self._waiting if other is not entry]

    def decide(self, approve: bool) -> Request | None:
        """Answer the oldest request; None when none waits."""
        with self._lock:
            if not self._waiting:
                return None
            request, decided, answer = self._waiting.pop(0)
        answer[0] = approve
        decided.set()
        return request
