"""What a task is: a seeded world, an instruction in words, and a judgement on ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deskhand.sim.spec import Truth, WorldSpec


@dataclass(frozen=True)
class ObjectScore:
    """How one object fared: ``wanted`` and ``found`` name a container, ``table``, ``floor`` or ``hand``; ``reason`` is empty when right."""

    name: str
    kind: str
    wanted: str
    found: str
    right: bool
    reason: str = ""


@dataclass(frozen=True)
class Score:
    """Outcome of a trial: ``score`` 0..1 is the share of objects placed right, ``success`` needs all of them and no ``problems``."""

    success: bool
    score: float
    objects: tuple[ObjectScore, ...] = ()
    problems: tuple[str, ...] = ()


class Task(Protocol):
    """Everything follows from the arm that it is laid out for and the seed; the same seed gives the same scene, words and goal."""

    name: str
    summary: str
    settle: float
    """[s] of simulated time between the robot's last word and the look of the scorer."""

    def world(self, seed: int) -> WorldSpec:
        """What stands on the desk at the start."""
        ...

    def instruction(self, seed: int) -> str:
        """What the robot is told; all that it is told."""
        ...

    def pictures(self, seed: int) -> dict[Path, WorldSpec]:
        """Pictures that the instruction names, and the world that each shows; they are rendered before the trial."""
        ...

    def score(self, seed: int, start: Truth, end: Truth) -> Score:
        """Judge the end of a trial of ``seed``; ``start`` is the truth before the robot moved."""
        ...
