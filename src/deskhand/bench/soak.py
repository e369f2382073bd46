"""A robot that works for long: one instruction after the other at the same nodes, how much memory each process has then, and how long each kind takes."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Done:
    """One instruction: ``seconds`` on the wall, memory [MB] of each process after it (RssAnon: without files that are mapped)."""

    number: int
    instruction: str
    success: bool
    code: str
    seconds: float
    memory: Mapping[str, float]


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
    run_task(stack, instruction, options, lambda _: None, attempt)
    seconds = time.monotonic() - began
    if died := stack.supervisor.died():
        raise DeskhandError("node_unavailable", f"{', '.join(death.name for death in died)} ended at instruction {number + 1}: {attempt.message}")
    return Done(number, instruction, attempt.success, attempt.code, seconds, {name: _memory(pid) for name, pid in stack.supervisor.pids().items()})


def _memory(pid: int) -> float:
    """RssAnon [MB] of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon:"))


def summarise(done: Sequence[Done]) -> dict[str, Any]:
    """Growth of each process [MB], and how long the last instructions took as a share of the first, kind by kind; None where there were too few."""
    enough = len(done) >= 3 * WARM
    memory = {
        name: {
            "first_mb": round(median(each.memory[name] for each in done[WARM : 2 * WARM]), 1),
            "last_mb": round(median(each.memory[name] for each in done[-WARM:]), 1),
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
