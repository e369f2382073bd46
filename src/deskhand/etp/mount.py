"""Tools of somebody else's tool server, beside ours: another robot's, or another process's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.etp.base import ToolClient
from deskhand.etp.card import Card
from deskhand.etp.outcome import ToolError
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext

STARTED: dict[str, Any] = {"type": "object", "properties": {"watch_id": {"type": "string"}}, "required": ["watch_id"]}


@dataclass(frozen=True)
class ClientTool:
    """A tool that is called through a ToolClient; ``name`` is what it is called there."""

    card: Card
    client: ToolClient
    name: str

    def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
        """See Tool. Its errors are those of the other side, with what that measured."""
        result = self.client.invoke(self.name, arguments, context.progress, context.cancelled, context.caller)
        if result.ok:
            return result.data
        code = result.code if result.code in ERROR_NUMBERS else "tool_failed"
        text = f"{self.card.source}: {result.message}"
        if isinstance(result.data, dict):
            raise ToolError(code, text, data=result.data, retry=result.retry, hint=result.hint)
        raise DeskhandError(code, text, retry=result.retry, hint=result.hint)


def mount_client(session: Session, client: ToolClient, prefix: str, source: str) -> list[str]:
    """Add the tools of ``client`` as ``prefix_name``; their resources are fetched from it.

    Its devices are not ours: preconditions and locks are checked on its side. A continuous tool is started there; its events come by the
    mounted ``prefix_read_events``.

    Returns:
        One line for each tool that was refused.

    Raises:
        DeskhandError: ``node_unavailable`` when nobody answers.
    """
    problems = []
    for hit in client.search():
        try:
            session.registry.add(ClientTool(_mounted(client.describe(hit.name), prefix, source), client, hit.name))
        except DeskhandError as error:
            problems.append(f"tool {hit.name} of {source} was refused: {error}")
    session.resources.also(client.resource)
    return problems


def mounted_name(prefix: str, name: str) -> str:
    """``prefix_name`` as names of tools must be: lower case, digits and underscores."""
    return re.sub(r"[^a-z0-9_]+", "_", f"{prefix}_{name}".lower()).strip("_")[:64]


def _mounted(data: Mapping[str, Any], prefix: str, source: str) -> Card:
    card = Card.from_json(data)
    changes: dict[str, Any] = {
        "name": mounted_name(prefix, card.name), "source": source, "needs": (), "preconditions": (), "postconditions": (), "isolated": False, "access": (),
    }  # fmt: skip
    if card.mode != "on_demand":
        changes |= {"mode": "on_demand", "event_schema": None, "output_schema": STARTED}
    return Card.from_json({**card.to_json(), **changes})
