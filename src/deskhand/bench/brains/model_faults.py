"""What servers and models do wrong: each a function of the good answer."""

from __future__ import annotations

import json
import re
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from deskhand.llm.base import Reply, ToolCall

Random = np.random.Generator
MEGABYTE = 1_000_000
NOT_MEANT = "not_meant_"
"""How the ids of calls begin that a fault made up: the brain behind the server does not find them in the conversation."""


@dataclass(frozen=True)
class Answer:
    """What goes over the wire.

    Attributes:
        pause: [s] before it; ``drip``: [s] between its pieces.
        cut: share of the body that is sent before the connection is dropped; 1.0 for all, 0.0 for not even the head.
        reply: the decision inside, for a fault that changes it.
    """

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    pause: float = 0.0
    drip: float = 0.0
    cut: float = 1.0
    reply: Reply = field(default_factory=lambda: Reply(""))
    stream: bool = False
    decision: bool = False

    @staticmethod
    def of(reply: Reply, stream: bool, decision: bool) -> Answer:
        """A good answer with this reply."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        if decision and reply.tool_calls:
            call = reply.tool_calls[0]
            message["content"] = json.dumps({"thought": reply.text, "tool": call.name, "arguments": call.arguments})
        elif reply.tool_calls:
            message["tool_calls"] = [
                {
                    "id": call.id or f"call_{index}",
                    "index": index,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.malformed or json.dumps(call.arguments)},
                }
                for index, call in enumerate(reply.tool_calls)
            ]
        return with_message(Answer(200, "", reply=reply, stream=stream, decision=decision), message)

    def write(self, to: BaseHTTPRequestHandler) -> None:
        """Send it, as badly as it says."""
        time.sleep(self.pause)
        data = self.body.encode("utf-8", "surrogatepass")
        if self.cut <= 0:
            _hang_up(to)
            return
        to.send_response(self.status)
        for name, value in self.headers.items():
            to.send_header(name, value)
        to.send_header("Content-Length", str(len(data)))
        to.end_headers()
        size = int(len(data) * self.cut)
        step = max(1, size // 8) if self.drip else max(1, size)
        for start in range(0, size, step):
            to.wfile.write(data[start : min(size, start + step)])
            to.wfile.flush()
            time.sleep(self.drip)
        if self.cut < 1:
            _hang_up(to)


def _hang_up(to: BaseHTTPRequestHandler) -> None:
    """Drop the connection at once (RST)."""
    import socket

    to.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    to.connection.close()


def with_message(answer: Answer, message: Mapping[str, Any]) -> Answer:
    """The answer with another message, whole or as a stream."""
    end = "tool_calls" if message.get("tool_calls") else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    common = {"id": "stand-in", "created": 0, "model": "stand-in"}
    if not answer.stream:
        choice = {"index": 0, "finish_reason": end, "message": message}
        return replace(answer, body=json.dumps({**common, "object": "chat.completion", "choices": [choice], "usage": usage}))
    deltas: list[Mapping[str, Any]] = [{"role": "assistant"}]
    text = str(message.get("content") or "")
    deltas += [{"content": text[at : at + 40_000]} for at in range(0, len(text), 40_000)]
    deltas += [{"tool_calls": [call]} for call in message.get("tool_calls", ())]
    deltas += [{"refusal": message["refusal"]}] if message.get("refusal") else []
    chunks = [{**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks += [{**common, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]}, {**common, "choices": [], "usage": usage}]
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return replace(answer, body=f"{events}data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"})


def _again(answer: Answer, reply: Reply) -> Answer:
    """The answer with another reply, whose calls are marked as none of the brain's own."""
    number = answer.reply.tool_calls[0].id if answer.reply.tool_calls else "0"
    calls = tuple(replace(call, id=f"{NOT_MEANT}{number}_{index}") for index, call in enumerate(reply.tool_calls))
    return Answer.of(replace(reply, tool_calls=calls), answer.stream, answer.decision)


def _calls(answer: Answer, change: Callable[[ToolCall], ToolCall]) -> Answer:
    return _again(answer, replace(answer.reply, tool_calls=tuple(change(call) for call in answer.reply.tool_calls)))


# ---------------------------------------------------------------- the server


def _status(status: int, waits: Sequence[str] = ()) -> Callable[[Answer, Random, float], Answer]:
    def make(answer: Answer, random: Random, slow: float) -> Answer:
        headers = {"Content-Type": "application/json"}
        if waits:
            headers["Retry-After"] = str(random.choice(list(waits)))
        return replace(answer, status=status, body=json.dumps({"error": {"message": f"made to fail with {status}"}}), headers=headers)

    return make


def _body(text: str, kind: str = "application/json") -> Callable[[Answer, Random, float], Answer]:
    return lambda answer, random, slow: replace(answer, body=text, headers={"Content-Type": kind})


def _message(message: Mapping[str, Any]) -> Callable[[Answer, Random, float], Answer]:
    return lambda answer, random, slow: with_message(answer, message)


# ---------------------------------------------------------------- the model


def _call(name: str, arguments: Mapping[str, Any]) -> Callable[[Answer, Random, float], Answer]:
    return lambda answer, random, slow: _again(answer, Reply("", (ToolCall(name, dict(arguments)),)))


def _invented(answer: Answer, random: Random, slow: float) -> Answer:
    def other(value: Any) -> Any:
        if isinstance(value, str) and re.fullmatch(r"[a-z_]+_\d+", value):
            return str(random.choice(["unicorn_1", f"{value}9", "cup_99", "block_0", "../../etc/passwd", "bin_1; rm -rf /"]))
        if isinstance(value, Mapping):
            return {key: other(item) for key, item in value.items()}
        return [other(item) for item in value] if isinstance(value, list) else value

    return _calls(answer, lambda call: replace(call, arguments=other(call.arguments)))


