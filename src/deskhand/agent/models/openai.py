"""Any server with OpenAI's chat interface: OpenAI, vLLM, Ollama, llama.cpp, LM Studio …"""

from __future__ import annotations

import base64
import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deskhand.agent.base import Message, Reply, ToolCall, Usage
from deskhand.agent.models.config import ModelProfile
from deskhand.errors import DeskhandError

log = logging.getLogger(__name__)

_BACKOFF = (0.5, 8.0)
"""First and longest pause between requests [s]; doubled each time."""
_LONGEST_WAIT = 30.0
"""Longest pause [s] that a server's Retry-After is granted."""


class OpenAIModel:
    """One profile's model. The package ``openai`` is imported and the key is read at the first reply."""

    def __init__(self, profile: ModelProfile, sleep: Callable[[float], None] = time.sleep) -> None:
        self.name = f"{profile.name} ({profile.model})"
        self.context_tokens = profile.context_tokens
        self._profile, self._sleep = profile, sleep
        self._client: Any = None

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """One reply; requests that fail for a passing reason are made again with growing pauses.

        Raises:
            DeskhandError: ``model_failed`` after retries, or at once where retrying is pointless; ``config_error`` without a key;
                ``missing_dependency`` without the package.
        """
        request = self._request(messages, tools, schema)
        failure = ""
        for attempt in range(self._profile.retries + 1):
            if attempt:
                log.info("model %s: %s; attempt %d", self.name, failure, attempt + 1)
            answer, failure, wait = self._try(request)
            if answer is not None:
                return self._read(answer, constrained=schema is None and self._profile.reply == "json" and bool(tools))
            if attempt < self._profile.retries:
                self._sleep(min(wait, _LONGEST_WAIT) if wait is not None else min(_BACKOFF[0] * 2**attempt, _BACKOFF[1]))
        raise DeskhandError("model_failed", f"{self.name} at {self._profile.base_url}: {failure} ({self._profile.retries + 1} attempts).")

    # ------------------------------------------------------------ request

    def _connect(self) -> Any:
        if self._client is None:
            try:
                import openai
            except ImportError as error:
                raise DeskhandError("missing_dependency", "the package 'openai' is not installed.", hint="pip install openai") from error
            key = os.environ.get(self._profile.key_env, "") if self._profile.key_env else "none"
            if not key:
                raise DeskhandError(
                    "config_error", f"the environment variable {self._profile.key_env} with the key of profile {self._profile.name!r} is not set."
                )
            self._client = openai.OpenAI(base_url=self._profile.base_url, api_key=key, timeout=self._profile.timeout, max_retries=0)
        return self._client

    def _request(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self._profile.model, "temperature": self._profile.temperature}
        if self._profile.max_tokens:
            request["max_tokens"] = self._profile.max_tokens
        if schema is not None:
            return request | {"messages": [_native(message) for message in messages], "response_format": _format("answer", schema)}
        if self._profile.reply == "json" and tools:
            return request | {"messages": _plain(messages, tools), "response_format": _format("decision", decision_schema(tools))}
        request["messages"] = [_native(message) for message in messages]
        if tools:
            request["tools"] = [
                {"type": "function", "function": {"name": card["name"], "description": _describe(card), "parameters": card["input_schema"]}} for card in tools
            ]
        return request

    def _try(self, request: Mapping[str, Any]) -> tuple[Any, str, float | None]:
        """(answer, "", None), or (None, what failed, how long the server asks to wait).

        Raises:
            DeskhandError: ``model_failed`` when trying again is pointless.
        """
        client = self._connect()
        import openai

        try:
            answer = client.chat.completions.create(**request)
        except openai.APITimeoutError:
            return None, f"no answer within {self._profile.timeout:g} s", None
        except openai.APIConnectionError as error:
            return None, f"cannot be reached: {error.__cause__ or error}", None
        except openai.APIStatusError as error:
            if error.status_code in {408, 409, 425, 429} or error.status_code >= 500:
                return None, f"status {error.status_code}", _retry_after(error)
            raise DeskhandError(
                "model_failed", f"{self.name} at {self._profile.base_url} refused the request: status {error.status_code}: {str(error)[:300]}"
            ) from error
        except (openai.OpenAIError, ValueError) as error:
            return None, f"an answer that is none: {type(error).__name__}: {str(error)[:200]}", None
        if not getattr(answer, "choices", None) or getattr(answer.choices[0], "message", None) is None:
            return None, "an answer without a message", None
        return answer, "", None

    # ------------------------------------------------------------ reply

    def _read(self, answer: Any, constrained: bool) -> Reply:
        message = answer.choices[0].message
        text = message.content or ""
        usage = Usage(int(getattr(answer.usage, "prompt_tokens", 0) or 0), int(getattr(answer.usage, "completion_tokens", 0) or 0)) if answer.usage else Usage()
        if constrained:
            return _decision(text, usage)
        calls = tuple(_call(call) for call in message.tool_calls or () if getattr(call, "function", None) is not None)
        return Reply(text, calls, usage)


