"""Which nodes are alive, for those who call them."""

from __future__ import annotations

from std_msgs.msg import String

from deskhand.nodes.node import HEARTBEAT_PERIOD, HEARTBEATS, DeskhandNode
from deskhand.safety.watchdog import Watchdog

SILENT = 6 * HEARTBEAT_PERIOD  # [s] wall time after which a node of another machine counts as dead


class Peers:
    """Listens to ``heartbeat`` through ``node``; ``topic`` is that of another namespace."""

    def __init__(self, node: DeskhandNode, topic: str = "heartbeat") -> None:
        self._watchdog = Watchdog(None, SILENT)
        self._watchdog.start()
        node.create_subscription(String, topic, lambda message: self._watchdog.beat(message.data), HEARTBEATS, callback_group=node.reentrant)

    def dead(self, name: str) -> bool:
        """True when the node was heard once and its process has ended or gone silent."""
        return name in self._watchdog.dead()

    def heard(self, name: str) -> bool:
        """True when the node was ever heard: only then is its death noticed."""
        return self._watchdog.seen(name)

    def close(self) -> None:
        """Watch no more."""
        self._watchdog.close()
