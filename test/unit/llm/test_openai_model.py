"""The model for OpenAI-compatible servers, against a small server on 127.0.0.1 that answers well or badly."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from llm_server import TALK, Answer, Server, cards, error, message, model

from deskhand.agent.controls import CONTROL_CARDS
from deskhand.agent.loop import AgentLoop
from deskhand.errors import DeskhandError
from deskhand.llm.base import Message, ToolCall
from deskhand.llm.config import ModelProfile
from deskhand.llm.decision import decision_schema
from deskhand.llm.openai import OpenAIModel
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object


@pytest.fixture
def server() -> Iterator[Server]:
    http = Server()
    yield http
    http.close()


def test_pictures_of_a_message_go_out_as_they_are(server: Server) -> None:
    server.answers = [message("a cup")]
    picture = bytes(range(256))
    reply = model(server).reply([Message("user", "what is this?", images=(picture,))], ())
    text, image = server.requests[0]["messages"][0]["content"]
    assert reply.text == "a cup" and text == {"type": "text", "text": "what is this?"}
    head, data = image["image_url"]["url"].split(",")
    assert head == "data:image/png;base64" and base64.b64decode(data) == picture


def test_native_tool_calls_go_out_and_come_back(server: Server) -> None:
    server.answers = [message("I look.", ("detect_objects", "{}"))]
    reply = model(server).reply(TALK, cards())
    assert (reply.text, reply.tool_calls) == ("I look.", (ToolCall("detect_objects", {}, "c0"),))
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (50, 7)
    sent = server.requests[0]
    assert sent["messages"][1] == {"role": "user", "content": "put the cup in the bin"}
    pick = next(tool["function"] for tool in sent["tools"] if tool["function"]["name"] == "pick")
    assert pick["parameters"]["required"] == ["object_id"]


def test_calls_and_results_are_sent_as_the_interface_wants_them(server: Server) -> None:
    server.answers = [message("done")]
    talk = [*TALK, Message("assistant", "", (ToolCall("pick", {"object_id": "cup_1"}, "c1"),)), Message("tool", '{"ok":true}', tool_call_id="c1", name="pick")]
    model(server).reply(talk, cards())
    assert server.requests[0]["messages"][2]["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": "pick", "arguments": '{"object_id": "cup_1"}'},
    }
    assert server.requests[0]["messages"][3] == {"role": "tool", "content": '{"ok":true}', "tool_call_id": "c1"}


def test_a_schema_constrained_reply_becomes_a_call(server: Server) -> None:
    server.answers = [message(json.dumps({"thought": "I look.", "tool": "detect_objects", "arguments": {}}))]
    reply = model(server, reply="json").reply(TALK, cards())
    assert (reply.text, reply.tool_calls[0].name) == ("I look.", "detect_objects")
    sent = server.requests[0]
    assert "tools" not in sent
    assert "pick(object_id: string" in sent["messages"][0]["content"]
    assert sent["response_format"]["type"] == "json_schema"
    schema = sent["response_format"]["json_schema"]["schema"]
    jsonschema.validate({"thought": "", "tool": "pick", "arguments": {"object_id": "cup_1"}}, schema)
    for bad in (
        {"tool": "pick", "arguments": {}},
        {"thought": "", "tool": "fly", "arguments": {}},
        {"thought": "", "tool": "pick", "arguments": {"id": "cup_1"}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def test_references_in_a_card_are_written_out() -> None:
    card = {"name": "t", "input_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "integer"}}}}
    schema = decision_schema([card])
    assert schema["anyOf"][0]["properties"]["arguments"] == {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_a_given_schema_constrains_the_text(server: Server) -> None:
    server.answers = [message('{"yes": true}')]
    schema = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
    assert model(server).reply(TALK, (), schema).text == '{"yes": true}'
    assert server.requests[0]["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize("answer", ["no json at all", '{"tool": 7, "arguments": {}}', '{"thought": "hm"}', "[]", '{"tool": "pick", "arguments": "cup_1"}', ""])
def test_a_reply_that_breaks_the_schema_is_marked(server: Server, answer: str) -> None:
    server.answers = [message(answer)]
    (call,) = model(server, reply="json").reply(TALK, cards()).tool_calls
    assert call.malformed


@pytest.mark.parametrize("arguments", ['{"object_id": "cup', "[1, 2]", '"cup_1"'])
def test_arguments_that_are_no_object_are_marked(server: Server, arguments: str) -> None:
    server.answers = [message(None, ("pick", arguments))]
    (call,) = model(server).reply(TALK, cards()).tool_calls
    assert (call.name, call.malformed) == ("pick", arguments)


def test_too_many_requests_are_waited_out_as_the_server_asks(server: Server) -> None:
    pauses: list[float] = []
    server.answers = [error(429, retry_after="3"), error(503, retry_after="20"), message("ok")]
    assert model(server, pauses).reply(TALK, ()).text == "ok"
    assert pauses == [3.0, 20.0]


def test_a_wait_that_nobody_would_bear_is_told_instead(server: Server) -> None:
    server.answers = [error(429, retry_after="1000"), message("ok")]
    with pytest.raises(DeskhandError, match="asks to wait 1000 s"):
        model(server).reply(TALK, ())
    assert len(server.requests) == 1


def test_server_errors_are_retried_with_growing_pauses_and_then_given_up(server: Server) -> None:
    pauses: list[float] = []
    server.answers = [error(500)]
    with pytest.raises(DeskhandError, match=r"status 500.*\(4 attempts\)") as caught:
        model(server, pauses).reply(TALK, ())
    assert caught.value.code == "model_failed"
    assert len(server.requests) == 4
    assert pauses == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_not_retried(server: Server, status: int) -> None:
    server.answers = [error(status)]
    with pytest.raises(DeskhandError, match=f"status {status}") as caught:
        model(server).reply(TALK, ())
    assert caught.value.code == "model_failed"
    assert len(server.requests) == 1


def test_a_server_that_does_not_answer_times_out(server: Server) -> None:
    release = threading.Event()

    def wait(_: dict[str, Any]) -> Answer:
        release.wait(10)
        return message("late")

    server.answers = [wait]
    began = time.monotonic()
    with pytest.raises(DeskhandError, match=r"no (whole )?answer within 0\.2 s"):
        model(server, timeout=0.2, retries=1).reply(TALK, ())
    release.set()
    assert time.monotonic() - began < 9  # it did not wait for the answer
    assert len(server.requests) == 2


@pytest.mark.parametrize("garbage", ["<html>Bad gateway</html>", "{", "{}", '{"choices": []}', '{"choices": [{}]}', "null", "[1]"])
def test_garbage_is_retried(server: Server, garbage: str) -> None:
    server.answers = [(200, {}, garbage), message("ok")]
    assert model(server).reply(TALK, ()).text == "ok"
    assert len(server.requests) == 2


def test_html_for_json_is_retried(server: Server) -> None:
    server.answers = [(200, {"Content-Type": "text/html"}, "<html>login</html>"), message("ok")]
    assert model(server).reply(TALK, ()).text == "ok"


def test_nobody_there_is_a_clear_failure() -> None:
    http = Server()
    url = http.url
    http.close()
    profile = ModelProfile("test", provider="openai", model="m", base_url=url, retries=1)
    with pytest.raises(DeskhandError, match="cannot be reached") as caught:
        OpenAIModel(profile, sleep=lambda _: None).reply(TALK, ())
    assert caught.value.code == "model_failed"


def test_the_key_comes_from_the_environment_variable_of_the_profile(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DESKHAND_TEST_KEY", raising=False)
    with pytest.raises(DeskhandError, match="DESKHAND_TEST_KEY") as caught:
        model(server, key_env="DESKHAND_TEST_KEY").reply(TALK, ())
    assert caught.value.code == "config_error"
    assert server.requests == []
    monkeypatch.setenv("DESKHAND_TEST_KEY", "secret")
    server.answers = [message("ok")]
    model(server, key_env="DESKHAND_TEST_KEY").reply(TALK, ())
    assert server.keys == ["Bearer secret"]


@pytest.mark.parametrize("reply", ["tools", "json"])
def test_a_whole_task_over_http(server: Server, reply: str) -> None:
    goal = {"subgoals": [{"object_id": "cup_1", "relation": "in", "target_id": "bin_1"}]}
    steps = [
        ("detect_objects", {}),
        ("submit_plan", goal),
        ("pick", {"object_id": "cup_1"}),
        ("place_in", {"container_id": "bin_1"}),
        ("finish", {"status": "done", "summary": "ok"}),
    ]
    if reply == "json":
        server.answers = [message(json.dumps({"thought": "", "tool": name, "arguments": arguments})) for name, arguments in steps]
    else:
        server.answers = [message(None, (name, json.dumps(arguments))) for name, arguments in steps]
    server.answers.insert(2, error(503))
    desk = SymbolicDesk(seen_object("cup_1"), seen_object("bin_1"))
    outcome = AgentLoop(model(server, reply=reply), desk).run("put the cup in the bin")
    assert outcome.success, outcome.summary
    assert desk.where() == {"cup_1": "bin_1"}
    assert len(server.requests) == 6
    assert outcome.tokens == 5 * 57


def test_control_cards_are_offered_beside_the_tools() -> None:
    assert {card["name"] for card in CONTROL_CARDS} <= {card["name"] for card in cards()}
