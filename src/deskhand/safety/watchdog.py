"""Knows which nodes live: a process of the same host by its pidfd (within milliseconds of its death), others by their heartbeat."""

from __future__ import annotations

import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

log = logging.getLogger(__name__)

LATE = 0.5  # [s] beyond its own period, from which the watchdog takes itself for the one that stood still

WATCHED = ("sim", "arm", "camera", "perception", "grasping", "motion", "tool_server", "orchestrator", "recorder")
"""Nodes whose death stops the arm and ends the task, besides the safety node's own."""

Died = Callable[[str, str], None]
"""Called with a node's name and why it is taken for dead, from the watchdog's thread."""


@dataclass
class _Peer:
    pid: int
    host: str
    seen: float
    pidfd: int = -1
    dead: str = ""
    ended: bool = False


class Watchdog:
    """Watches the nodes it was told of, from their first heartbeat on. One that was never seen is reported, not held against anyone.

    A node that comes back under the same name with another pid is watched anew. A process of this host that is alive but silent
    (stopped, or its executor blocked) is dead after ``hang_timeout`` as well. While the watchdog's own process stood still (stopped, or the machine
    suspended) it could hear nobody: that time counts as silence of no one.
    """

    def __init__(
        self,
        watch: Collection[str] | None,
        timeout: float,
        died: Died | None = None,
        *,
        hang_timeout: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``watch`` None: whoever is heard; ``timeout`` [s] of silence; ``hang_timeout`` [s] instead for those whose process is seen to live."""
        self._watch = None if watch is None else frozenset(watch)
        self._timeout, self._hang_timeout, self._died, self._clock = timeout, hang_timeout, died, clock
        self._host = socket.gethostname()
        self._peers: dict[str, _Peer] = {}
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._wake_read, self._wake_write = -1, -1
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    def start(self) -> None:
        """Begin to watch, in a thread of its own."""
        self._wake_read, self._wake_write = os.pipe()
        self._poll.register(self._wake_read, select.POLLIN)
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching; nobody is taken for dead any more."""
        with self._lock:
            self._closing.set()
        if self._thread is None:
            return
        os.write(self._wake_write, b"x")
        self._thread.join(2.0)
        with self._lock:
            for peer in self._peers.values():
                self._release(peer)
        os.close(self._wake_read)
        os.close(self._wake_write)

    def beat(self, text: str) -> None:
        """A heartbeat: "name pid host". Malformed ones and those of nodes that are not watched are left alone."""
        parts = text.split()
        if len(parts) != 3 or not parts[1].isdigit() or (self._watch is not None and parts[0] not in self._watch):
            return
        name, pid, host = parts[0], int(parts[1]), parts[2]
        with self._lock:
            if self._closing.is_set():
                return
            peer = self._peers.get(name)
            if peer is not None and (peer.pid, peer.host) == (pid, host):
                if peer.ended or (peer.dead and host == self._host and not _alive(pid)):
                    return  # a last message of a process that is gone
                if peer.dead:
                    log.info("%s is heard again", name)
                peer.seen, peer.dead = self._clock(), ""
                return
            if host == self._host and not _alive(pid):
                return
            if peer is not None:
                self._release(peer)
            self._peers[name] = fresh = _Peer(pid, host, self._clock())
            if host == self._host:
                self._open(fresh)

    def dead(self) -> dict[str, str]:
        """Names of watched nodes that have died or gone silent, with why."""
        with self._lock:
            return {name: peer.dead for name, peer in self._peers.items() if peer.dead}

    def silent(self, seconds: float) -> dict[str, float]:
        """Names of watched nodes that were not heard for longer than ``seconds``, with for how long [s]."""
        with self._lock:
            return {name: since for name, peer in self._peers.items() if (since := self._clock() - peer.seen) > seconds}

    def unseen(self) -> list[str]:
        """Watched nodes that have not been heard of yet."""
        with self._lock:
            return sorted((self._watch or frozenset()) - set(self._peers))

    def seen(self, name: str) -> bool:
        """True when a heartbeat of this node was ever taken."""
        with self._lock:
            return name in self._peers

    def _open(self, peer: _Peer) -> None:
        try:
            peer.pidfd = os.pidfd_open(peer.pid)
        except OSError as error:  # no pidfd here (old kernel, other pid namespace): heartbeats still tell
            log.info("process %d is watched by heartbeat only: %s", peer.pid, error)
            return
        self._poll.register(peer.pidfd, select.POLLIN)
        if self._wake_write >= 0:
            os.write(self._wake_write, b"x")

    def _release(self, peer: _Peer) -> None:
        if peer.pidfd >= 0:
            self._poll.unregister(peer.pidfd)
            os.close(peer.pidfd)
            peer.pidfd = -1

    def _forgive(self, late: float) -> None:
        """Add the time [s] in which nobody could be heard to when each was heard last; with the lock."""
        log.warning("the watchdog itself stood still for %.1f s", late)
        now = self._clock()
        for peer in self._peers.values():
            peer.seen = min(now, peer.seen + late)

    def _run(self) -> None:
        period, checked = min(self._timeout / 4, 0.1), self._clock()
        while not self._closing.is_set():
            ready = {fd for fd, _ in self._poll.poll(int(1000 * period))}
            if self._wake_read in ready:
                os.read(self._wake_read, 4096)
            news = []
            with self._lock:
                now = self._clock()
                if now - checked > period + LATE:
                    self._forgive(now - checked)
                checked = now
                for name, peer in self._peers.items():
                    if peer.pidfd >= 0 and peer.pidfd in ready:
                        self._release(peer)
                        peer.ended = True
                        peer.dead = f"its process {peer.pid} has ended"
                        news.append((name, peer.dead))
                    elif not peer.dead and now - peer.seen > (self._timeout if peer.pidfd < 0 else self._hang_timeout):
                        peer.dead = f"no heartbeat for {now - peer.seen:.1f} s (process {peer.pid} on {peer.host})"
                        news.append((name, peer.dead))
            for name, why in news:
                if not self._closing.is_set() and self._died is not None:
                    log.warning("%s is dead: %s", name, why)
                    self._died(name, why)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
