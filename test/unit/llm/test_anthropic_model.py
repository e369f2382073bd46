"""The model for Anthropic's interface, through the official library, against a small server on 127.0.0.1 that streams as theirs does."""

import base64
import json

import pytest
from llm_server import TALK, Server, cards

from deskhand.llm.base import Message, ToolCall
from deskhand.llm.config import ModelProfile
from deskhand.llm.faults import ModelFault

pytest.importorskip("anthropic", reason="the extra deskhand[anthropic] is not installed")
from deskhand.llm.anthropic import AnthropicModel, conversation


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("DESKHAND_TEST_KEY", "sk-ant-secret")
    http = Server()
    yield http
    http.close()


def events(*blocks, stop="tool_use", ends=True):
    """A stream of text and (name, JSON text) blocks."""
    usage = {"input_tokens": 40, "output_tokens": 1, "cache_read_input_tokens": 60}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    out = [("message_start", {"message": head})]
    for index, block in enumerate(blocks):
        text = isinstance(block, str)
        start = {"type": "text", "text": ""} if text else {"type": "tool_use", "id": f"toolu_{index}", "name": block[0], "input": {}}
        written = block if text else block[1]
        out.append(("content_block_start", {"index": index, "content_block": start}))
        for at in range(0, len(written), 9):
            piece = {"type": "text_delta", "text": written[at : at + 9]} if text else {"type": "input_json_delta", "partial_json": written[at : at + 9]}
            out.append(("content_block_delta", {"index": index, "delta": piece}))
        out.append(("content_block_stop", {"index": index}))
    if ends:
        out.append(("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 12}}))
        out.append(("message_stop", {}))
    body = "".join(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in out)
    return 200, {"Content-Type": "text/event-stream"}, body


def failing(status, **headers):
    return (
        status,
        {name.replace("_", "-"): value for name, value in headers.items()},
        json.dumps({"type": "error", "error": {"type": "api_error", "message": f"made to fail with {status}, key sk-ant-secret"}}),
    )


def model(server, pauses=None, **settings):
    base = server.url.removesuffix("/v1")
    data = {"provider": "anthropic", "model": "c", "base_url": base, "key_env": "DESKHAND_TEST_KEY", "timeout": 5.0, "retries": 2, **settings}
    return AnthropicModel(ModelProfile("test", **data), sleep=(pauses if pauses is not None else []).append)


def test_tools_go_out_and_a_call_comes_back(server):
    server.answers = [events("I look.", ("pick", '{"object_id": "cup_1"}'))]
    reply = model(server, price_in=1.0, price_out=5.0).reply(TALK, cards())
    assert (reply.text, reply.tool_calls) == ("I look.", (ToolCall("pick", {"object_id": "cup_1"}, "toolu_1"),))
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (100, 12)
    assert reply.usage.cost == pytest.approx((100 * 1.0 + 12 * 5.0) / 1e6)
    sent = server.requests[0]
    assert sent["system"] == [{"type": "text", "text": "You are a robot.", "cache_control": {"type": "ephemeral"}}]
    said = {"type": "text", "text": "put the cup in the bin", "cache_control": {"type": "ephemeral"}}
    assert sent["messages"] == [{"role": "user", "content": [said]}] and reply.usage.cached_tokens == 60
    assert sent["tool_choice"] == {"type": "auto"} and sent["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    assert next(tool for tool in sent["tools"] if tool["name"] == "pick")["input_schema"]["required"] == ["object_id"]


def test_turns_are_as_the_interface_wants_them():
    talk = [
        *TALK,
        Message("assistant", "", (ToolCall("pick", {"object_id": "cup_1"}, "a"),)),
        Message("tool", "ok", tool_call_id="a", name="pick"),
        Message("user", "The user says: hurry", images=(b"png",)),
        Message("assistant", ""),
        Message("user", "Call a tool."),
    ]
    turns = conversation(talk)
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in turns[2]["content"]] == ["tool_result", "text", "image"]
    assert turns[2]["content"][2]["source"]["data"] == base64.b64encode(b"png").decode()
    assert turns[1]["content"] == [{"type": "tool_use", "id": "a", "name": "pick", "input": {"object_id": "cup_1"}}]
    assert turns[3]["content"] == [{"type": "text", "text": "(nothing)"}]


def test_a_schema_is_filled_in_as_a_tool(server):
    server.answers = [events(("answer", '{"yes": true}'))]
    schema = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
    assert json.loads(model(server).reply(TALK, (), schema).text) == {"yes": True}
    assert server.requests[0]["tool_choice"] == {"type": "tool", "name": "answer"}


def test_a_call_that_was_cut_off_is_marked(server):
    server.answers = [events(("pick", '{"object_id": "cup_1"}'), stop="max_tokens")]
    (call,) = model(server).reply(TALK, cards()).tool_calls
    assert call.malformed and not call.arguments


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (failing(500), "server_error"),
        (failing(529), "server_error"),
        (failing(429), "rate_limited"),
        (failing(401), "key_refused"),
        (failing(404), "unknown_model"),
    ],
)
def test_faults_are_mapped_and_never_show_the_key(server, answer, kind):
    server.answers = [answer]
    with pytest.raises(ModelFault) as caught:
        model(server).reply(TALK, cards())
    assert caught.value.kind == kind
    assert "sk-ant-secret" not in str(caught.value)
    assert len(server.requests) == (3 if kind in {"server_error", "rate_limited"} else 1)


def test_waits_are_honoured_and_a_broken_stream_is_asked_for_again(server):
    pauses = []
    server.answers = [failing(529, retry_after="3"), events("I was abou", ends=False), events("whole", stop="end_turn")]
    assert model(server, pauses).reply(TALK, ()).text == "whole"
    assert pauses == [3.0, 1.0]


def test_no_key_is_said(server, monkeypatch):
    monkeypatch.delenv("DESKHAND_TEST_KEY")
    with pytest.raises(ModelFault, match="DESKHAND_TEST_KEY") as caught:
        model(server).reply(TALK, ())
    assert (caught.value.kind, caught.value.code) == ("no_key", "config_error")
