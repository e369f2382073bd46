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
"""From the most to the least permissive."""
OPERATOR = "orchestrator/"
"""Callers whose name begins so act for the operator's own task. Nobody can take the name through MCP; on the ROS graph names prove nothing, there a node
that lies could as well command the controllers itself (docs/safety.md).
"""


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

    Args:
        mode: for every caller.
        approver: asks the operator; None when no operator is connected.
        others: for callers other than the operator's own task (:data:`OPERATOR`); the stricter of both holds. Empty: as ``mode``.
    """

    def __init__(self, mode: str = "never", approver: Approver | None = None, others: str = "", exempt: frozenset[str] = frozenset({"stop_motion"})) -> None:
        for value in (mode, others or mode):
            if value not in MODES:
                raise DeskhandError("config_error", f"the approval mode must be one of {', '.join(MODES)}, got {value!r}.")
        self.mode = mode
        self.others = max(mode, others or mode, key=MODES.index)
        self._approver = approver
        self._exempt = exempt
        self._granted: set[str] = set()

    def mode_for(self, caller: str) -> str:
        """The mode that holds for a caller now, grants included."""
        if caller in self._granted:
            return "never"
        return self.mode if caller.startswith(OPERATOR) else self.others

    def grant(self, caller: str) -> None:
        """The operator's word that this caller needs no leave any more, until it is revoked or the session ends.

        Raises:
            DeskhandError: ``invalid_input`` for a caller without a name: anybody could be it.
        """
        if not caller:
            raise DeskhandError("invalid_input", "a caller without a name cannot be granted the rest of the session.", hint="Approve its calls one by one.")
        self._granted.add(caller)

    def revoke(self, caller: str = "") -> tuple[str, ...]:
        """Take back the grant of a caller, or of all; who had one."""
        taken = tuple(sorted(self._granted if not caller else self._granted & {caller}))
        self._granted.difference_update(taken)
        return taken

    @property
    def granted(self) -> tuple[str, ...]:
        """Callers that the operator granted the rest of the session."""
        return tuple(sorted(self._granted))

    def check(self, card: Card, arguments: Mapping[str, Any], caller: str, cancelled: Callable[[], bool]) -> str:
        """Who approved, empty when nobody had to.

        Raises:
            DeskhandError: ``permission_denied``; ``cancelled`` where the caller gave up first.
        """
        mode = self.mode_for(caller)
        if mode == "never" or (mode == "motion" and card.effects != "motion"):
            return ""
        if card.name in self._exempt and card.effects != "motion":
            return ""
        if self._approver is None:
            raise DeskhandError(
                "permission_denied",
                f"{card.name} needs the operator's approval (mode {mode!r}), and no operator is connected.",
                hint="Ask the operator; no tool can grant it.",
            )
        if not self._approver(Request(card.name, card.effects, arguments, caller), cancelled):
            if cancelled():
                raise DeskhandError("cancelled", f"{card.name} was cancelled before the operator had answered.")
            raise DeskhandError(
                "permission_denied",
                f"the operator did not approve {card.name}.",
                hint="Ask the operator what to do instead. Operators approve on the page, or with `deskhand approve`.",
            )
        return "operator"


class PendingApprovals:
    """An approver that lets another thread, the operator's, decide: by the request's id, or first asked, first decided.

    ``announce`` is told of every request, ``ended`` how it ended: ``approved``, ``denied``, ``timeout`` or ``cancelled``.
    """

    def __init__(self, timeout: float = 60.0, announce: Callable[[Request], None] | None = None, ended: Callable[[Request, str], None] | None = None) -> None:
        self._timeout = timeout
        self._announce, self._ended = announce, ended
        self._lock = threading.Lock()
        self._waiting: list[tuple[Request, threading.Event, list[bool]]] = []

    def __call__(self, request: Request, cancelled: Callable[[], bool]) -> bool:
        """Wait for the decision; no answer in time is a no."""
        decided, answer, end = threading.Event(), [False], "timeout"
        entry = (request, decided, answer)
        with self._lock:
            self._waiting.append(entry)
        try:
            if self._announce:
                self._announce(request)
            waited = 0.0
            while waited < self._timeout and not cancelled():
                if decided.wait(0.05):
                    end = "approved" if answer[0] else "denied"
                    return answer[0]
                waited += 0.05
            end = "cancelled" if cancelled() else end
            return False
        finally:
            with self._lock:
                self._waiting = [other for other in self._waiting if other is not entry]
            if self._ended:
                self._ended(request, end)

    def decide(self, approve: bool, request_id: str = "") -> Request | None:
        """Answer the request with this id, or the oldest; None when it does not wait (any more)."""
        with self._lock:
            found = next((entry for entry in self._waiting if request_id in ("", entry[0].id)), None)
            if found is None:
                return None
            self._waiting.remove(found)
            request, decided, answer = found
        answer[0] = approve
        decided.set()
        return request