def _retry_after(error: Any) -> float | None:
    try:
        return max(0.0, float(error.response.headers.get("retry-after")))
    except (TypeError, ValueError):
        return None


def _call(call: Any) -> ToolCall:
    raw = call.function.arguments or "{}"
    try:
        arguments = json.loads(raw)
    except ValueError:
        return ToolCall(str(call.function.name), {}, str(call.id or ""), malformed=str(raw)[:300])
    if not isinstance(arguments, dict):
        return ToolCall(str(call.function.name), {}, str(call.id or ""), malformed=str(raw)[:300])
    return ToolCall(str(call.function.name), arguments, str(call.id or ""))


def _decision(text: str, usage: Usage) -> Reply:
    """A schema-constrained reply as a call; servers that do not keep to the schema give a malformed one, which the loop sends back."""
    try:
        body = json.loads(text)
        name, arguments = body["tool"], body.get("arguments") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return Reply("", (ToolCall("", {}, malformed=text[:300] or "an empty reply"),), usage)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return Reply("", (ToolCall("", {}, malformed=text[:300]),), usage)
    return Reply(str(body.get("thought", "")), (ToolCall(name, arguments),), usage)


# ---------------------------------------------------------------- wire formats


def _native(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.role == "tool":
        return body | {"tool_call_id": message.tool_call_id}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.malformed or json.dumps(call.arguments)}}
            for call in message.tool_calls
        ]
    return body


def _content(message: Message) -> str | list[dict[str, Any]]:
    """The text; with pictures, the text and each picture as a data URL."""
    if not message.images:
        return message.content
    pictures = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(image).decode()}"}} for image in message.images]
    return [{"type": "text", "text": message.content}, *pictures]


def _plain(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The conversation for a server without tools: cards in the system prompt, decisions and results as text."""
    listing = "\n".join(f"- {card['name']}({', '.join(_arguments(card))}): {card['summary']}" for card in tools)
    out: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            out.append({"role": "system", "content": f"{message.content}\n\nTools:\n{listing}\n\nAnswer with one JSON object: thought, tool, arguments."})
        elif message.role == "tool":
            out.append({"role": "user", "content": f"Result of {message.name}: {message.content}"})
        elif message.role == "assistant" and message.tool_calls:
            call = message.tool_calls[0]
            out.append(
                {"role": "assistant", "content": call.malformed or json.dumps({"thought": message.content, "tool": call.name, "arguments": call.arguments})}
            )
        else:
            out.append({"role": message.role, "content": _content(message)})
    return out


def _arguments(card: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {value.get('type', 'any')}" for name, value in card["input_schema"].get("properties", {}).items()]


def _describe(card: Mapping[str, Any]) -> str:
    parts = [str(card["summary"]), *(str(card[key]) for key in ("when_to_use", "limits") if card.get(key))]
    return " ".join(parts)[:1000]


def _format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def decision_schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """JSON Schema of one decision: a thought, the name of a tool, arguments that fit this tool."""
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"thought": {"type": "string", "maxLength": 300}, "tool": {"const": card["name"]}, "arguments": inline(card["input_schema"])},
                "required": ["thought", "tool", "arguments"],
                "additionalProperties": False,
            }
            for card in tools
        ]
    }


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
