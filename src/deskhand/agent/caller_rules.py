"""The operator's safety rules for callers that are not the operator's own task: MCP clients, other nodes, the command line.

The agent's loop holds its own plans and calls against the rules (guards/policy.py); whoever calls tools past it meets them here, at the session.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.agent.desk import TaskDesk
from deskhand.agent.rules import NEEDS_NO_LOOK, SafetyRules
from deskhand.errors import DeskhandError
from deskhand.etp.approval import OPERATOR
from deskhand.etp.base import ToolResult
from deskhand.etp.card import Card
from deskhand.world.acts import LOOKS


class CallerRules:
    """Of one tool server; a :class:`deskhand.etp.session.Guard`, safe to use from many threads.

    What is where is one picture, made of every caller's results. What a caller did is its own: "pick something at most 3 times" counts for each.

    Raises:
        DeskhandError: ``config_error`` naming the sentence that is not understood.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = tuple(sentences)
        self._desk = TaskDesk()
        self._rules: dict[str, SafetyRules] = {}
        self._lock = threading.Lock()
        SafetyRules(self._sentences)

    def check(self, card: Card, arguments: Mapping[str, Any], caller: str) -> None:
        """Hold a call against the rules before it runs.

        Raises:
            DeskhandError: ``impossible`` naming the rule that it would break; ``precondition_failed`` while nobody has looked.
        """
        if not self._sentences or card.effects != "motion" or caller.startswith(OPERATOR) or card.name in NEEDS_NO_LOOK:
            return
        with self._lock:
            if not self._desk.looked:
                raise DeskhandError("precondition_failed", "there are safety rules, and nobody has looked what is on the desk.", retry=True, hint="Look first.")
            broken = self._of(caller).broken_by(card.name, arguments, self._desk)
        if broken is not None:
            raise DeskhandError("impossible", str(broken), hint="Do what the rule asks for first, choose another way, or leave it undone.")

    def heard(self, card: Card, arguments: Mapping[str, Any], caller: str, result: ToolResult) -> None:
        """A call has ended."""
        if not self._sentences:
            return
        with self._lock:
            if result.ok and not caller.startswith(OPERATOR) and (card.effects == "motion" or card.name in LOOKS):
                self._of(caller).done(card.name, arguments, self._desk)
            self._desk.heard(card.name, arguments, result)
            self._desk.world.apply(card.name, arguments, result.ok, result.data)

    def _of(self, caller: str) -> SafetyRules:
        return self._rules.setdefault(caller, SafetyRules(self._sentences))
