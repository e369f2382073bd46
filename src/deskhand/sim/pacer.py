"""Runs a simulation in a thread, a set number of times faster than the wall clock while something moves."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from deskhand.errors import DeskhandError

logger = logging.getLogger(__name__)
CHUNK = 0.01  # [s]
MAX_DEBT = 0.02  # [s] of wall time that is caught up with after a delay; what is more is dropped: time never bursts ahead of who must react
STOOD_STILL = 1.0  # [s] of wall time in a step: the process was stopped meanwhile, and what came for it waits
CATCHING_UP = 0.3  # [s] of wall time that time stands still then: a stop that waits is heard before anything moves on
NICENESS = 5  # of the physics thread: on a busy machine it is simulated time that gives way


class Steps(Protocol):
    """What is stepped: deskhand.sim.simulation.Simulation, or a robot in a simulator of others (sim/foreign/serving.py)."""

    def step(self, seconds: float) -> Any:
        """Let that much time pass [s]."""

    def moving(self) -> bool:
        """Whether something was told to move."""


class Pacer:
    """The physics thread.

    Args:
        simulation: what to step.
        factor: simulated seconds a wall second while something moves; 1 when all is at rest.
        after_step: called in the physics thread after every chunk.
        failed: called once when the physics broke down.
        chunk: [s] simulated at a time.
        gate: called before every chunk; time stands still until it returns.
    """

    def __init__(
        self,
        simulation: Steps,
        factor: float,
        after_step: Callable[[], None],
        failed: Callable[[DeskhandError], None],
        chunk: float = CHUNK,
        gate: Callable[[], None] = lambda: None,
    ) -> None:
        if not factor > 0:
            raise DeskhandError("config_error", f"realtime_factor must be positive, not {factor}.")
        self._simulation, self._factor, self._after_step, self._failed = simulation, factor, after_step, failed
        self._chunk, self._gate = chunk, gate
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Let time run."""
        self._thread = threading.Thread(target=self._run, name="physics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let time stand still."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)  # of this thread alone, on Linux
        due = time.monotonic()
        try:
            while not self._stop.is_set():
                self._gate()
                began = time.monotonic()
                self._simulation.step(self._chunk)
                self._after_step()
                due += self._chunk / (self._factor if self._simulation.moving() else 1.0)
                wait = due - time.monotonic()
                if wait > 0:
                    self._stop.wait(wait)
                else:
                    due = max(due, time.monotonic() - MAX_DEBT)
                if time.monotonic() - began > STOOD_STILL:
                    self._stop.wait(CATCHING_UP)
                    due = time.monotonic()
        except DeskhandError as error:
            logger.error("the simulation ended: %s", error)
            self._failed(error)
