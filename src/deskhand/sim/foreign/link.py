"""The two connections to the process of a foreign simulator, and the process."""

from __future__ import annotations

import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.foreign.served import wire

ANSWER_TIME = 300.0  # [s] for an answer: the first picture of a scene compiles shaders, and making a scene loads its meshes
END_TIME = 5.0  # [s] until a process that was told to end is ended


class Link:
    """One of the connections. Threads may share it: questions are asked one at a time."""

    def __init__(self, connection: socket.socket, timeout: float = ANSWER_TIME) -> None:
        connection.settimeout(timeout)
        self._connection, self._lock = connection, threading.Lock()

    def ask(self, what: str, arrays: wire.Arrays | None = None, **fields: Any) -> tuple[dict[str, Any], wire.Arrays]:
        """Ask and wait.

        Raises:
            DeskhandError: ``node_unavailable`` when the simulator is gone, ``timeout`` when it does not answer, ``controller_failed`` with its own words
                when it could not do it.
        """
        with self._lock:
            try:
                wire.send(self._connection, {"ask": what, **fields}, arrays)
                head, answer = wire.receive(self._connection)
            except TimeoutError as error:
                raise DeskhandError("timeout", f"the foreign simulator does not answer {what!r}.") from error
            except wire.WireError as error:
                raise DeskhandError("node_unavailable", f"the foreign simulator has ended: {error}.", hint="Its own messages are above.") from error
        if "error" in head:
            raise DeskhandError("controller_failed", f"the foreign simulator refused {what!r}: {head['error']}", hint=str(head.get("trace", "")))
        return head, answer

    def close(self) -> None:
        """Safe to call again."""
        self._connection.close()


@dataclass(frozen=True)
class Outcome:
    """What the environment's own test says: now, at which step for the first time (-1: never), and how many steps were used."""

    done: bool
    first: int
    steps: int


class Scorer:
    """The scorer's connection: cases, success and truth. No part of the robot's stack may have it."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def load(self, case: dict[str, Any]) -> dict[str, Any]:
        """Make a case; what the world tells about it, among it ``instruction``."""
        return self._link.ask("load", case=case)[0]

    def outcome(self) -> Outcome:
        """See Outcome."""
        told = self._link.ask("outcome")[0]
        return Outcome(bool(told["done"]), int(told["first"]), int(told["steps"]))

    def truth(self) -> dict[str, Any]:
        """``objects``: name -> base_T_object as lists; ``goal``: the conditions."""
        return self._link.ask("truth")[0]

    def masks(self, camera: str, width: int, height: int) -> tuple[list[str], Array]:
        """Names, and (height, width) numbers: 0 for nothing of interest, else 1 + the place among the names."""
        head, arrays = self._link.ask("masks", camera=camera, width=width, height=height)
        return list(head["names"]), arrays["mask"]


class ForeignProcess:
    """A simulator's process with both connections; a context manager.

    Args:
        python: of its environment.
        kind: of the world, a name in served/robosuite_world.py.
        log: file for what it prints.
    """

    def __init__(self, python: Path, kind: str, log: Path) -> None:
        self._python, self._kind, self._log = python, kind, log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ForeignProcess:
        pairs = [socket.socketpair() for _ in range(2)]
        theirs = [pair[1] for pair in pairs]
        numbers = [end.fileno() for end in theirs]
        worker = Path(__file__).parent / "served" / "worker.py"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._log.open("wb") as output:
                command = [str(self._python), str(worker), self._kind, *map(str, numbers)]
                self._process = subprocess.Popen(command, pass_fds=numbers, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        except OSError as error:
            hint = "deskhand bench libero install makes the environment."
            raise DeskhandError("missing_dependency", f"{self._python} cannot be started: {error}.", hint=hint) from error
        finally:
            for end in theirs:
                end.close()  # the process has its copies: its death closes them
        self.robot, self._scored = Link(pairs[0][0]), Link(pairs[1][0])
        self.scorer = Scorer(self._scored)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.robot.close()
        self._scored.close()  # it ends when its connections do
        assert self._process is not None
        try:
            self._process.wait(END_TIME)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
