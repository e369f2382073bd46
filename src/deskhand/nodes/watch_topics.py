"""A topic for every continuous tool that runs: ``tools/watches/NAME``, there from the first watch of the tool until its last has ended."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String

from deskhand.etp.watches import WatchEvent
from deskhand.nodes.node import EVENTS

PREFIX = "tools/watches"
ACKNOWLEDGED = 1.0  # [s] wall time that the end of a watch is kept for who has not got it yet
FIELDS = tuple(WatchEvent.__dataclass_fields__)


class WatchTopics:
    """Publishes what watches tell; the records of a Session are handed to :meth:`heard`, from any thread.

    Args:
        node: whose topics they are.
        running: names of the tools that watch at this moment.
    """

    def __init__(self, node: Node, running: Callable[[], set[str]]) -> None:
        self._node, self._running = node, running
        self._topics: dict[str, Publisher] = {}
        self._lock = threading.Lock()

    def heard(self, record: Mapping[str, Any]) -> None:
        """Take one record of the session: the start of a watch opens its topic, an event of it goes there."""
        tool = str(record.get("tool", ""))
        if record.get("event") == "end" and isinstance(record.get("data"), Mapping) and set(record["data"]) == {"watch_id"}:
            with self._lock:
                if tool in self._running():
                    self._topic(tool)
        elif record.get("event") == "watch":
            event = {name: record[name] for name in FIELDS}
            with self._lock:
                topic = self._topic(tool)
                topic.publish(String(data=json.dumps(event, ensure_ascii=False, allow_nan=False)))
                if record["ended"] and tool not in self._running():
                    self._drop(tool)

    def close(self) -> None:
        """Take all topics away."""
        with self._lock:
            for tool in list(self._topics):
                self._drop(tool)

    def _topic(self, tool: str) -> Publisher:
        if tool not in self._topics:
            self._topics[tool] = self._node.create_publisher(String, f"{PREFIX}/{tool}", EVENTS)
        return self._topics[tool]

    def _drop(self, tool: str) -> None:
        topic = self._topics.pop(tool)
        topic.wait_for_all_acked(Duration(seconds=ACKNOWLEDGED))
        self._node.destroy_publisher(topic)


class WatchSubscription:
    """Hears the events of one watch on its topic; each once and in its order, those from before it was discovered read from the server.

    Args:
        node: spun by other threads.
        topic: name of the topic.
        watch_id: of the watch, other watches of the tool are passed over.
        listener: called in a thread of the node.
        since: number of the last event that is known already.
    """

    def __init__(self, node: Any, topic: str, watch_id: str, listener: Callable[[WatchEvent], None], since: int) -> None:
        self._node, self._watch_id, self._listener = node, watch_id, listener
        self._last = since
        self._early: list[WatchEvent] | None = []
        self._lock = threading.RLock()
        self._ended = False
        self._subscription = node.create_subscription(String, topic, self._message, EVENTS, callback_group=node.reentrant)

    def begin(self, known: list[WatchEvent]) -> None:
        """Tell what the server kept, then what came meanwhile; from here on as it comes."""
        with self._lock:
            early, self._early = self._early or [], None
            for event in sorted([*known, *early], key=lambda event: event.number):
                self._tell(event)

    def close(self) -> None:
        """Hear no more."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
        self._node.destroy_subscription(self._subscription)

    def _message(self, message: String) -> None:
        event = WatchEvent(**json.loads(message.data))
        if event.watch_id != self._watch_id:
            return
        with self._lock:
            if self._early is not None:
                self._early.append(event)
            else:
                self._tell(event)

    def _tell(self, event: WatchEvent) -> None:
        if self._ended or event.number <= self._last:
            return
        self._last = event.number
        self._listener(event)
        if event.ended:
            self.close()
