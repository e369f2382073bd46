"""A real small model on this machine: the file that DESKHAND_TEST_GGUF names, served by xllamacpp with OpenAI's interface."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import jsonschema
import pytest

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets
from deskhand.bench.brains.desk import light_session, real_tools
from deskhand.bench.brains.scenes import make_scene
from deskhand.llm.compact import FOLLOWS
from deskhand.llm.config import ModelProfile
from deskhand.llm.openai import OpenAIModel

GGUF = os.environ.get("DESKHAND_TEST_GGUF", "")
pytestmark = pytest.mark.skipif(not Path(GGUF).is_file(), reason="DESKHAND_TEST_GGUF names no GGUF file of a model")
SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.warmup = sys.argv[1], 4096, 1, False
params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[2])
server = xllamacpp.Server(params)
while True:
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def url():
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SERVE, GGUF, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 300
        while not _up(port):
            assert process.poll() is None and time.monotonic() < until, "the model's server did not start"
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _up(port):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


@pytest.mark.timeout(3600)
def test_its_decisions_fit_their_schemas_and_the_end_is_true(url):
    profile = ModelProfile("gguf", "openai", "local", url, reply="json", prompt="compact", context_tokens=4000, max_tokens=300, timeout=600.0)
    desk, wanted = make_scene(4)
    with light_session(desk, real_tools()) as session:
        outcome = AgentLoop(OpenAIModel(profile), session, Budgets(replies=8, seconds=3000, answer_seconds=0.1)).run(wanted.instruction)
    assert outcome.steps
    for step in outcome.steps:
        assert step.valid, (step.tool, step.arguments, step.message)
        assert 0 < step.prompt_tokens <= 4000 if step.prompt else step.text == FOLLOWS
    assert not outcome.success or wanted.holds(desk)
    assert not desk.unsafe


@pytest.mark.timeout(1200)
def test_a_schema_is_kept(url):
    from deskhand.llm.base import Message

    schema = {"type": "object", "properties": {"color": {"enum": ["red", "blue"]}}, "required": ["color"], "additionalProperties": False}
    model = OpenAIModel(ModelProfile("gguf", "openai", "local", url, max_tokens=40, timeout=600.0))
    import json

    said = json.loads(model.reply([Message("user", "What colour is the sky on a clear day?")], (), schema).text)
    jsonschema.validate(said, schema)
