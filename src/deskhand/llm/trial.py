"""Tries a profile with one call: is the server there, is the key taken, does the model call tools?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.llm.base import Message
from deskhand.llm.config import ModelProfile, load_profile
from deskhand.llm.faults import ModelFault
from deskhand.llm.making import make_model

WORD = "ready"
CARDS: tuple[dict[str, Any], ...] = (
    {
        "name": "say_word",
        "summary": "Say one word.",
        "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"], "additionalProperties": False},
    },
    {"name": "be_silent", "summary": "Say nothing.", "input_schema": {"type": "object", "properties": {}, "additionalProperties": False}},
)
TALK = (Message("system", "You call exactly one tool."), Message("user", f"Call the tool say_word with the word {WORD}."))


@dataclass(frozen=True)
class Tried:
    """What came of it; ``advice`` what to do when it is not ``ok``."""

    ok: bool
    detail: str
    advice: str = ""


def try_profile(name: str) -> Tried:
    """One call to the model of a profile; nothing is raised for what is wrong with it."""
    try:
        profile = load_profile(name)
        if profile.provider in {"offline", "scripted"}:
            make_model(profile)
            return Tried(True, f"{profile.name}: {profile.provider}, no server is asked")
        return _asked(profile)
    except ModelFault as fault:
        return Tried(False, f"{fault.message} [{fault.kind}]", fault.hint or "See docs/models.md.")
    except DeskhandError as error:
        return Tried(False, error.message, error.hint or "See docs/models.md.")


def _asked(profile: ModelProfile) -> Tried:
    model = make_model(profile)
    began = time.monotonic()
    reply = model.reply(TALK, CARDS)
    took = time.monotonic() - began
    usage = reply.usage
    counted = f"{usage.prompt_tokens} tokens in, {usage.completion_tokens} out" if usage.prompt_tokens else "the server does not count tokens"
    said = f"{reply.model or model.name}: {took:.1f} s, {counted}"
    if not reply.tool_calls:
        advice = "Set `reply: json` in the profile, if the server enforces schemas; else take a model that calls tools."
        return Tried(False, f"{said}; it answers with text and calls no tool: {reply.text[:80]!r}", advice)
    call = reply.tool_calls[0]
    if call.malformed or call.name not in {card["name"] for card in CARDS}:
        broken = call.malformed or call.name
        return Tried(
            False, f"{said}; its call cannot be read: {broken[:120]!r}", "The server enforces neither tools nor schemas: take another server or model."
        )
    right = call.name == "say_word" and str(call.arguments.get("word", "")).strip().lower() == WORD
    if not right:
        return Tried(False, f"{said}; it called {call.name} with {call.arguments}, not say_word with {WORD}", "The model is too weak to follow one sentence.")
    return Tried(True, f"{said}; calls tools")
