"""A robot that works for long: one instruction after the other at the same nodes, how much memory each process has then, and how long each kind takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.trials.base import Attempt, TrialOptions
from deskhand.trials.ros import Stack, run_task, running_stack

SCENE = """\
objects:
  - {kind: block, name: one, color: red, size: 0.032, pose: {x: 0.02, y: 0.10}}
  - {kind: block, name: other, color: blue, size: 0.032, pose: {x: 0.04, y: -0.08}}
  - {kind: tray, name: tray, color: gray, pose: {x: 0.05, y: 0.24}}
"""
ROUND = ("Put the red block on the blue block.", "What is on the desk?", "Put the red block in the tray.", "Where is the red block?")
"""After the last the first can be done again."""
WARM = 10
"""Instructions until everything has been used once; growth is counted from the memory then, by the median of so many, to that of the last so many."""
SAMPLED = 0.25  # [s] between two readings of all processes


@dataclass(frozen=True)
class Done:
    """One instruction: ``seconds`` on the wall, memory [MB] of each process (RssAnon: without files that are mapped), the least and the ``most`` while it ran.

    Every node gives back what it has freed only now and then (nodes/node.py): what stays is the least.
    """

    number: int
    instruction: str
    success: bool
    code: str
    seconds: float
    memory: Mapping[str, float]
    most: Mapping[str, float]


class _Readings:
    """The least and the most memory [MB] of each process while the block runs."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids, self._ended = pids, threading.Event()
        self.least, self.most = dict.fromkeys(pids, float("inf")), dict.fromkeys(pids, 0.0)
        self._thread = threading.Thread(target=self._read, name="memory", daemon=True)

    def __enter__(self) -> _Readings:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _read(self) -> None:
        while True:
            last = self._ended.is_set()
            for name, pid in self._pids.items():
                try:
                    now = _memory(pid)
                except (OSError, StopIteration):  # it has ended, which the supervisor tells
                    continue
                self.least[name], self.most[name] = min(self.least[name], now), max(self.most[name], now)
            if last:
                return
            self._ended.wait(SAMPLED)


def soak(options: TrialOptions, count: int, folder: Path, started: Callable[[float], None] = lambda _: None) -> Iterator[Done]:
    """Give ``count`` instructions, one after the other, to nodes that are brought up once. ``started`` is told how long that took [s].

    Raises:
        DeskhandError: what bring-up raises; ``node_unavailable`` when a node ends on the way.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scene = folder / "desk.yaml"
    scene.write_text(SCENE)
    began = time.monotonic()
    with running_stack(replace(options, scene=scene, instruction=ROUND[0]), folder) as stack:
        started(time.monotonic() - began)
        for number in range(count):
            yield _one(stack, number, options)


def _one(stack: Stack, number: int, options: TrialOptions) -> Done:
    instruction, attempt, began = ROUND[number % len(ROUND)], Attempt(), time.monotonic()
    with _Readings(stack.supervisor.pids()) as memory:
        run_task(stack, instruction, options, lambda _: None, attempt)
        seconds = time.monotonic() - began
    if died := stack.supervisor.died():
        raise DeskhandError("node_unavailable", f"{', '.join(death.name for death in died)} ended at instruction {number + 1}: {attempt.message}")
    return Done(number, instruction, attempt.success, attempt.code, seconds, memory.least, memory.most)


def _memory(pid: int) -> float:
    """RssAnon [MB] of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon:"))


def summarise(done: Sequence[Done]) -> dict[str, Any]:
    """Growth of each process, the most that it ever had [MB], and how long the last instructions took as a share of the first, kind by kind; None where there
    were too few.
    """
    enough = len(done) >= 3 * WARM
    memory = {
        name: {
            "first_mb": round(median(each.memory[name] for each in done[WARM : 2 * WARM]), 1),
            "last_mb": round(median(each.memory[name] for each in done[-WARM:]), 1),
            "most_mb": round(max(each.most[name] for each in done), 1),
        }
        for name in (done[0].memory if enough else ())
    }
    for numbers in memory.values():
        numbers["growth_mb"] = round(numbers["last_mb"] - numbers["first_mb"], 1)
    kinds = [[each.seconds for each in done if each.instruction == instruction] for instruction in ROUND]
    slower = None
    if enough:
        first, last = (sum(median(seconds[part]) for seconds in kinds) for part in (slice(0, WARM), slice(-WARM, None)))
        slower = round(last / first, 3)
    return {
        "instructions": len(done),
        "done": sum(each.success for each in done),
        "codes": sorted({each.code for each in done if each.code}),
        "memory": memory,
        "seconds": {instruction: round(median(seconds), 2) for instruction, seconds in zip(ROUND, kinds, strict=True) if seconds},
        "last_to_first": slower,
    }
