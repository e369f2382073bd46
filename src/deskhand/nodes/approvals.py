"""The operator's side of the approval of tool calls, for programs that are no part of the robot: what waits, and the word on it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from deskhand.errors import DeskhandError
from deskhand.nodes.node import EVENTS, DeskhandNode

HEARD = 5.0  # [s] for the tool server to say what became of a word


class ApprovalClient:
    """Follows ``tools/events``; ``node`` must be spun by other threads."""

    def __init__(self, node: DeskhandNode) -> None:
        self._waiting: dict[str, Mapping[str, Any]] = {}
        self._ended: dict[str, str] = {}
        self._taken: list[tuple[str, list[str]]] = []
        self._news = threading.Condition()
        self._decide = node.create_publisher(String, "tools/decide", QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE))
        node.create_subscription(String, "tools/events", self._heard, EVENTS)

    def _heard(self, message: String) -> None:
        event = json.loads(message.data)
        with self._news:
            if event.get("event") == "approval":
                self._waiting[event["id"]] = event
            elif event.get("event") == "approval_end":
                self._waiting.pop(event["id"], None)
                self._ended[event["id"]] = event["end"]
            elif event.get("event") in ("granted", "revoked"):
                self._taken.append((event["event"], event["callers"]))
            self._news.notify_all()

    def next(self, timeout: float) -> Mapping[str, Any] | None:
        """The oldest request that waits: ``{"id", "tool", "caller", "arguments", "effects"}``; None when none came within ``timeout`` [s]."""
        with self._news:
            self._news.wait_for(lambda: self._waiting, timeout)
            return next(iter(self._waiting.values()), None)

    def decide(self, request_id: str, approve: bool, grant: bool = False) -> str:
        """The operator's word; how the request ended: ``approved``, ``denied``, ``timeout`` or ``cancelled``.

        Raises:
            DeskhandError: ``timeout`` when the tool server said nothing.
        """
        self._send({"id": request_id, "approve": approve, "grant": grant})
        with self._news:
            if not self._news.wait_for(lambda: request_id in self._ended, HEARD):
                raise DeskhandError("timeout", f"the tool server said nothing of the request {request_id}.", hint="Does it still run? deskhand doctor")
            return self._ended[request_id]

    def revoke(self, caller: str = "") -> list[str]:
        """Take back what was granted to a caller, or to all (empty); who had a grant.

        Raises:
            DeskhandError: ``node_unavailable`` when no tool server answers.
        """
        end = time.monotonic() + HEARD
        with self._news:
            self._taken.clear()
        while time.monotonic() < end:  # a publisher that is not matched yet tells nobody
            self._send({"revoke": caller})
            with self._news:
                if self._news.wait_for(lambda: any(event == "revoked" for event, _ in self._taken), 0.5):
                    return next(callers for event, callers in self._taken if event == "revoked")
        raise DeskhandError("node_unavailable", "no tool server answers.", hint="Is the robot up (deskhand up robot)? The right namespace?")

    def _send(self, word: Mapping[str, Any]) -> None:
        self._decide.publish(String(data=json.dumps(word)))
