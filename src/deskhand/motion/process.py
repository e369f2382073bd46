"""A planning backend in a process of its own, for libraries that hold Python's global lock while they plan, or may crash.

The node that watches a motion must answer within milliseconds whatever a planner does. The process dies with its parent; when it crashes or does not
answer in time, the caller gets an error and the next call starts it afresh.
"""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.motion.base import Backend
from deskhand.safety.scene import Pairs, PlanningScene
from deskhand.types import IkSolution

log = logging.getLogger(__name__)

START_TIME = 60.0  # [s] that a backend may take to start
SPARE_TIME = 15.0  # [s] beyond what a call was given


class ProcessBackend:
    """See :class:`deskhand.motion.base.Backend`: every call goes to the process, one at a time."""

    def __init__(self, name: str, factory: str, *arguments: Any) -> None:
        """``factory``: ``package.module:function``; it gets ``arguments`` (which must pickle) and returns the backend.

        Raises:
            DeskhandError: what the factory raised; ``internal_error`` when the process died.
        """
        self.name = name
        self._factory, self._arguments = factory, arguments
        self._lock = threading.Lock()
        self._process: Any = None
        self._connection: Connection | None = None
        self._sent: PlanningScene | None = None
        with self._lock:
            self._start()

    def close(self) -> None:
        """See the base."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._process is not None:
                self._process.join(timeout=5.0)
                self._end()

    def solve_ik(
        self,
        scene: PlanningScene,
        pose: Array,
        seed: Array,
        others: Mapping[str, float],
        *,
        max_solutions: int = 1,
        check_collisions: bool = True,
        allow: Pairs = frozenset(),
        padding: float = 0.0,
        max_time: float = 0.1,
    ) -> list[IkSolution]:
        """See the base."""
        options = {"max_solutions": max_solutions, "check_collisions": check_collisions, "allow": allow, "padding": padding, "max_time": max_time}
        result: list[IkSolution] = self._call("solve_ik", scene, (pose, seed, dict(others)), options, max_time)
        return result

    def refine_ik(self, pose: Array, seed: Array, others: Mapping[str, float]) -> Array | None:
        """See the base."""
        result: Array | None = self._call("refine_ik", None, (pose, seed, dict(others)), {}, 0.0)
        return result

    def in_collision(self, scene: PlanningScene, joints: Array, others: Mapping[str, float], allow: Pairs = frozenset(), padding: float = 0.0) -> bool:
        """See the base."""
        return bool(self._call("in_collision", scene, (joints, dict(others)), {"allow": allow, "padding": padding}, 0.0))

    def plan_path(
        self,
        scene: PlanningScene,
        start: Array,
        goal: Array,
        others: Mapping[str, float],
        *,
        allow: Pairs = frozenset(),
        padding: float = 0.0,
        max_time: float = 1.0,
        upright: float | None = None,
        attempt: int = 0,
    ) -> Array | None:
        """See the base."""
        options = {"allow": allow, "padding": padding, "max_time": max_time, "upright": upright, "attempt": attempt}
        result: Array | None = self._call("plan_path", scene, (start, goal, dict(others)), options, max_time)
        return result

    # ------------------------------------------------------------ the process

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a forked process would share ROS's threads and sockets
        ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._factory, self._arguments), name=f"{self.name}_backend", daemon=True)
        self._process.start()
        theirs.close()
        self._connection, self._sent = ours, None
        self._answer(START_TIME)
        log.info("the backend %s runs as process %d", self.name, self._process.pid)

    def _end(self) -> None:
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process = None

    def _call(self, method: str, scene: PlanningScene | None, arguments: tuple[Any, ...], options: dict[str, Any], max_time: float) -> Any:
        with self._lock:
            if self._process is None:
                self._start()
            assert self._connection is not None
            fresh = scene if scene is not self._sent else None  # a scene never changes, so it is sent once
            try:
                self._connection.send((method, fresh, scene is not None, arguments, options))
            except (BrokenPipeError, ConnectionError) as error:
                raise self._died() from error
            if scene is not None:
                self._sent = scene
            return self._answer(max_time + SPARE_TIME)

    def _answer(self, timeout: float) -> Any:
        assert self._connection is not None
        try:
            if not self._connection.poll(timeout):
                self._end()
                raise DeskhandError("timeout", f"the planner {self.name} did not answer within {timeout:g} s; it was ended.", retry=True)
            good, value = self._connection.recv()
        except (EOFError, ConnectionError) as error:
            raise self._died() from error
        if good:
            return value
        code, message, retry, hint = value
        raise DeskhandError(code, message, retry=retry, hint=hint)

    def _died(self) -> DeskhandError:
        self._process.join(timeout=1.0)
        code = self._process.exitcode
        self._end()
        return DeskhandError("internal_error", f"the process of the planner {self.name} ended by itself (exit code {code}).", retry=True)


def _serve(connection: Connection, factory: str, arguments: tuple[Any, ...]) -> None:
    """The process: one answer a call, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which closes the connection
    module, _, function = factory.partition(":")
    try:
        backend: Backend = getattr(importlib.import_module(module), function)(*arguments)
        for number, action in ((signal.SIGINT, signal.SIG_IGN), (signal.SIGTERM, signal.SIG_DFL)):
            signal.signal(number, action)  # again: rclcpp has put its own, and would outlive a parent that ends without closing
        connection.send((True, None))
        scene: PlanningScene | None = None
        while True:
            method, fresh, needs_scene, positional, options = connection.recv()
            scene = fresh or scene
            try:
                answer = getattr(backend, method)(*((scene,) if needs_scene else ()), *positional, **options)
            except DeskhandError as error:
                connection.send((False, (error.code, error.message, error.retry, error.hint)))
            else:
                connection.send((True, answer))
    except (EOFError, BrokenPipeError):
        pass  # the parent has closed, or is gone
    except DeskhandError as error:
        connection.send((False, (error.code, error.message, error.retry, error.hint)))
    except Exception as error:
        log.exception("the backend ended")
        connection.send((False, ("internal_error", f"{type(error).__name__}: {error}", True, "")))
    # Past the destructors of the libraries: MoveIt's may crash (moveit2#3721).
    os._exit(0)
