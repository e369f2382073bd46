"""One decision as a JSON object, for servers that enforce a schema on the reply but no tool calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.llm.base import Message, ToolCall
from deskhand.llm.openai_wire import content

LONGEST_THOUGHT = 300
"""Characters; 0 for none, as with compact prompts, where small models take seconds for a sentence."""
ASK = "Answer with one JSON object: {}tool, arguments."


def decision_schema(tools: Sequence[Mapping[str, Any]], thought: int = LONGEST_THOUGHT) -> dict[str, Any]:
    """JSON Schema of one decision: a thought (unless ``thought`` is 0), the name of a tool, arguments that fit this tool."""
    said = {"thought": {"type": "string", "maxLength": thought}} if thought else {}
    choices = [
        {
            "type": "object",
            "properties": {**said, "tool": {"const": card["name"]}, "arguments": inline(card["input_schema"])},
            "required": [*said, "tool", "arguments"],
            "additionalProperties": False,
        }
        for card in tools
    ]
    return {"anyOf": choices}


def inline(schema: Any, definitions: Mapping[str, Any] | None = None) -> Any:
    """The schema with local ``$ref`` written out, so that it can be nested in another."""
    if isinstance(schema, list):
        return [inline(item, definitions) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    definitions = {**(definitions or {}), **schema.get("$defs", {})}
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        return inline(definitions[reference.removeprefix("#/$defs/")], definitions)
    return {key: inline(value, definitions) for key, value in schema.items() if key != "$defs"}


def read_decision(text: str) -> tuple[str, ToolCall]:
    """Thought and call; servers that do not keep to the schema give a malformed one, which the loop repairs or sends back."""
    broken = ToolCall("", {}, malformed=text[:2000] or "an empty reply")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return "", broken
    if not isinstance(body, dict) or not isinstance(body.get("tool"), str) or not isinstance(body.get("arguments") or {}, dict):
        return "", broken
    return str(body.get("thought", "")), ToolCall(body["tool"], body.get("arguments") or {})


def plain(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], thought: int = LONGEST_THOUGHT) -> list[dict[str, Any]]:
    """The conversation for a server without tools: cards in the system prompt, decisions and results as text."""
    listing = "\n".join(f"- {card['name']}({', '.join(_arguments(card))}): {card['summary']}" for card in tools)
    out: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            out.append({"role": "system", "content": f"{message.content}\n\nTools:\n{listing}\n\n{ASK.format('thought, ' if thought else '')}"})
        elif message.role == "tool":
            out.append({"role": "user", "content": content(replace(message, content=f"Result of {message.name}: {message.content}"))})
        elif message.role == "assistant" and message.tool_calls:
            call = message.tool_calls[0]
            said = call.malformed or json.dumps({"thought": message.content, "tool": call.name, "arguments": call.arguments})
            out.append({"role": "assistant", "content": said})
        else:
            out.append({"role": message.role, "content": content(message)})
    return out


def _arguments(card: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {value.get('type', 'any')}" for name, value in card["input_schema"].get("properties", {}).items()]
