"""Anthropic's models through the library ``anthropic`` (an extra: ``pip install 'deskhand[anthropic]'``)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.llm.base import Message, Reply, ToolCall, Usage
from deskhand.llm.config import ModelProfile
from deskhand.llm.faults import ModelFault, Stopper, ask_again, fault_of, key_of
from deskhand.llm.online import OnlineModel
from deskhand.llm.openai_wire import describe
from deskhand.llm.pictures import base64_of, media_type

MAX_TOKENS = 2048
"""Of a reply, where the profile does not say; this interface wants a number."""
LONGEST_REPLY = 64_000
"""Characters."""
ANSWER = "answer"
KEPT = {"type": "ephemeral"}
"""The mark up to which the server keeps what it has read; up to four a request."""


class AnthropicModel(OnlineModel):
    """One profile's model. The package ``anthropic`` is imported and the key is read at the first reply."""

    def _reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Reply:
        stopper = self._begin()
        request = self._request(messages, tools, schema)
        answer = ask_again(self._profile, self.name, lambda: self._ask(request, stopper), stopper, self._sleep)
        usage = self._usage(answer, request)
        text = "".join(block.text for block in answer.content if block.type == "text")
        calls = tuple(_call(block, answer.stop_reason) for block in answer.content if block.type == "tool_use")
        if schema is None:
            return Reply(text, calls, usage, self.name)
        return Reply(json.dumps(calls[0].arguments) if calls else text, (), usage, self.name)

    def _connect(self) -> None:
        try:
            import anthropic
        except ImportError as error:
            raise DeskhandError("missing_dependency", "the package 'anthropic' is not installed.", hint="pip install 'deskhand[anthropic]'") from error
        self._key = key_of(self._profile)
        self._client = anthropic.Anthropic(base_url=self._profile.base_url or None, api_key=self._key, timeout=self._profile.timeout, max_retries=0)

    def _request(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        profile = self._profile
        request: dict[str, Any] = {"model": profile.model, "max_tokens": profile.max_tokens or MAX_TOKENS, "messages": conversation(messages)}
        if profile.temperature > 0:
            request["extra_body"] = {"temperature": profile.temperature}  # newer models take none, and the library no longer names it
        if system := "\n\n".join(message.content for message in messages if message.role == "system"):
            request["system"] = [{"type": "text", "text": system, "cache_control": KEPT}]
        if schema is not None:
            return request | {
                "tools": [{"name": ANSWER, "description": "Give the answer.", "input_schema": {"type": "object", **schema}}],
                "tool_choice": {"type": "tool", "name": ANSWER},
            }
        if tools:
            request["tools"] = [{"name": card["name"], "description": describe(card), "input_schema": card["input_schema"]} for card in tools]
            request["tools"][-1]["cache_control"] = KEPT
            request["tool_choice"] = {"type": "auto"}
        request["messages"][-1]["content"][-1]["cache_control"] = KEPT
        return request

    def _ask(self, request: Mapping[str, Any], stopper: Stopper) -> Any:
        """The whole message, read as a stream that is bounded in time and size. Raises ModelFault."""
        import anthropic

        until, size = time.monotonic() + self._profile.timeout, 0
        try:
            with self._client.messages.stream(**request) as stream:
                for event in stream:
                    stopper.check()
                    size += len(getattr(event, "text", "") or getattr(event, "partial_json", "") or "")
                    if time.monotonic() > until:
                        raise ModelFault("timeout", f"no whole answer within {self._profile.timeout:g} s")
                    if size > LONGEST_REPLY:
                        raise ModelFault("bad_reply", f"the reply goes on beyond {LONGEST_REPLY} characters")
                answer = stream.get_final_message()
        except DeskhandError:
            raise
        except Exception as error:  # the library's errors, and whatever a broken answer makes it raise
            stopper.check()
            if isinstance(error, anthropic.APIError):
                raise fault_of(anthropic, error, self._profile, self._key) from error
            raise ModelFault("bad_reply", f"the answer broke off: {type(error).__name__}: {str(error)[:200]}") from error
        if answer.stop_reason is None:
            raise ModelFault("bad_reply", f"the answer broke off after {size} characters")
        return answer

    def _usage(self, answer: Any, request: Mapping[str, Any]) -> Usage:
        counts = answer.usage
        cached = int(getattr(counts, "cache_read_input_tokens", 0) or 0) + int(getattr(counts, "cache_creation_input_tokens", 0) or 0)
        read, wrote = int(counts.input_tokens or 0) + cached, int(counts.output_tokens or 0)
        pictures = sum(_pictures(message["content"]) for message in request["messages"])
        sent = len(json.dumps([request.get("system"), request["messages"], request.get("tools")], separators=(",", ":"))) - pictures
        return Usage(read, wrote, self._profile.cost(read, wrote), sent, int(getattr(counts, "cache_read_input_tokens", 0) or 0))


def _pictures(content: Any) -> int:
    """Characters of the pictures in blocks."""
    blocks = content if isinstance(content, list) else ()
    return sum(len(block["source"]["data"]) if block["type"] == "image" else _pictures(block.get("content")) for block in blocks)


def _call(block: Any, stop_reason: str | None) -> ToolCall:
    cut = " (cut off at max_tokens)" if stop_reason == "max_tokens" else ""
    if isinstance(block.input, dict) and not cut:
        return ToolCall(str(block.name), dict(block.input), str(block.id))
    return ToolCall(str(block.name), {}, str(block.id), malformed=f"{str(block.input)[:2000]}{cut}")


def conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as this interface wants them: user and assistant in turn, results of tools in the user's turns, first in them; no empty text."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += _blocks(message)
        else:
            turns.append({"role": role, "content": _blocks(message)})
    for turn in turns:
        turn["content"].sort(key=lambda block: block["type"] != "tool_result")
        turn["content"] = turn["content"] or [{"type": "text", "text": "(nothing)"}]
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        said = [{"type": "text", "text": message.content}, *map(_picture, message.images)] if message.images else message.content
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": said}]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content.strip() else []
    blocks += map(_picture, message.images)
    return blocks + [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in message.tool_calls]


def _picture(image: bytes) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type(image), "data": base64_of(image)}}


def from_profile(profile: ModelProfile) -> AnthropicModel:
    """See making.py."""
    return AnthropicModel(profile)
