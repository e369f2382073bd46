"""A stand-in for a language model's server on 127.0.0.1: OpenAI's chat interface, a brain that is good or random, and faults on purpose, all from a seed."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from deskhand.bench.brains.model_faults import MODEL_FAULTS, NOT_MEANT, Answer, ids_in, sample
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.offline.model import OfflineModel

ENDING = ("ask_user", "stop_motion", "finish")
"""Tools that end a task, or wait: a random brain calls them less, or no episode would get anywhere."""


@dataclass
class Character:
    """How the server behaves towards one model name.

    Attributes:
        brain: ``offline`` (the offline brain: good replies, for native tool calls) or ``random`` (a random decision that fits the schema).
        faults: names of :data:`MODEL_FAULTS` and their weights; ``share`` of the replies has one.
        slow: [s] that a slow reply takes at most.
    """

    seed: int
    brain: str = "offline"
    share: float = 0.3
    faults: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(MODEL_FAULTS, 1.0))
    slow: float = 0.6

    def __post_init__(self) -> None:
        self.random = np.random.default_rng([self.seed, 4711])
        self.model = OfflineModel()
        self.lock = threading.Lock()
        self.done: list[str] = []
        """Faults that were made."""


class StandIn:
    """The server. ``characters`` maps the model names that it knows; others are a 404."""

    def __init__(self) -> None:
        self.characters: dict[str, Character] = {}
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with contextlib.suppress(OSError):  # the client may hang up
                    stand_in.answer(body).write(self)
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on the terminal."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="stand-in server", daemon=True)

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """The answer to one request, with or without a fault."""
        character = self.characters.get(str(body.get("model")))
        if character is None:
            return Answer(404, json.dumps({"error": {"message": f"model {body.get('model')!r} not found"}}))
        with character.lock:
            random = character.random
            fault = str(random.choice(list(character.faults), p=_weights(character.faults))) if random.random() < character.share else ""
            reply = _think(character, body)
            answer = Answer.of(reply, bool(body.get("stream")), decision="response_format" in body and "tools" not in body)
            if fault:
                character.done.append(fault)
                answer = MODEL_FAULTS[fault](answer, random, character.slow)
        return answer

    @contextmanager
    def serving(self) -> Iterator[StandIn]:
        """Serve until the block ends."""
        self._thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()


def _weights(faults: Mapping[str, float]) -> list[float]:
    total = sum(faults.values())
    return [weight / total for weight in faults.values()]


def _think(character: Character, body: Mapping[str, Any]) -> Reply:
    """What the character would answer if all went well."""
    if character.brain == "offline":
        cards = [_card(tool["function"]) for tool in body.get("tools", ())]
        talk = [made for message in body["messages"] if (made := _message(message))]
        with contextlib.suppress(Exception):  # a fault has made another talk of it than the brain can follow
            reply = character.model.reply(talk, cards)
            return replace(reply, tool_calls=tuple(replace(call, id=f"call_{len(talk)}") for call in reply.tool_calls))
    return _random(character, body)


def _random(character: Character, body: Mapping[str, Any]) -> Reply:
    random, known = character.random, ids_in(json.dumps(body["messages"]))
    if "tools" in body:
        choices = {tool["function"]["name"]: tool["function"]["parameters"] for tool in body["tools"]}
    else:
        decisions = body["response_format"]["json_schema"]["schema"]["anyOf"]
        choices = {each["properties"]["tool"]["const"]: each["properties"]["arguments"] for each in decisions}
    weights = {name: 0.15 if name in ENDING else 1.0 for name in choices}
    name = str(random.choice(list(choices), p=_weights(weights)))
    return Reply("", (ToolCall(name, sample(choices[name], random, known)),))


def _card(function: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": function["name"], "summary": function["description"], "input_schema": function["parameters"]}


def _message(message: Mapping[str, Any]) -> Message | None:
    """A message of the talk; None for what came of calls that were not meant."""
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if any(str(name).startswith(NOT_MEANT) for name in (message.get("tool_call_id"), *(call["id"] for call in calls))):
        return None
    made = tuple(ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]), call["id"]) for call in calls)
    return Message(str(message["role"]), str(message.get("content") or ""), made, str(message.get("tool_call_id", "")))
