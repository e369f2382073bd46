"""`deskhand doctor --brain`: one call says what is wrong with a profile."""

import json
from pathlib import Path

import pytest
import yaml
from llm_server import Server, error, message
from typer.testing import CliRunner

from deskhand.commands.cli import app
from deskhand.llm.config import FILE_VARIABLE
from deskhand.llm.trial import try_profile


@pytest.fixture
def server():
    http = Server()
    yield http
    http.close()


@pytest.fixture
def profile(tmp_path, monkeypatch, server):
    def write(**settings):
        data = {"provider": "openai", "model": "m", "base_url": server.url, "retries": 0, "timeout": 5.0, **settings}
        path = tmp_path / "llm.yaml"
        path.write_text(yaml.safe_dump({"profiles": {"mine": data, "offline": {}}}))
        monkeypatch.setenv(FILE_VARIABLE, str(path))

    return write


CALL = ("say_word", '{"word": "Ready"}')


@pytest.mark.parametrize(
    ("answer", "detail", "advice"),
    [
        (message("ready"), "calls no tool", "reply: json"),
        (message(None, ("be_silent", "{}")), "called be_silent", "too weak"),
        (message(None, ("say_word", "{")), "cannot be read", "another server"),
        ((404, {}, json.dumps({"error": {"message": "model 'm' not found"}})), "not found", "must be a name that the server knows"),
        ((400, {}, json.dumps({"error": {"message": "m does not support tools"}})), "not support tools", "reply: json"),
        (error(401), "401", "key"),
        ((200, {"Content-Type": "text/html"}, "<html>"), "no JSON", "interface"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(server, profile, answer, detail, advice):
    profile()
    server.answers = [answer]
    tried = try_profile("mine")
    assert not tried.ok
    assert detail in tried.detail and advice in tried.advice
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", ["tools", "json"])
def test_a_good_model_is_good(server, profile, reply):
    profile(reply=reply)
    server.answers = [message(None, CALL) if reply == "tools" else message(json.dumps({"thought": "", "tool": "say_word", "arguments": {"word": "ready"}}))]
    tried = try_profile("mine")
    assert tried.ok, tried
    assert "50 tokens in, 7 out" in tried.detail


def test_no_key_no_server_no_profile(server, profile, monkeypatch):
    monkeypatch.delenv("DESKHAND_TEST_KEY", raising=False)
    profile(key_env="DESKHAND_TEST_KEY")
    assert "DESKHAND_TEST_KEY" in try_profile("mine").detail
    assert "there are: mine, offline" in try_profile("other").detail
    assert try_profile("offline").ok
    server.close()
    profile()
    tried = try_profile("mine")
    assert "cannot be reached" in tried.detail and "server running" in tried.advice


def test_the_command_prints_it_and_writes_it(server, profile, tmp_path: Path):
    profile()
    server.answers = [message("hm"), message(None, CALL)]
    file = tmp_path / "out.json"
    bad = CliRunner().invoke(app, ["doctor", "--brain", "mine", "--json", str(file)])
    assert bad.exit_code == 1 and "FAIL brain" in bad.output and "reply: json" in bad.output
    assert json.loads(file.read_text())["checks"][0]["name"] == "brain"
    assert CliRunner().invoke(app, ["doctor", "--brain", "mine"]).exit_code == 0
