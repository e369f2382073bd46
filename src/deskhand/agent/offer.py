"""Which tools a model is shown: few at first, more when it looks for them, never all hundred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.agent.controls import CONTROL_CARDS, FIND_TOOLS_CARD
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolClient, ToolResult

MOST = 40
"""So many tools of the robot are shown at a time; beyond that, what was found and not called longest is left out again."""
FOUND = 5


class Offer:
    """The cards of one run, in the order in which they are shown: what was offered at first, what was found since, the loop's own tools."""

    def __init__(self, tools: ToolClient, first: Sequence[Mapping[str, Any]], most: int = MOST, total: int = 0) -> None:
        """``first`` stays; ``total`` is how many tools there are: where all are shown already, nothing can be found."""
        self._tools, self._most = tools, most
        own = {str(card["name"]) for card in CONTROL_CARDS}
        self._first = {str(card["name"]): card for card in first if card["name"] not in own}
        self._found: dict[str, Mapping[str, Any]] = {}
        self.controls = [*CONTROL_CARDS, *([FIND_TOOLS_CARD] if total > len(self._first) else [])]

    def cards(self) -> list[Mapping[str, Any]]:
        """What the model is shown now."""
        return [*self._first.values(), *self._found.values(), *self.controls]

    def card(self, name: str) -> Mapping[str, Any] | None:
        """The card of a tool that may be called: one that is shown, or one that exists (a hint may have named it), which is shown from now on."""
        shown = {str(card["name"]): card for card in self.cards()}.get(name)
        if shown is not None:
            if name in self._found:
                self._found[name] = self._found.pop(name)
            return shown
        if not any(card["name"] == FIND_TOOLS_CARD["name"] for card in self.controls):
            return None
        try:
            card = self._tools.describe(name)
        except DeskhandError:
            return None
        self._add(name, card)
        return card

    def find(self, query: str) -> ToolResult:
        """Search all tools; what is found can be called from now on."""
        hits = [hit for hit in self._tools.search(query, limit=FOUND) if hit.available]
        for hit in hits:
            if hit.name not in self._first and hit.name not in self._found:
                self._add(hit.name, self._tools.describe(hit.name))
        if not hits:
            return ToolResult("unknown_tool", f"no tool fits {query!r}.", retry=True, hint="Say in other words what it should do.")
        return ToolResult("", "", {"tools": [{"name": hit.name, "summary": hit.summary} for hit in hits]})

    def _add(self, name: str, card: Mapping[str, Any]) -> None:
        self._found[name] = card
        while len(self._first) + len(self._found) > self._most and len(self._found) > FOUND:
            self._found.pop(next(iter(self._found)))
