"""A long conversation is cut to what the model can read, and stays one that every server takes."""

import json

import pytest

from deskhand.agent.prompt import SYSTEM
from deskhand.llm.base import Message, ToolCall
from deskhand.llm.context import CHARS_PER_TOKEN, REPLY_TOKENS, trim


def talk(steps, size=2000):
    messages = [Message("system", SYSTEM), Message("user", "Clean the desk.")]

    def did(name, arguments, text):
        call = ToolCall(name, arguments, f"c{len(messages)}")
        messages.extend([Message("assistant", "", (call,)), Message("tool", text, tool_call_id=call.id, name=name)])

    did("submit_plan", {"subgoals": [{"object_id": "cup_1"}]}, '{"ok":true,"data":{"order":[]}}')
    for number in range(steps):
        did("detect_objects", {}, json.dumps({"ok": True, "data": f"look {number} " + "x" * size}, separators=(",", ":")))
        did("pick", {"object_id": "cup_1"}, json.dumps({"ok": False, "message": f"pick {number} " + "y" * size}))
    messages.append(Message("user", "The user says: hurry"))
    return messages


def length(messages):
    return sum(len(message.content) for message in messages)


@pytest.mark.parametrize("steps", [2, 10, 60])
@pytest.mark.parametrize("tokens", [3000, 6000])
def test_it_fits_and_the_essential_is_there(steps, tokens):
    out = trim(talk(steps), tokens)
    assert length(out) <= (tokens - REPLY_TOKENS) * CHARS_PER_TOKEN
    text = "\n".join(message.content for message in out)
    assert out[0].content == SYSTEM and out[1].content == "Clean the desk."
    assert f"look {steps - 1}" in text and f"pick {steps - 1}" in text and "hurry" in text
    assert any(call.name == "submit_plan" for message in out for call in message.tool_calls)


@pytest.mark.parametrize("steps", [10, 60])
def test_every_result_still_has_its_call(steps):
    out = trim(talk(steps), 3000)
    calls = {call.id for message in out for call in message.tool_calls}
    assert calls == {message.tool_call_id for message in out if message.role == "tool"}
    assert len(out) < len(talk(steps)) or steps < 10


def test_what_fits_is_not_touched_and_no_limit_is_none():
    messages = talk(2, size=50)
    assert trim(messages, 8000) == messages
    assert trim(talk(60), 0) == talk(60)


def test_room_is_left_for_the_tools():
    cards = [{"name": "t", "input_schema": {"description": "z" * 4000}}]
    assert length(trim(talk(10), 6000, cards)) <= length(trim(talk(10), 6000)) - 3000
