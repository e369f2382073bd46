"""Starts nodes as processes, notices when one dies, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from deskhand.bringup.environment import workstation_defaults
from deskhand.bringup.shared_memory import remove_dead_segments
from deskhand.bringup.spec import NodeSpec
from deskhand.errors import DeskhandError

TAIL = 200  # lines kept of each node
LEAKS = re.compile(r"nanobind: (?:leaked|this is likely)| - (?:leaked |\.\.\. skipped)|See https://nanobind")
"""What a process that has roboplan says when it ends: of its bindings' own objects, which nobody can free. It stays in the node's log."""
INTERRUPT_GRACE = 1.7  # [s] after SIGINT
TERMINATE_GRACE = 0.5  # [s] after SIGTERM, then SIGKILL

READY = "ready"
"""A node prints "ready NAME" when it spins (nodes/node.py)."""


@dataclass(frozen=True)
class Death:
    """A process that ended without being asked to. ``exit_code`` is negative for a signal; ``lines`` are its last ones."""

    name: str
    exit_code: int
    lines: tuple[str, ...]

    @property
    def cause(self) -> str:
        """Readable exit code, for example "killed by SIGKILL"."""
        return f"killed by {signal.Signals(-self.exit_code).name}" if self.exit_code < 0 else f"exit code {self.exit_code}"

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {self.cause}", *(f"  {line}" for line in self.lines)])


@dataclass
class _Child:
    spec: NodeSpec
    process: subprocess.Popen[bytes]
    pidfd: int
    log: IO[bytes] | None
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL))
    partial: bytes = b""
    ready: bool = False
    exit_code: int | None = None


class Supervisor:
    """The processes of some nodes, each in a process group of its own.

    Ctrl-C in the terminal reaches this process only. When this process ends by whatever cause, SIGKILL included, the nodes are ended too
    (reaper.py). Use as a context manager, or call :meth:`stop`.
    """

    def __init__(
        self,
        specs: Iterable[NodeSpec],
        *,
        log_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        echo: Callable[[str, str], None] | None = None,
    ) -> None:
        """Nothing starts yet.

        Args:
            specs: the nodes, names unique.
            log_folder: where each node's output goes, NAME.log.
            environment: added to this process's environment, for example ROS_DOMAIN_ID.
            echo: called with (node name, line) from another thread.
        """
        self._specs = tuple(specs)
        self._log_folder = log_folder
        self._environment = {**os.environ, **workstation_defaults(os.environ), "PYTHONUNBUFFERED": "1"}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # many small processes on few cores
            self._environment.setdefault(name, "1")
        self._environment.update(environment or {})
        self._echo = echo
        self._children: dict[str, _Child] = {}
        self._changed = threading.Condition()
        self._selector: selectors.BaseSelector | None = None
        self._reader: threading.Thread | None = None
        self._reaper: subprocess.Popen[bytes] | None = None
        self._stopping = False

    def __enter__(self) -> Supervisor:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start every process.

        Raises:
            DeskhandError: ``missing_dependency`` when a program does not exist; what had started is stopped again.
        """
        if self._log_folder:
            self._log_folder.mkdir(parents=True, exist_ok=True)
        reaper = str(Path(__file__).with_name("reaper.py"))
        self._reaper = subprocess.Popen([sys.executable, "-I", "-S", reaper], stdin=subprocess.PIPE, start_new_session=True)
        self._selector = selectors.DefaultSelector()
        try:
            for spec in self._specs:
                self._spawn(spec)
        except OSError as error:
            self.stop()
            raise DeskhandError("missing_dependency", f"{spec.name} cannot be started: {error}.", hint="Is the ROS 2 that has it sourced?") from error
        self._reader = threading.Thread(target=self._read, name="supervisor", daemon=True)
        self._reader.start()

    def _spawn(self, spec: NodeSpec) -> None:
        assert self._selector is not None
        process = subprocess.Popen(
            spec.command(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=spec.pass_fds,
            env={**self._environment, **spec.environment},
        )
        self._tell_reaper("add", process.pid)
        log = (self._log_folder / f"{spec.name}.log").open("wb") if self._log_folder else None
        child = _Child(spec, process, os.pidfd_open(process.pid), log, ready=spec.package != "deskhand" and not spec.once)
        self._children[spec.name] = child
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, (child, self._on_output))
        self._selector.register(child.pidfd, selectors.EVENT_READ, (child, self._on_exit))

    def _tell_reaper(self, verb: str, group: int) -> None:
        assert self._reaper is not None and self._reaper.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # someone killed the reaper; stop() still ends everything
            self._reaper.stdin.write(f"{verb} {group}\n".encode())
            self._reaper.stdin.flush()

    def _read(self) -> None:
        assert self._selector is not None
        while self._selector.get_map():
            for key, _ in self._selector.select(timeout=0.5):
                child, handle = key.data
                handle(child, key.fileobj)

    def _on_output(self, child: _Child, stream: Any) -> None:
        assert self._selector is not None
        if stream.closed:  # its last line and its end came in one turn of the selector
            return
        data = os.read(stream.fileno(), 65536)
        if not data:
            self._selector.unregister(stream)
            stream.close()
        if child.log:
            child.log.write(data)
            child.log.flush()
        *whole, child.partial = (child.partial + data).split(b"\n")
        if not data and child.partial:
            whole, child.partial = [child.partial], b""
        for raw in whole:
            self._on_line(child, raw.decode(errors="replace").rstrip("\r"))

    def _on_line(self, child: _Child, line: str) -> None:
        with self._changed:
            child.lines.append(line)
            if line == f"{READY} {child.spec.name}":
                child.ready = True
                self._changed.notify_all()
                return
        if self._echo and not LEAKS.match(line):
            self._echo(child.spec.name, line)

    def _on_exit(self, child: _Child, pidfd: int) -> None:
        assert self._selector is not None
        self._selector.unregister(pidfd)
        os.close(pidfd)
        stream = child.process.stdout
        while stream is not None and not stream.closed and self._drain(child, stream):
            pass
        _signal_group(child.process.pid, signal.SIGKILL)  # its own children; its group's number is still reserved
        code = child.process.wait()
        self._tell_reaper("drop", child.process.pid)
        with self._changed:
            child.exit_code, child.ready = code, child.ready or (child.spec.once and code == 0)
            self._changed.notify_all()

    def _drain(self, child: _Child, stream: Any) -> bool:
        try:
            self._on_output(child, stream)
        except BlockingIOError:
            return False
        return True

    def wait_ready(self, timeout: float = 30.0) -> None:
        """Wait until every node has said that it is ready.

        Raises:
            DeskhandError: ``node_unavailable`` with its last lines when a node died, ``timeout`` naming those that are not ready.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._dead() or all(child.ready for child in self._children.values()), timeout)
            dead, waiting = self._dead(), [name for name, child in self._children.items() if not child.ready]
        if dead:
            raise DeskhandError("node_unavailable", "\n".join(map(str, dead)))
        if waiting:
            lines = "\n".join(f"{name}: {line}" for name in waiting for line in self.tail(name, 5))
            raise DeskhandError("timeout", f"not ready within {timeout:g} s: {', '.join(waiting)}.\n{lines}")

    def _dead(self) -> list[Death]:
        ended = [(name, child, child.exit_code) for name, child in self._children.items() if child.exit_code is not None]
        return [Death(name, code, tuple(child.lines)[-20:]) for name, child, code in ended if code != 0 or not child.spec.once]

    def died(self) -> list[Death]:
        """Nodes that have ended since the start (without :meth:`stop`)."""
        with self._changed:
            return [] if self._stopping else self._dead()

    def wait_death(self, timeout: float | None = None) -> list[Death]:
        """Wait until a node has ended; empty when ``timeout`` [s] has passed."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._dead()), timeout)
        return self.died()

    def pid(self, name: str) -> int:
        """Process id of a node."""
        return self._children[name].process.pid

    def pids(self) -> dict[str, int]:
        """Process ids of the nodes that run, by name."""
        with self._changed:
            return {name: child.process.pid for name, child in self._children.items() if child.exit_code is None}

    def tail(self, name: str, count: int = 20) -> list[str]:
        """The last lines that a node has printed."""
        with self._changed:
            return list(self._children[name].lines)[-count:]

    def stop(self) -> None:
        """End every process within 3 s: SIGINT, then SIGTERM, then SIGKILL. Safe to call again."""
        with self._changed:
            self._stopping = True
        if self._reader is None:  # start() failed half-way
            self._reader = threading.Thread(target=self._read, name="supervisor", daemon=True)
            if self._selector is not None:
                self._reader.start()
        for number, grace in ((signal.SIGINT, INTERRUPT_GRACE), (signal.SIGTERM, TERMINATE_GRACE), (signal.SIGKILL, 5.0)):
            if self._end_with(number, grace):
                break
        if self._reader.is_alive() and self._reader is not threading.current_thread():
            self._reader.join(timeout=1.0)
        for child in self._children.values():
            if child.log and not child.log.closed:
                child.log.close()
        if self._reaper is not None and self._reaper.stdin is not None and not self._reaper.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._reaper.stdin.close()
            self._reaper.wait()
        if any(child.exit_code == -signal.SIGKILL for child in self._children.values()):
            remove_dead_segments()

    def _end_with(self, number: int, grace: float) -> bool:
        """Signal all that run and wait; True when none is left."""
        end = time.monotonic() + grace
        with self._changed:
            running = [child for child in self._children.values() if child.exit_code is None]
            for child in running:
                _signal_group(child.process.pid, number)
            return self._changed.wait_for(lambda: all(child.exit_code is not None for child in running), end - time.monotonic())


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
