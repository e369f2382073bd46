"""What OpenAI's chat interface looks like on the wire: messages and tools out; a whole answer or a stream of pieces in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deskhand.llm.base import Message, ToolCall
from deskhand.llm.faults import ModelFault
from deskhand.llm.pictures import base64_of, media_type

BELONGS = "The picture that belongs to the result of "
"""How the message begins that holds a result's picture: this interface takes pictures from the user only."""


def conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages in the interface's own form; pictures of results follow the last result of their turn."""
    out: list[dict[str, Any]] = []
    waiting: list[Message] = []
    for message in [*messages, Message("end", "")]:
        if message.role != "tool":
            out += [native(picture) for picture in waiting]
            waiting = []
        if message.role == "end":
            break
        out.append(native(replace(message, images=()) if message.role == "tool" else message))
        if message.role == "tool" and message.images:
            waiting.append(Message("user", f"{BELONGS}{message.name}.", images=message.images))
    return out


def native(message: Message) -> dict[str, Any]:
    """One message, its calls in the interface's own form."""
    body: dict[str, Any] = {"role": message.role, "content": content(message)}
    if message.role == "tool":
        return body | {"tool_call_id": message.tool_call_id}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}} for call in message.tool_calls
        ]
    return body


def content(message: Message) -> str | list[dict[str, Any]]:
    """The text; with pictures, the text and each picture as a data URL."""
    if not message.images:
        return message.content
    pictures = [{"type": "image_url", "image_url": {"url": f"data:{media_type(image)};base64,{base64_of(image)}"}} for image in message.images]
    return [{"type": "text", "text": message.content}, *pictures]


def functions(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Cards as functions."""
    return [{"type": "function", "function": {"name": card["name"], "description": describe(card), "parameters": card["input_schema"]}} for card in tools]


def describe(card: Mapping[str, Any]) -> str:
    """What a model is told of a tool."""
    parts = [str(card["summary"]), *(str(card[key]) for key in ("when_to_use", "limits") if card.get(key))]
    return " ".join(parts)[:1000]


def response_format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Replies constrained by a schema."""
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def chars(request: Mapping[str, Any]) -> int:
    """Characters of a request that the model reads: messages, tools, schema; without pictures."""
    sent = [_without_pictures(message) for message in request["messages"]]
    return len(json.dumps([sent, request.get("tools"), request.get("response_format")], separators=(",", ":")))


def _without_pictures(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(message.get("content"), list):
        return {**message, "content": [part for part in message["content"] if part["type"] == "text"]}
    return message


@dataclass
class Answer:
    """What has come so far: text, calls as {index: {id, name, arguments}}, tokens, whether any of it was an answer, and why it ended (empty: it has not)."""

    text: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    begun: bool = False
    ended: str = ""

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.text) + sum(len(call["name"]) + len(call["arguments"]) for call in self.calls.values())

    def take(self, body: Any, key: str) -> None:
        """One piece of a stream (``key`` is ``delta``) or a whole answer (``message``).

        Raises:
            ModelFault: ``bad_reply`` where it is neither; ``server_error`` where it is an error in the place of one.
        """
        try:
            self._take(body, key)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ModelFault("bad_reply", f"what came back is no chat completion: {json.dumps(body)[:200]}") from error

    def _take(self, body: Any, key: str) -> None:
        if not isinstance(body, dict):
            raise TypeError
        if body.get("error"):
            raise ModelFault("server_error", f"the server says: {json.dumps(body['error'])[:200]}")
        usage = body.get("usage") or {}
        self.prompt_tokens = int(usage.get("prompt_tokens") or self.prompt_tokens)
        self.completion_tokens = int(usage.get("completion_tokens") or self.completion_tokens)
        self.cached_tokens = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or self.cached_tokens)
        choices = body.get("choices") or []
        if not choices:
            if key == "message":
                raise KeyError("choices")
            return  # the piece with the usage has none
        message = choices[0].get(key)
        if not isinstance(message, dict) and (key == "message" or not choices[0].get("finish_reason")):
            raise TypeError
        message, self.begun = message or {}, True
        self.text += _readable(message.get("content") or message.get("refusal") or "")
        for place, call in enumerate(message.get("tool_calls") or ()):
            self._take_call(call, place)
        self.ended = str(choices[0].get("finish_reason") or self.ended or ("stop" if key == "message" else ""))

    def _take_call(self, call: Mapping[str, Any], place: int) -> None:
        given = call.get("index")
        entry = self.calls.setdefault(place if given is None else int(given), {"id": "", "name": "", "arguments": ""})
        function = call.get("function") or {}
        entry["id"] = str(call.get("id") or entry["id"])
        entry["name"] += str(function.get("name") or "")
        arguments = function.get("arguments") or ""
        entry["arguments"] += _readable(arguments) if isinstance(arguments, str) else json.dumps(arguments)

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls; arguments that are no JSON object are kept as ``malformed``."""
        return tuple(_call(entry, cut=self.ended == "length") for _, entry in sorted(self.calls.items()))


def _readable(text: Any) -> str:
    """Text that can be sent and written again: no halves of surrogate pairs."""
    return str(text).encode("utf-8", "replace").decode()


def _call(entry: Mapping[str, str], cut: bool) -> ToolCall:
    raw = entry["arguments"] or "{}"
    try:
        arguments = json.loads(raw)
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict) and _readable(json.dumps(arguments, ensure_ascii=False)) == json.dumps(arguments, ensure_ascii=False):
        return ToolCall(entry["name"], arguments, entry["id"])
    return ToolCall(entry["name"], {}, entry["id"], malformed=f"{raw[:2000]}{' (cut off at max_tokens)' if cut else ''}")
