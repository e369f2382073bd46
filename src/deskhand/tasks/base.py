"""What a task is: a seeded world, an instruction in words, and a judgement on ground truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
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


@dataclass(frozen=True)
class Word:
    """What the robot said: of its last instruction the outcome, of all of them the questions that it asked.

    ``held_then`` are the objects that were in the gripper when somebody told it a correction. ``weighings``: how many loads of a balance it has read; None
    where nobody counted.
    """

    success: bool = False
    code: str = ""
    summary: str = ""
    questions: tuple[str, ...] = ()
    held_then: tuple[str, ...] = ()
    weighings: int | None = None


@dataclass(frozen=True)
class Remark:
    """What a person says while the robot works: when it asks something with the words ``asked``, or when the tool ``after`` has succeeded."""

    say: str
    asked: str = ""
    after: str = ""


SILENT = Word()


@dataclass(frozen=True)
class Move:
    """What an expert does in a demonstration: the object ``item`` to ``pose`` (4, 4), world_T_object; ``text`` says it."""

    item: str
    pose: Array
    text: str


@dataclass(frozen=True)
class Demonstration:
    """What a demonstration shows: a world, and moves in it one after the other."""

    world: WorldSpec
    moves: tuple[Move, ...]


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

    def instructions(self, seed: int) -> tuple[str, ...]:
        """What the robot is told, one after the other where it is more than :meth:`instruction`."""
        ...

    def remarks(self, seed: int) -> tuple[Remark, ...]:
        """What is said to the robot while it works."""
        ...

    def group(self, seed: int) -> str:
        """A part of the task that is reported by itself; empty for none."""
        ...

    def pictures(self, seed: int) -> dict[Path, WorldSpec]:
        """Pictures that the instruction names, and the world that each shows; they are rendered before the trial."""
        ...

    def demonstration(self, seed: int) -> tuple[Path, Demonstration] | None:
        """A video that the instruction names, and what it shows; it is played and recorded before the trial."""
        ...

    def score(self, seed: int, start: Truth, end: Truth, word: Word = SILENT) -> Score:
        """Judge the end of a trial of ``seed``; ``start`` is the truth before the robot moved, ``word`` what it said."""
        ...


class Seeded(Protocol):
    """What a seed gives: at least a world and what is said."""

    @property
    def world(self) -> WorldSpec:
        """See Task."""
        ...

    @property
    def instruction(self) -> str:
        """See Task."""
        ...


S = TypeVar("S", bound=Seeded)


class SeededTask(ABC, Generic[S]):
    """A Task whose world and words follow from one setting a seed; what is left to say is how a setting is made, and the score."""

    settle = 0.0

    def __init__(self, arm: str = "wx250s") -> None:
        self._arm = arm

    def setting(self, seed: int) -> S:
        """All that follows from ``seed`` (0 or more).

        Raises:
            DeskhandError: ``invalid_input`` for a negative seed.
        """
        if seed < 0:
            raise DeskhandError("invalid_input", f"the seed must be 0 or more, got {seed}.")
        return self._make(seed)

    @abstractmethod
    def _make(self, seed: int) -> S:
        """All that follows from ``seed``."""

    def world(self, seed: int) -> WorldSpec:
        """See Task."""
        return self.setting(seed).world

    def instruction(self, seed: int) -> str:
        """See Task."""
        return self.setting(seed).instruction

    def instructions(self, seed: int) -> tuple[str, ...]:
        """See Task: the one instruction."""
        return (self.instruction(seed),)

    def remarks(self, seed: int) -> tuple[Remark, ...]:
        """See Task: none."""
        return ()

    def group(self, seed: int) -> str:
        """See Task: none."""
        return ""

    def pictures(self, seed: int) -> dict[Path, WorldSpec]:
        """See Task: none."""
        return {}

    def demonstration(self, seed: int) -> tuple[Path, Demonstration] | None:
        """See Task: none."""
        return None
