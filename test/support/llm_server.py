"""A small server on 127.0.0.1 that answers as an OpenAI-compatible one does, well or badly."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from deskhand.agent.prompt import find_cards
from deskhand.llm.base import Message
from deskhand.llm.config import ModelProfile
from deskhand.llm.openai import OpenAIModel
from deskhand.testing.symbolic_desk import SymbolicDesk

Answer = tuple[int, dict[str, str], str]
TALK = [Message("system", "You are a robot."), Message("user", "put the cup in the bin")]


class Server:
    """Gives ``answers`` one after the other (the last one again and again); keeps the requests."""

    def __init__(self) -> None:
        self.answers: list[Answer | Callable[[dict[str, Any]], Answer]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append(body)
                server.keys.append(self.headers.get("Authorization", ""))
                answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                status, headers, text = answer(body) if callable(answer) else answer
                if body.get("stream") and status == 200 and not headers:
                    headers, text = {"Content-Type": "text/event-stream"}, as_events(text)
                try:
                    self.send_response(status)
                    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text.encode())), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(text.encode())
                except OSError:
                    pass

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def as_events(text: str) -> str:
    """A whole answer in the pieces of a stream; what is no answer stays as it is."""
    try:
        answer = json.loads(text)
        body = answer["choices"][0]["message"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return f"data: {text}\n\ndata: [DONE]\n\n"
    content = body.get("content") or ""
    size = max(5, len(content) // 100)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": content[at : at + size]} for at in range(0, len(content), size))]
    for index, call in enumerate(body.get("tool_calls", ())):
        function = call["function"]
        deltas.append({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": {"name": function["name"], "arguments": ""}}]})
        written = function["arguments"]
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": written[at : at + 7]}}]} for at in range(0, len(written), 7)]
    chunks = [{"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": answer["choices"][0]["finish_reason"]}]})
    chunks.append({"id": "x", "choices": [], "usage": answer.get("usage")})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def message(content: str | None = None, *calls: tuple[str, str]) -> Answer:
    tool_calls = [{"id": f"c{index}", "type": "function", "function": {"name": name, "arguments": arguments}} for index, (name, arguments) in enumerate(calls)]
    body: dict[str, Any] = {"role": "assistant", "content": content}
    if tool_calls:
        body["tool_calls"] = tool_calls
    choice = {"index": 0, "message": body, "finish_reason": "tool_calls" if tool_calls else "stop"}
    usage = {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57}
    return 200, {}, json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage})


def error(status: int, **headers: str) -> Answer:
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps({"error": {"message": f"made to fail with {status}"}})


def model(server: Server, pauses: list[float] | None = None, **settings: Any) -> OpenAIModel:
    profile = ModelProfile("test", **({"provider": "openai", "model": "m", "base_url": server.url, "timeout": 5.0, "retries": 3} | settings))
    return OpenAIModel(profile, sleep=(pauses if pauses is not None else []).append)


def cards() -> list[dict[str, Any]]:
    return find_cards(SymbolicDesk(), "")
