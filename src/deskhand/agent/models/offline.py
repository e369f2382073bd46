"""A brain without a network behind the same Protocol as a language model. Deterministic; keeps nothing between replies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from deskhand.agent.base import Message, Reply, ToolCall
from deskhand.agent.brain import Brain
from deskhand.agent.prompt import FINISH
from deskhand.agent.pursuit import Call, Heard
from deskhand.errors import DeskhandError


class OfflineModel:
    """Computes its reply from the conversation alone: the script of :class:`Brain` is replayed with the results that the messages hold."""

    name = "offline"

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """The next call. Raises ``model_failed`` when the conversation is not one that it began."""
        if schema is not None:
            raise DeskhandError("model_failed", "the offline brain answers by tool calls only.", hint="Use a language model where a schema must be filled in.")
        instruction = next((message.content for message in messages if message.role == "user"), "")
        names = [str(card["name"]) for card in tools]
        script = Brain(instruction, names).script()
        call = next(script)
        for result in _results(messages):
            try:
                call = script.send(result)
            except StopIteration:
                raise DeskhandError("model_failed", "the task was finished already.") from None
        if call.tool not in names:
            why = f"I need the tool {call.tool} for this, and it is not offered."
            call = Call(FINISH, {"status": "refused", "summary": why, "code": "unknown_tool"})
        return Reply(call.thought, (ToolCall(call.tool, call.arguments),))


def _results(messages: Sequence[Message]) -> list[Heard]:
    return [_heard(message.content) for message in messages if message.role == "tool"]


@lru_cache(maxsize=512)
def _heard(content: str) -> Heard:
    try:
        body = json.loads(content)
    except json.JSONDecodeError as error:
        raise DeskhandError("model_failed", f"a tool result in the conversation is no JSON: {error}.") from error
    return Heard(bool(body.get("ok")), body.get("data"), str(body.get("code", "")), str(body.get("message", "")))
