"""Which tools a model is shown: few at first, more when it looks for them, never all hundred."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema

from deskhand.agent.controls import CONTROL_CARDS, FIND_TOOLS_CARD
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolClient, ToolResult
from deskhand.llm.base import ToolCall

MOST = 40
"""So many tools of the robot are shown at a time; beyond that, what was found and not called longest is left out again."""
MOST_SHOWN = 24
"""The same for a strong model, which begins with few and finds the rest."""
FOUND = 5


class ShownTools:
    """The cards of one run: what was offered at first, what was found since, the loop's own tools.

    Attributes:
        by_name: the cards that are shown now; the same mapping all the time.
        controls: names of the loop's own tools.
    """

    def __init__(self, tools: ToolClient, first: Sequence[Mapping[str, Any]], most: int = MOST, total: int = 0) -> None:
        """``first`` stays; ``total`` is how many tools there are: where all are shown already, there is nothing to find."""
        own = [*CONTROL_CARDS, *([FIND_TOOLS_CARD] if total > len(first) else [])]
        self._tools, self._most = tools, most
        self.controls = frozenset(str(card["name"]) for card in own)
        self.by_name: dict[str, Mapping[str, Any]] = {str(card["name"]): card for card in (*first, *own)}
        self._found: list[str] = []

    def cards(self) -> list[Mapping[str, Any]]:
        """What the model is shown now."""
        return list(self.by_name.values())

    def card(self, name: str) -> Mapping[str, Any] | None:
        """The card of a tool that may be called: one that is shown, or one that exists (a hint may have named it), which is shown from now on."""
        if name not in self.by_name and FIND_TOOLS_CARD["name"] in self.controls:
            try:
                self._add(name, self._tools.describe(name))
            except DeskhandError:
                return None
        elif name in self._found:  # it is of use: others are left out first
            self._found.append(self._found.pop(self._found.index(name)))
        return self.by_name.get(name)

    def problem(self, call: ToolCall) -> ToolResult | None:
        """What is wrong with a call before anybody is asked to do it."""
        if call.malformed:
            return ToolResult("invalid_arguments", f"the arguments are no JSON object: {call.malformed}", retry=True, hint="Send one JSON object.")
        card = self.card(call.name)
        if card is None:
            return ToolResult("unknown_tool", f"there is no tool {call.name!r}.", hint=f"Tools: {', '.join(self.by_name)}.")
        errors = sorted(jsonschema.Draft202012Validator(card["input_schema"]).iter_errors(call.arguments), key=lambda error: list(map(str, error.path)))
        if errors:
            text = "; ".join(f"{'.'.join(map(str, error.path)) or 'arguments'}: {error.message}" for error in errors[:3])
            hint = f"The arguments of {call.name} are {json.dumps(card['input_schema'].get('properties', {}))[:800]}."
            return ToolResult("invalid_arguments", text, retry=True, hint=hint)
        return None

    def find(self, query: str) -> ToolResult:
        """Search all tools; what is found can be called from now on."""
        hits = [hit for hit in self._tools.search(query, limit=FOUND) if hit.available]
        for hit in hits:
            if hit.name not in self.by_name:
                self._add(hit.name, self._tools.describe(hit.name))
        if not hits:
            return ToolResult("unknown_tool", f"no tool fits {query!r}.", retry=True, hint="Say in other words what it should do.")
        return ToolResult("", "", {"tools": [{"name": hit.name, "summary": hit.summary} for hit in hits]})

    def _add(self, name: str, card: Mapping[str, Any]) -> None:
        self.by_name[name] = card
        self._found.append(name)
        while len(self.by_name) - len(self.controls) > self._most and len(self._found) > FOUND:
            del self.by_name[self._found.pop(0)]
