"""The cases: a desk from a scene file, words, the goal on ground truth, and one way to reach it (config/instructions)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.sim.spec import WorldSpec
from deskhand.sim.worldfile import load_world
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml
from deskhand.world.relations import SIDEWAYS, TABLE

FOLDER = "config/instructions"
SPLITS = ("dev", "heldout")
FIELDS = frozenset(("kind", "say", "want", "do", "answer", "lie"))


@dataclass(frozen=True)
class Move:
    """One object to one place, by the names of the scene file.

    Attributes:
        relation, target: as in a sub-goal; ``position`` (x, y) [m] and ``yaw`` [rad] where they are said.
        on: what it is put on, where that is more than the target.
    """

    name: str
    relation: str
    target: str
    position: tuple[float, float] | None = None
    yaw: float | None = None
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One instruction on one desk.

    Attributes:
        want: the goal on ground truth (predicates.py). ``moves``: one way to reach it.
        answer, lie: of a question: what is true, and what is not.
    """

    id: str
    split: str
    scene: str
    kind: str
    say: str
    want: Mapping[str, Any]
    moves: tuple[Move, ...] = ()
    answer: str = ""
    lie: str = ""

    @property
    def file(self) -> Path:
        """Of its scene."""
        return resource_path(f"{FOLDER}/scenes/{self.scene}.yaml")

    def world(self) -> WorldSpec:
        """Its desk."""
        return _world(self.file)


@cache
def _world(file: Path) -> WorldSpec:
    return load_world(file)


def load_cases(split: str = "") -> list[Case]:
    """The cases of a half, of both where it is empty.

    Raises:
        DeskhandError: ``config_error`` naming file and case.
    """
    cases: list[Case] = []
    for name in [split] if split else SPLITS:
        path = resource_path(f"{FOLDER}/{name}.yaml")
        for scene, entries in read_yaml(path).items():
            for number, entry in enumerate(entries, 1):
                cases.append(_case(f"{scene}_{number}", name, scene, entry, path))
    return cases


def _case(case_id: str, split: str, scene: str, data: Mapping[str, Any], path: Path) -> Case:
    if unknown := set(data) - FIELDS:
        raise DeskhandError("config_error", f"{path}: case {case_id}: unknown field {', '.join(sorted(unknown))}; valid: {', '.join(sorted(FIELDS))}.")
    try:
        moves = tuple(map(read_move, data.get("do", ())))
        return Case(case_id, split, scene, data["kind"], data["say"], data["want"], moves, data.get("answer", ""), data.get("lie", ""))
    except (KeyError, ValueError) as error:
        raise DeskhandError("config_error", f"{path}: case {case_id}: {error}.") from error


def read_move(text: str) -> Move:
    """``X in C``, ``X on Y``, ``X left_of Y`` (and the other directions), or ``X at x y [on A B …] [yaw r]``.

    Raises:
        ValueError: it is none of these.
    """
    name, relation, *rest = text.split()
    if relation in ("in", "on", *SIDEWAYS) and len(rest) == 1:
        return Move(name, relation, rest[0])
    if relation != "at" or len(rest) < 2:
        raise ValueError(f"{text!r} is no move")
    x, y, *more = rest
    yaw = float(more[more.index("yaw") + 1]) if "yaw" in more else None
    on = tuple(more[more.index("on") + 1 : more.index("yaw") if "yaw" in more else None]) if "on" in more else ()
    if not all(math.isfinite(float(value)) for value in (x, y)):
        raise ValueError(f"{text!r} is no place")
    return Move(name, "on", on[0] if on else TABLE, (float(x), float(y)), yaw, on)


def goals_of(moves: Sequence[Move]) -> list[Move]:
    """What holds when all are made: the last move of each object, in their order."""
    return list({move.name: move for move in moves}.values())
