"""Which nodes are alive, for those who call them."""

from __future__ import annotations

from collections.abc import Collection

from rclpy.node import Node
from std_msgs.msg import String

from deskhand.nodes.node import HEARTBEAT_PERIOD, HEARTBEATS
from deskhand.safety.watchdog import Died, Watchdog

SILENT = 6 * HEARTBEAT_PERIOD  # [s] wall time after which a node of another machine counts as dead


class Peers:
    """Listens to ``heartbeat`` through ``node``; ``topic`` is that of another namespace.

    Args:
        watch: whom to listen to; None: whoever is heard.
        died: called with a name and why that node is taken for dead, from a thread of its own.
        hang_timeout: [s] of silence of a process of this machine that lives, after which it counts as dead.
    """

    def __init__(self, node: Node, topic: str = "heartbeat", watch: Collection[str] | None = None, died: Died | None = None, hang_timeout: float = 5.0) -> None:
        self._watchdog = Watchdog(watch, SILENT, died, hang_timeout=hang_timeout)
        self._watchdog.start()
        node.create_subscription(String, topic, lambda message: self._watchdog.beat(message.data), HEARTBEATS)

    def dead(self, name: str) -> bool:
        """True when the node was heard once and its process has ended or gone silent."""
        return name in self._watchdog.dead()

    def all_dead(self) -> dict[str, str]:
        """Names of those that have ended or gone silent, with why."""
        return self._watchdog.dead()

    def silent(self, seconds: float) -> dict[str, float]:
        """Names of those that were not heard for longer than ``seconds``, with for how long [s]."""
        return self._watchdog.silent(seconds)

    def heard(self, name: str) -> bool:
        """True when the node was ever heard: only then is its death noticed."""
        return self._watchdog.seen(name)

    def close(self) -> None:
        """Watch no more."""
        self._watchdog.close()
