"""Which nodes are alive, from their heartbeats; a killed process on this machine is known at once, by its pidfd."""

from __future__ import annotations

import os
import select
import socket
import threading
import time

from std_msgs.msg import String

from deskhand.nodes.node import HEARTBEAT_PERIOD, HEARTBEATS, DeskhandNode

SILENT = 6 * HEARTBEAT_PERIOD  # [s] wall time after which a node of another machine counts as dead


class _Peer:
    """One process of a node."""

    def __init__(self, pid: int, local: bool) -> None:
        self.pid, self.seen, self.fd = pid, time.monotonic(), -1
        self._gone = False
        if local:
            try:
                self.fd = os.pidfd_open(pid)
            except ProcessLookupError:
                self._gone = True
            except OSError:  # no pidfd here: silence tells
                self.fd = -1

    def alive(self) -> bool:
        if not self._gone and self.fd >= 0:
            poll = select.poll()
            poll.register(self.fd, select.POLLIN)
            self._gone = bool(poll.poll(0))
            return not self._gone
        return not self._gone and time.monotonic() - self.seen < SILENT

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Peers:
    """Listens to ``heartbeat`` through ``node``; ``topic`` is that of another namespace."""

    def __init__(self, node: DeskhandNode, topic: str = "heartbeat") -> None:
        self._lock, self._peers, self._host = threading.Lock(), dict[str, _Peer](), socket.gethostname()
        self._subscription = node.create_subscription(String, topic, self._heard, HEARTBEATS, callback_group=node.reentrant)

    def _heard(self, message: String) -> None:
        try:
            name, pid, host = message.data.split()
            number = int(pid)
        except ValueError:
            return
        with self._lock:
            peer = self._peers.get(name)
            if peer is None or peer.pid != number:
                if peer is not None:
                    peer.close()
                self._peers[name] = _Peer(number, host == self._host)
            else:
                peer.seen = time.monotonic()

    def dead(self, name: str) -> bool:
        """True when the node was heard once and its process has ended or gone silent."""
        with self._lock:
            peer = self._peers.get(name)
            return peer is not None and not peer.alive()

    def close(self) -> None:
        """Release the pidfds."""
        with self._lock:
            for peer in self._peers.values():
                peer.close()
            self._peers.clear()
