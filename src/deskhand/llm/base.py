"""What a language model is to the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

SAID = "The user says: "
"""How words of the user that come after the instruction begin, in the conversation."""


@dataclass(frozen=True)
class ToolCall:
    """A call that a model asks for; ``arguments`` are as it wrote them, not yet validated.

    ``malformed`` holds what it wrote where that was no JSON object; ``arguments`` is empty then. ``repairs`` says what was put right in it since
    (repair.py), one line each.
    """

    name: str
    arguments: dict[str, Any]
    id: str = ""
    malformed: str = ""
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Message:
    """``role`` is system, user, assistant or tool; a tool message answers ``tool_call_id``. ``images`` are pictures (PNG or JPEG)
    that a user shows, or that belong to a result.
    """

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply; 0 where the server does not say.

    ``cost`` is in the currency of the profile's prices. ``prompt_chars`` were sent: messages, tools and schema, without pictures.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    prompt_chars: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens those that the server had kept from an earlier request."""


@dataclass(frozen=True)
class Reply:
    """What a model answered. ``model`` names the one that did, where several could (a profile with a fallback).

    ``prompt``: what it was shown, where that was made anew for this reply and is not the conversation; ``said``: what it wrote, where that was a form.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    prompt: str = ""
    said: str = ""
    notes: tuple[str, ...] = ()
    """What had to be changed for the server to answer."""
    asked: bool = True
    """False where the call follows from what was decided before, and no model was asked."""


class ChatModel(Protocol):
    """A language model. One that talks to a server also has ``cancel()``: the reply that is under way is given up, from any thread."""

    name: str

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """One reply. ``tools`` are cards (name, summary, input schema); with ``schema`` the text must be JSON that fits it.

        Raises:
            DeskhandError: ``model_failed`` after retries.
        """
        ...
