"""A conversation cut to what a model can read: instruction, plan and the newest look stay, old results go first, then old steps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.llm.base import Message

CHARS_PER_TOKEN = 3.5
REPLY_TOKENS = 600
"""Left for the reply."""
NEWEST = 6
"""Messages that stay whole, as long as that is possible at all."""
SHORT, LESS_SHORT = 120, 1500
"""Characters that are left of an old result, and of a new one where nothing else helps."""
PICTURE = 2600
"""Characters that a picture of 640 px counts for: some 750 tokens, as OpenAI and Anthropic count them."""
LOOKS = ("detect_objects", "look", "describe_scene")


def trim(messages: Sequence[Message], context_tokens: int, cards: Sequence[Mapping[str, Any]] = ()) -> list[Message]:
    """What of ``messages`` fits into ``context_tokens`` beside ``cards`` and a reply; 0 for no limit.

    First the oldest results are cut short, then the oldest steps (a call with its results) are left out; system prompt, instruction, what the user
    said, the newest accepted plan and the newest look stay. Where even that is too much the newest results are cut too.
    """
    out = list(messages)
    if not context_tokens:
        return out
    room = (context_tokens - REPLY_TOKENS) * CHARS_PER_TOKEN - sum(len(json.dumps(card.get("input_schema", {}))) + 300 for card in cards)
    kept = _kept(out)
    for index in range(2, max(2, len(out) - NEWEST)):
        if _size(out) <= room:
            return out
        if index not in kept:
            out[index] = _cut(out[index], SHORT)
    out = _without_old_steps(out, room, kept)
    for index in range(2, len(out)):
        if _size(out) <= room:
            break
        out[index] = _cut(out[index], LESS_SHORT)
    return out


def _size(messages: Sequence[Message]) -> int:
    return sum(len(message.content) + PICTURE * len(message.images) + sum(len(str(call.arguments)) + 40 for call in message.tool_calls) for message in messages)


def _cut(message: Message, length: int) -> Message:
    if message.role != "tool" or len(message.content) <= length:
        return message
    return replace(message, content=f"{message.content[:length]}… (older result cut)")


def _kept(messages: Sequence[Message]) -> set[int]:
    """Places of the newest look and the newest plan that went well, each with its call."""
    kept: set[int] = set()
    for names in (LOOKS, ("submit_plan",)):
        for index in range(len(messages) - 1, 1, -1):
            if messages[index].role == "tool" and messages[index].name in names and messages[index].content.startswith('{"ok":true'):
                kept |= set(_step(messages, index))
                break
    return kept


def _step(messages: Sequence[Message], index: int) -> range:
    """Places of the step that holds ``index``: the model's message and the results of its calls."""
    first = index
    while messages[first].role == "tool" and first > 2:
        first -= 1
    last = first + 1
    while last < len(messages) and messages[last].role == "tool":
        last += 1
    return range(first, last)


def _without_old_steps(messages: list[Message], room: float, kept: set[int]) -> list[Message]:
    left_out: set[int] = set()
    size, index = _size(messages), 2
    while index < len(messages) - NEWEST and size > room:
        step = _step(messages, index)
        if messages[index].role == "assistant" and not kept & set(step) and step.stop <= len(messages) - 2:
            left_out |= set(step)
            size -= _size([messages[place] for place in step])
        index = max(step.stop, index + 1)
    return [message for place, message in enumerate(messages) if place not in left_out]
