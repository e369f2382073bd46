"""Running cases on this machine: in this process, or in several that live for many cases."""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Campaign, Case, Ended
from deskhand.trials.campaigns.reporting import Tell, heard_by
from deskhand.types.heap import trim_heap

RETRIES = 3
"""So often a case is begun again after its worker was lost."""
LOST = "worker_lost"
END_TIME = 8.0
"""[s] that a worker has to stop what it started when the campaign is ended."""


def attempt(run_one: Callable[[Case], Any], case: Case) -> tuple[dict[str, Any] | None, tuple[str, str] | None, float]:
    """Run a case: its result or the error, and the wall clock [s]; Ctrl-C and the like go on."""
    began = time.monotonic()
    try:
        result = json.loads(json.dumps(run_one(case)))  # as it will be read, wherever it was run
        return result, None, time.monotonic() - began
    except DeskhandError as error:
        return None, (error.code, str(error)), time.monotonic() - began
    except Exception as error:  # the campaign goes on without it, and says so
        return None, ("internal_error", f"{type(error).__name__}: {error}"), time.monotonic() - began
    finally:
        give_memory_back()


def give_memory_back() -> None:
    """Free what is no longer used to the operating system, where the C library can: glibc keeps what the threads of a case freed, 50 MB a trial."""
    gc.collect()
    trim_heap()


def is_lost(ended: Ended) -> bool:
    """Whether the worker was lost before the case ended."""
    return ended.error is not None and ended.error[0] == LOST


def worker_name() -> str:
    """``host:process`` of this process."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Inline:
    """One after the other in this process."""

    def run(self, campaign: Campaign, cases: Sequence[Case], tell: Tell) -> Iterator[Ended]:
        """Each case as it ends."""
        for case in cases:
            with heard_by(tell):
                result, error, seconds = attempt(campaign.run_one, case)
            yield Ended(case, result, error, seconds, worker_name())


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    case: Case | None = None
    attempts: int = 0
    began: float = 0.0


class LocalPool:
    """``workers`` processes; one that dies is replaced, and its case is begun again.

    Processes are spawned, not forked: what is open here (a renderer, a thread of a library) does not survive a fork.
    """

    def __init__(self, workers: int, retries: int = RETRIES) -> None:
        self.workers, self._retries = workers, retries
        self._context = multiprocessing.get_context("spawn")

    def run(self, campaign: Campaign, cases: Sequence[Case], tell: Tell) -> Iterator[Ended]:
        """Each case as it ends, in whatever order."""
        waiting = deque((case, 0) for case in cases)
        crew = [self._hire(campaign) for _ in range(min(self.workers, len(cases)))]
        try:
            for worker in crew:
                _give(worker, waiting)
            while any(worker.case is not None for worker in crew):
                for worker in self._ready(crew):
                    ended = self._hear(worker, tell)
                    if ended is None:
                        continue
                    if is_lost(ended) and ended.attempts <= self._retries:
                        waiting.appendleft((ended.case, ended.attempts))
                    else:
                        yield ended
                    if not worker.process.is_alive():
                        crew[crew.index(worker)] = worker = self._hire(campaign)
                    _give(worker, waiting)
        finally:
            _dismiss(crew)

    def _hire(self, campaign: Campaign) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, campaign.run_one), daemon=False)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _ready(self, crew: Sequence[_Worker]) -> list[_Worker]:
        """Workers that have something to say or are gone."""
        ready = set(wait([each for worker in crew if worker.case is not None for each in (worker.pipe, worker.process.sentinel)]))
        return [worker for worker in crew if worker.case is not None and (worker.pipe in ready or worker.process.sentinel in ready)]

    def _hear(self, worker: _Worker, tell: Tell) -> Ended | None:
        """What a worker says; None while its case runs."""
        case = worker.case
        assert case is not None
        try:
            while worker.pipe.poll():
                kind, *said = worker.pipe.recv()
                if kind == "step":
                    tell(said[0])
                    continue
                worker.case = None
                result, error, seconds, name = said
                return Ended(case, result, error, seconds, name, worker.attempts)
        except (EOFError, OSError):
            worker.process.join(END_TIME)
        if worker.process.is_alive():
            return None
        worker.process.join()
        why = f"the process that ran it ended with {_exit_word(worker.process.exitcode)}, {worker.attempts} times"
        worker.case = None
        return Ended(case, None, (LOST, why), time.monotonic() - worker.began, attempts=worker.attempts)


def _exit_word(code: int | None) -> str:
    """``signal SIGKILL``, ``exit code 1``."""
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _give(worker: _Worker, waiting: deque[tuple[Case, int]]) -> None:
    if waiting:
        worker.case, before = waiting.popleft()
        worker.attempts, worker.began = before + 1, time.monotonic()
        with contextlib.suppress(OSError):  # it is gone: it is noticed by its end
            worker.pipe.send(worker.case)


def _dismiss(crew: Sequence[_Worker]) -> None:
    """Let workers without a case go home; stop those that run one, first by a signal that lets them clean up."""
    for worker in crew:
        if worker.case is None:
            worker.pipe.close()
        else:
            worker.process.terminate()
    until = time.monotonic() + END_TIME
    for worker in crew:
        worker.process.join(max(0.0, until - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.pipe.close()


def _work(pipe: Connection, run_one: Callable[[Case], Any]) -> None:
    """A worker's life: take a case, run it, say what came of it, until the pipe closes."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the process that leads says when to end
    signal.signal(signal.SIGTERM, end)
    lock = threading.Lock()

    def tell(text: str) -> None:
        with lock, contextlib.suppress(OSError):
            pipe.send(("step", text))

    with contextlib.suppress(EOFError, KeyboardInterrupt, OSError):
        while True:
            case = pipe.recv()
            with heard_by(tell):
                result, error, seconds = attempt(run_one, case)
            with lock:
                pipe.send(("ended", result, error, seconds, worker_name()))