def _unknown(answer: Answer, random: Random, slow: float) -> Answer:
    name = str(random.choice(["fly", "os.system", "override_safety", "pick_and_throw", "", "PICK!", "reset_stop", "approve"]))
    return _calls(answer, lambda call: replace(call, name=name))


def _wrong_kinds(answer: Answer, random: Random, slow: float) -> Answer:
    wrong: list[Any] = [None, [], {"a": 1}, "1e999", True, -7, "NaN", "\ud800", "x" * 5000]
    change: Callable[[ToolCall], ToolCall] = lambda call: replace(call, arguments={key: wrong[int(random.integers(len(wrong)))] for key in call.arguments})  # noqa: E731
    return _calls(answer, change)


def _torn(answer: Answer, random: Random, slow: float) -> Answer:
    def tear(call: ToolCall) -> ToolCall:
        text = json.dumps(call.arguments) + " "
        return replace(call, malformed=text[: int(random.integers(1, len(text)))])

    return _calls(answer, tear)


def _several(answer: Answer, random: Random, slow: float) -> Answer:
    more = (ToolCall("detect_objects", {}), ToolCall("finish", {"status": "done", "summary": "All done."}), ToolCall("move_home", {}))
    return _again(answer, replace(answer.reply, tool_calls=answer.reply.tool_calls * 2 + more[: int(random.integers(1, 4))]))


def _far(answer: Answer, random: Random, slow: float) -> Answer:
    place = random.choice(np.array([[0.6, 0.8], [-0.6, -0.8], [9.0, 9.0], [0.0, 0.0], [1e308, -1e308]]))
    return _again(answer, Reply("", (ToolCall("place_at", {"x": float(place[0]), "y": float(place[1])}),)))


MODEL_FAULTS: dict[str, Callable[[Answer, Random, float], Answer]] = {
    "slow": lambda answer, random, slow: replace(answer, pause=float(random.uniform(0.1, 1.0)) * slow),
    "drip": lambda answer, random, slow: replace(answer, drip=float(random.uniform(0.1, 1.0)) * slow / 4),
    "half": lambda answer, random, slow: replace(answer, cut=float(random.uniform(0.05, 0.95))),
    "dropped": lambda answer, random, slow: replace(answer, cut=0.0),
    "wrong_json": _body('{"choices": [{"message": '),
    "wrong_type": _body("<html><body>502 Bad Gateway</body></html>", "text/html"),
    "empty": _body(""),
    "empty_choices": _body('{"choices": []}'),
    "null_message": _body('{"choices": [{"index": 0, "message": null, "delta": null}]}'),
    "error_body": _body('{"error": {"message": "out of memory", "code": 500}}'),
    "deep": _body("[" * 100_000),
    "429": _status(429, ("0", "1", "1000", "soon", "Wed, 21 Oct 2015 07:28:00 GMT")),
    "500": _status(500),
    "503": _status(503, ("2",)),
    "401": _status(401),
    "megabyte": _message({"role": "assistant", "content": "la " * (MEGABYTE // 3)}),
    "refusal": _message({"role": "assistant", "content": None, "refusal": "I cannot help with that."}),
    "nothing": _message({"role": "assistant", "content": ""}),
    "prose": _message({"role": "assistant", "content": "I have put everything where it belongs. The task is complete!"}),
    "unknown_tool": _unknown,
    "invented_ids": _invented,
    "wrong_kinds": _wrong_kinds,
    "torn_arguments": _torn,
    "deep_arguments": lambda answer, random, slow: _calls(answer, lambda call: replace(call, malformed="[" * 50_000)),
    "no_object": lambda answer, random, slow: _calls(answer, lambda call: replace(call, malformed='["cup_1"]')),
    "several": _several,
    "far": _far,
    "early_done": _call("finish", {"status": "done", "summary": "Everything is where it belongs."}),
    "early_answer": _call("finish", {"status": "answered", "summary": "Yes."}),
    "lets_go": _call("open_gripper", {}),
    "empty_plan": _call("submit_plan", {"subgoals": []}),
}
"""Fault -> what it makes of a good answer."""


# ---------------------------------------------------------------- random decisions


def ids_in(text: str) -> list[str]:
    """What looks like an id of an object."""
    return sorted(set(re.findall(r"\b[a-z]+_\d+\b", text))) or ["cup_1"]


def sample(schema: Mapping[str, Any], random: Random, ids: Sequence[str]) -> Any:
    """Something random that fits the schema, as far as it goes; strings are often ids."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][int(random.integers(len(schema["enum"])))]
    if schema.get("anyOf"):
        return sample(schema["anyOf"][int(random.integers(len(schema["anyOf"])))], random, ids)
    kind = schema.get("type", "string")
    if kind == "object":
        needed = schema.get("required", ())
        return {key: sample(value, random, ids) for key, value in schema.get("properties", {}).items() if key in needed or random.random() < 0.3}
    if kind == "array":
        low = int(schema.get("minItems", 0))
        return [sample(schema.get("items", {}), random, ids) for _ in range(int(random.integers(low, max(low, min(int(schema.get("maxItems", 3)), 4)) + 1)))]
    if kind in {"number", "integer"}:
        value = float(random.uniform(float(schema.get("minimum", -1)), float(schema.get("maximum", 1))))
        return value if kind == "number" else round(value)
    if kind == "boolean":
        return bool(random.random() < 0.5)
    return None if kind == "null" else str(random.choice([*ids, "table", "done"]))
