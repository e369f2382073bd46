"""What goes wrong on the way to a model: kinds, waits, fallback, giving up; and no key in any of it."""

import json
import logging
import threading
import time
from email.utils import formatdate
from types import SimpleNamespace

import pytest
from llm_server import TALK, Server, cards, error, message, model

from deskhand.errors import DeskhandError
from deskhand.llm.base import Reply
from deskhand.llm.config import ModelProfile
from deskhand.llm.fallback import FallbackModel
from deskhand.llm.faults import ModelFault, retry_after
from deskhand.llm.scripted import ScriptedModel


@pytest.fixture
def server():
    http = Server()
    yield http
    http.close()


def said(status, text):
    return status, {}, json.dumps({"error": {"message": text}})


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(500), "server_error"),
        (error(429), "rate_limited"),
        (error(408), "timeout"),
        (error(401), "key_refused"),
        (said(404, "model 'm' not found, try pulling it first"), "unknown_model"),
        (said(400, "The model `m` does not exist"), "unknown_model"),
        (said(400, "registry/m does not support tools"), "no_tools"),
        (said(400, "This model's maximum context length is 4096 tokens"), "too_long"),
        (said(400, "bad temperature"), "refused_request"),
        ((200, {"Content-Type": "text/html"}, "<html>login</html>"), "bad_reply"),
        ((200, {}, '{"error": {"message": "out of memory"}}'), "server_error"),
        ((200, {}, "[" * 100_000), "bad_reply"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_each_fault_has_its_kind(server, answer, kind, stream):
    server.answers = [answer]
    with pytest.raises(ModelFault) as caught:
        model(server, retries=0, stream=stream).reply(TALK, cards())
    assert (caught.value.kind, caught.value.code) == (kind, "model_failed")


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_without_end_is_broken_off(server, stream):
    server.answers = [message("la " * 400_000)]
    with pytest.raises(ModelFault, match="goes on beyond"):
        model(server, retries=0, stream=stream).reply(TALK, ())


def test_a_stream_that_breaks_off_is_asked_for_again(server):
    half = 'data: {"choices": [{"index": 0, "delta": {"content": "I am in the mid"}}]}\n\n'
    server.answers = [(200, {"Content-Type": "text/event-stream"}, half), message("whole")]
    assert model(server).reply(TALK, ()).text == "whole"


def test_halves_of_characters_do_not_get_any_further(server):
    server.answers = [message(None, ("pick", '{"object_id": "\\ud800"}'))]
    reply = model(server).reply(TALK, cards())
    json.dumps([reply.text, reply.tool_calls[0].arguments, reply.tool_calls[0].malformed], ensure_ascii=False).encode()
    assert reply.tool_calls[0].malformed


def test_dates_and_nonsense_in_retry_after():
    def asked(value):
        return retry_after(SimpleNamespace(response=SimpleNamespace(headers={"retry-after": value})), now=lambda: 1000.0)

    assert (asked("7"), asked(formatdate(1012, usegmt=True)), asked(formatdate(10, usegmt=True))) == (7.0, 12.0, 0.0)
    assert asked("soon") is None and asked("inf") is None and asked("") is None


def test_a_key_that_a_server_repeats_shows_nowhere(server, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG, logger="deskhand")
    monkeypatch.setenv("DESKHAND_TEST_KEY", "sk-very-secret")
    server.answers = [said(500, "your key sk-very-secret made me fall"), said(401, "Incorrect API key provided: sk-very-secret")]
    talker = model(server, key_env="DESKHAND_TEST_KEY")
    with pytest.raises(ModelFault) as caught:
        talker.reply(TALK, ())
    assert "sk-very-secret" not in f"{caught.value} {caplog.text} {vars(talker)['_profile']!r}"
    assert "[key]" in str(caught.value)


def test_cost_is_counted_by_the_prices_of_the_profile(server):
    server.answers = [message("hi")]
    usage = model(server, price_in=2.0, price_out=10.0).reply(TALK, cards()).usage
    assert usage.cost == pytest.approx((50 * 2.0 + 7 * 10.0) / 1e6)
    assert usage.prompt_chars > len(TALK[1].content) + 1000  # the tools are in it


def test_a_reply_that_nobody_waits_for_is_given_up_without_asking_again(server):
    release = threading.Event()

    def slow(_):
        release.wait(10)
        return error(500)

    server.answers = [slow]
    talker = model(server, retries=4)
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(_fault(talker)))
    thread.start()
    while not server.requests:
        time.sleep(0.01)
    talker.cancel()
    release.set()
    thread.join(10)
    assert outcome[0].kind == "cancelled"
    assert len(server.requests) == 1


def _fault(talker):
    try:
        talker.reply(TALK, ())
    except ModelFault as fault:
        return fault
    return None


class Failing:
    def __init__(self, name, *kinds):
        self.name, self.kinds, self.asked = name, list(kinds), 0

    def reply(self, messages, tools, schema=None):
        self.asked += 1
        kind = self.kinds.pop(0) if self.kinds else ""
        if kind:
            raise ModelFault(kind, f"{self.name} fails")
        return Reply("hello")


def test_the_next_model_answers_says_so_and_the_first_rests():
    now = [0.0]
    first, second = Failing("first", "timeout"), Failing("second")
    both = FallbackModel([(ModelProfile("first", fallback_rest=60.0), first), (ModelProfile("second"), second)], now=lambda: now[0])
    assert [both.reply(TALK, ()).model for _ in range(2)] == ["second", "second"]
    assert (first.asked, second.asked) == (1, 2)
    now[0] = 61.0
    assert both.reply(TALK, ()).model == "first"


def test_faults_that_a_profile_does_not_fall_back_on_go_through():
    first, second = Failing("first", "key_refused", "no_key"), Failing("second")
    both = FallbackModel([(ModelProfile("first"), first), (ModelProfile("second"), second)])
    with pytest.raises(ModelFault, match="first fails"):
        both.reply(TALK, ())
    only = FallbackModel([(ModelProfile("first", fallback_on=("no_key",)), first), (ModelProfile("second"), second)])
    assert only.reply(TALK, ()).model == "second"


def test_the_last_model_always_answers_for_itself():
    both = FallbackModel([(ModelProfile("a"), Failing("a", "timeout")), (ModelProfile("b"), ScriptedModel([]))])
    with pytest.raises(DeskhandError, match="no reply left"):
        both.reply(TALK, ())
