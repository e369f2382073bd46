"""A small server that speaks as vision-language models do, and really looks at the picture: it counts regions of the colour that the question names."""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml

from deskhand.llm.config import FILE_VARIABLE

HUES = {"red": ((0, 8), (172, 180)), "green": ((45, 85),), "blue": ((100, 130),)}
LEAST = 150  # [px] of a region


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer one question about one picture."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps({"answer": _answer(body), "sure": 0.9, "seen": "regions of the colour"})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "counter", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the terminal."""


def _answer(body: dict[str, Any]) -> str:
    parts = [part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]]
    asked = " ".join(part["text"] for part in parts if part["type"] == "text")
    url = next(part["image_url"]["url"] for part in parts if part["type"] == "image_url")
    image = cv2.imdecode(np.frombuffer(base64.b64decode(url.split(",", 1)[1]), np.uint8), cv2.IMREAD_COLOR)
    color = next((name for name in HUES if re.search(rf"\b{name}\b", asked)), "")
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    inside = [(hsv[..., 0] >= low) & (hsv[..., 0] <= high) for low, high in HUES.get(color, ())]
    mask = np.any(inside, axis=0) & (hsv[..., 1] > 110) & (hsv[..., 2] > 40) if inside else np.zeros(hsv.shape[:2], bool)
    mask = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    return str(int((stats[1:, cv2.CC_STAT_AREA] >= LEAST).sum()))


@contextmanager
def configured() -> Iterator[None]:
    """The server runs and is the configured vision model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), name="vision model", daemon=True).start()
    profile = {"provider": "openai", "model": "counter", "base_url": f"http://127.0.0.1:{server.server_address[1]}/v1", "retries": 0}
    before = os.environ.get(FILE_VARIABLE)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "llm.yaml"
        file.write_text(yaml.safe_dump({"default": "counter", "vision": "counter", "profiles": {"counter": profile}}))
        os.environ[FILE_VARIABLE] = str(file)
        try:
            yield
        finally:
            os.environ.pop(FILE_VARIABLE)
            if before is not None:
                os.environ[FILE_VARIABLE] = before
            server.shutdown()
            server.server_close()
