"""Worker processes that are kept warm and handed out; all sessions of a process share them."""

from __future__ import annotations

import atexit
import json
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.isolation.zygote import READY

log = logging.getLogger(__name__)

MAX_WORKERS = 32
MAX_IDLE = 2  # kept warm: nearly all calls come one after the other
CALLS = 500  # after so many a worker is replaced, so that what leaks stays small
START = 60.0  # [s] that importing the tools may take
END = 10.0  # [s] that the process which forks them may take to end by itself
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "MUJOCO_GL")  # no keys or tokens of the parent reach a tool
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass
class Process:
    """A worker process as its parent sees it: the socket, and the pipe of what it prints."""

    pid: int
    connection: Connection
    output: int
    access: frozenset[str]
    calls: int = 0

    def limit_memory(self, megabytes: int) -> None:
        """It may take so much more than it has now, from now on."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[0])
        _, hard = resource.prlimit(self.pid, resource.RLIMIT_AS)
        wanted = pages * resource.getpagesize() + megabytes * 2**20
        resource.prlimit(self.pid, resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


class Pool:
    """At most ``most`` worker processes, forked from one that imported ``modules``; safe to use from many threads.

    Nothing is started before the first worker is wanted.
    """

    def __init__(self, modules: Callable[[], Iterable[str]] = tuple, most: int = MAX_WORKERS) -> None:
        self._modules = modules
        self._free = threading.Semaphore(most)
        self._lock = threading.Lock()  # of the list
        self._talking = threading.Lock()  # of the control socket
        self._idle: list[Process] = []
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False

    def acquire(self, access: frozenset[str], give_up: Callable[[], bool]) -> Process | None:
        """A worker for one call; None when ``give_up`` said so first.

        Raises:
            DeskhandError: ``internal_error`` when no process can be started.
        """
        while not self._free.acquire(timeout=0.05):
            if give_up():
                return None
        try:
            return self._take(access) or self._fork(access)
        except BaseException:
            self._free.release()
            raise

    def release(self, process: Process) -> None:
        """The call is over and the worker is sound: the next may have it."""
        process.calls += 1
        with self._lock:
            keep = not self._closed and process.calls < CALLS and len(self._idle) < MAX_IDLE
            if keep:
                self._idle.append(process)
        if keep:
            self._free.release()
        else:
            self.discard(process)

    def discard(self, process: Process) -> int | None:
        """Kill a worker after a call; its exit code, -9 for a signal 9, None when nobody knows."""
        try:
            return self._kill(process)
        finally:
            self._free.release()

    def start(self) -> None:
        """Import the tools now, which takes seconds; at once where that was done."""
        with self._talking:
            if self._control is None:
                self._start()

    def warm_up(self) -> None:
        """Start a first worker."""
        process = self.acquire(frozenset(), lambda: False)
        if process:
            self.release(process)

    def close(self) -> None:
        """End all workers that are idle; those at work end with their call."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for process in idle:
            self._kill(process)
        with self._talking:
            if self._control is not None:
                self._control.close()
                self._control = None
            if self._zygote is not None:
                try:
                    self._zygote.wait(END)
                except subprocess.TimeoutExpired:  # it still imports the tools, on a machine that is busy with others; nothing of it is wanted any more
                    self._zygote.kill()
                    self._zygote.wait()
                self._zygote = None

    def _take(self, access: frozenset[str]) -> Process | None:
        while True:
            with self._lock:
                found = next((process for process in reversed(self._idle) if process.access == access), None)
                if found is None and len(self._idle) >= MAX_IDLE:
                    stale = self._idle.pop(0)
                elif found is None:
                    return None
                else:
                    self._idle.remove(found)
                    if not found.connection.poll(0) and not _readable(found.output):
                        return found
                    stale = found  # it died, or something of its last call is still going on
            self._kill(stale)

    def _fork(self, access: frozenset[str]) -> Process:
        ours, theirs = socket.socketpair()
        readable, writable = os.pipe()
        try:
            pid = self._ask({"fork": sorted(access)}, [theirs.fileno(), writable])["pid"]
        except BaseException:
            ours.close()
            os.close(readable)
            raise
        finally:
            theirs.close()
            os.close(writable)
        os.set_blocking(readable, False)
        return Process(pid, Connection(ours.detach()), readable, access)

    def _kill(self, process: Process) -> int | None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.connection.close()
        os.close(process.output)
        try:
            status: int = self._ask({"reap": process.pid}, start=False)["status"]
        except DeskhandError:
            return None  # the zygote is gone, and its children with it
        return status

    def _ask(self, request: dict[str, Any], descriptors: Iterable[int] = (), start: bool = True) -> dict[str, Any]:
        with self._talking:
            for again in (True, False):
                if self._control is None and not start:
                    break
                control = self._control or self._start()
                try:
                    socket.send_fds(control, [json.dumps(request).encode()], list(descriptors))
                    if answer := control.recv(65536):
                        result: dict[str, Any] = json.loads(answer)
                        return result
                except OSError as error:
                    log.warning("the process that starts workers is gone: %s", error)
                self._stop()
                if not again or not start:
                    break
        raise DeskhandError("internal_error", "no worker process can be started for isolated tools.", retry=True, hint="See the log.")

    def _start(self) -> socket.socket:
        """Called with the lock of the control socket held."""
        if self._closed:
            raise DeskhandError("cancelled", "the tool session was closed.")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _ONE_THREAD
        environment |= {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "deskhand.etp.isolation.zygote", str(theirs.fileno()), *self._modules()]
        self._zygote = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True, pass_fds=[theirs.fileno()])
        theirs.close()
        ours.settimeout(START)
        try:
            ready = ours.recv(64)
        except OSError as error:
            raise DeskhandError("internal_error", f"the process that starts workers did not begin within {START:g} s: {error}") from error
        if ready != READY:
            raise DeskhandError("internal_error", "the process that starts workers ended at once.", hint="See what it printed.")
        self._control = ours
        return ours

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._zygote is not None:
            self._zygote.kill()
            self._zygote.wait(10)
            self._zygote = None


_LOCK = threading.Lock()
_SHARED: dict[frozenset[str], tuple[Pool, int]] = {}  # by the modules that were imported; with how many sessions have it
_OWNER = 0  # the process whose they are: one that was forked from it must leave them alone


def borrow(modules: frozenset[str]) -> Pool:
    """The pool of this process whose workers have imported ``modules``, until :func:`give_back`. It stays warm for the next session that wants the same."""
    global _OWNER
    with _LOCK:
        if os.getpid() != _OWNER:
            _SHARED.clear()
            _OWNER = os.getpid()
        unused = [key for key, (_, users) in _SHARED.items() if not users and key != modules]
        closed = [_SHARED.pop(key)[0] for key in unused]
        pool, users = _SHARED.get(modules) or (Pool(lambda: sorted(modules)), 0)
        _SHARED[modules] = pool, users + 1
    for old in closed:
        old.close()
    return pool


def give_back(pool: Pool) -> None:
    """A session needs ``pool`` no more."""
    with _LOCK:
        for key, (known, users) in _SHARED.items():
            if known is pool:
                _SHARED[key] = pool, users - 1


@atexit.register
def _close_all() -> None:
    if os.getpid() == _OWNER:
        for pool, _ in _SHARED.values():
            pool.close()


def _readable(descriptor: int) -> bool:
    try:
        return bool(os.read(descriptor, 1))
    except BlockingIOError:
        return False
