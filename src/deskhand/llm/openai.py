"""Any server with OpenAI's chat interface: OpenAI, vLLM, Ollama, llama.cpp, LM Studio …"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.llm.base import Message, Reply, Usage
from deskhand.llm.config import ModelProfile
from deskhand.llm.decision import LONGEST_THOUGHT, decision_schema, plain, read_decision
from deskhand.llm.faults import ModelFault, Stopper, ask_again, fault_of, key_of
from deskhand.llm.online import OnlineModel
from deskhand.llm.openai_wire import Answer, chars, conversation, functions, response_format

LONGEST_REPLY = 64_000
"""Characters of text and calls; what goes on beyond is no reply."""
LONGEST_BODY = 4_000_000
"""Bytes of one answer, all framing included."""


class OpenAIModel(OnlineModel):
    """One profile's model. The package ``openai`` is imported and the key is read at the first reply."""

    def _reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Reply:
        stopper = self._begin()
        request, constrained = self._request(messages, tools, schema)
        answer = ask_again(self._profile, self.name, lambda: self._ask(request, stopper), stopper, self._sleep)
        cost = self._profile.cost(answer.prompt_tokens, answer.completion_tokens)
        usage = Usage(answer.prompt_tokens, answer.completion_tokens, cost, chars(request), answer.cached_tokens)
        if constrained:
            thought, call = read_decision(answer.text)
            return Reply(thought, (call,), usage, self.name)
        return Reply(answer.text, answer.tool_calls(), usage, self.name)

    # ------------------------------------------------------------ request

    def _connect(self) -> None:
        try:
            import openai
        except ImportError as error:
            raise DeskhandError("missing_dependency", "the package 'openai' is not installed.", hint="pip install openai") from error
        self._key = key_of(self._profile)
        self._client = openai.OpenAI(base_url=self._profile.base_url, api_key=self._key, timeout=self._profile.timeout, max_retries=0)

    def _request(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> tuple[dict[str, Any], bool]:
        """The request, and whether its reply is a decision constrained by a schema."""
        profile = self._profile
        request: dict[str, Any] = {"model": profile.model}
        if profile.temperature >= 0:
            request["temperature"] = profile.temperature
        if profile.max_tokens:
            request["max_tokens"] = profile.max_tokens
        if profile.stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        thought = 0 if profile.prompt == "compact" else LONGEST_THOUGHT
        if schema is not None:
            return request | {"messages": conversation(messages), "response_format": response_format("answer", schema)}, False
        if profile.reply == "json" and tools:
            return request | {
                "messages": plain(messages, tools, thought),
                "response_format": response_format("decision", decision_schema(tools, thought)),
            }, True
        request["messages"] = conversation(messages)
        return (request | {"tools": functions(tools)} if tools else request), False

    # ------------------------------------------------------------ answer

    def _ask(self, request: Mapping[str, Any], stopper: Stopper) -> Answer:
        """One request and its answer, whole or in pieces, bounded in time and size. Raises ModelFault."""
        import openai

        until = time.monotonic() + self._profile.timeout
        try:
            with self._client.chat.completions.with_streaming_response.create(**request) as response:
                lines = self._lines(response, until, stopper)
                if "text/event-stream" in response.headers.get("content-type", ""):
                    return _streamed(lines)
                return _whole("\n".join(lines))
        except DeskhandError:
            raise
        except Exception as error:  # the library's errors, and whatever a broken answer makes it raise
            if time.monotonic() > until:
                raise ModelFault("timeout", f"no answer within {self._profile.timeout:g} s") from error
            stopper.check()
            raise (fault_of(openai, error, self._profile, self._key) if isinstance(error, openai.APIError) else _broken_off(error)) from error

    def _lines(self, response: Any, until: float, stopper: Stopper) -> Iterator[str]:
        """Lines of the body as they come."""
        left, total = b"", 0
        for piece in response.iter_bytes():
            stopper.check()
            if time.monotonic() > until:
                raise ModelFault("timeout", f"no whole answer within {self._profile.timeout:g} s")
            total += len(piece)
            if total > LONGEST_BODY:
                raise ModelFault("bad_reply", f"the answer goes on beyond {LONGEST_BODY} bytes")
            *whole, left = (left + piece).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace").rstrip("\r")
        if left:
            yield left.decode("utf-8", "replace")


def _broken_off(error: Exception) -> ModelFault:
    return ModelFault("bad_reply", f"the answer broke off: {type(error).__name__}: {str(error)[:200]}")


def _streamed(lines: Iterator[str]) -> Answer:
    """A stream of server-sent events put together; it must come to an end that says so."""
    answer = Answer()
    for line in lines:
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            answer.ended = answer.ended or "stop"
            break
        answer.take(_parsed(data), "delta")
        _bounded(answer)
    if not (answer.begun and answer.ended):
        raise ModelFault("bad_reply", f"the answer broke off after {answer.size} characters")
    return answer


def _whole(text: str) -> Answer:
    answer = Answer()
    answer.take(_parsed(text), "message")
    _bounded(answer)
    return answer


def _bounded(answer: Answer) -> None:
    if answer.size > LONGEST_REPLY:
        raise ModelFault("bad_reply", f"the reply goes on beyond {LONGEST_REPLY} characters")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFault("bad_reply", f"what came back is no JSON: {text[:200]!r}") from error


def from_profile(profile: ModelProfile) -> OpenAIModel:
    """See making.py."""
    return OpenAIModel(profile)
