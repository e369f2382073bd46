"""What was moved from where to where, read off the calls of a task; and what an earlier task leaves to the next one, for "undo that" and "it"."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deskhand.world.acts import PUTS, support_after
from deskhand.world.model import WorldModel
from deskhand.world.relations import TABLE

BEFORE = "Tasks before this one, oldest first, as JSON (said, outcome, moves): "
"""How the account of earlier tasks begins, in the system message."""
KEPT = 3  # tasks
UPRIGHT = ("box", "cylinder")


@dataclass(frozen=True)
class Spot:
    """A place: ``relation`` (on, in) to ``support`` (an id, or table), the centre there [m, world], and the turn [rad] about the vertical, None for any."""

    relation: str
    support: str
    x: float
    y: float
    yaw: float | None = None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Spot:
        """Where an object, as the tools describe it, was seen."""
        x, y = (float(value) for value in item["position"][:2])
        exact = str(item.get("shape")) in UPRIGHT and max(item["size"][:2]) < 2.2 * max(item["size"][2], min(item["size"][:2]))
        yaw = float(item["yaw"]) if exact and item.get("yaw") is not None else None
        return cls(str(item.get("relation", "on")), str(item.get("support") or TABLE), x, y, yaw)


@dataclass(frozen=True)
class Move:
    """One object from one place to another; ``name`` is the id that it has now."""

    name: str
    origin: Spot
    goal: Spot | None
    """None while the hand has it."""


def moves_of(calls: Iterable[tuple[str, Mapping[str, Any], Any]]) -> list[Move]:
    """The moves that successful calls (tool, arguments, data) made, oldest first; what is still in the hand comes last."""
    world = WorldModel()
    done: list[Move] = []
    held: Move | None = None
    for tool, arguments, data in calls:
        before = world.objects.get(str(arguments.get("object_id", ""))) if tool == "pick" else None
        origin = Spot.of(before) if before is not None else None
        world.apply(tool, arguments, True, data)
        if tool == "pick":
            held = Move(world.held, origin, None) if origin is not None else None
        elif held is not None and not world.held:
            name = world.called_now(held.name)
            item = world.objects.get(name)
            x, y = (float(value) for value in item["position"][:2]) if item is not None and tool in PUTS else (held.origin.x, held.origin.y)
            done.append(Move(name, held.origin, Spot(*(support_after(tool, arguments) if tool in PUTS else ("on", TABLE)), x, y)))
            held = None
    return [*done, *([held] if held is not None else [])]


def first_origins(moves: Sequence[Move]) -> dict[str, Spot]:
    """Where each object stood before it was moved for the first time, the object that was moved last first."""
    origins: dict[str, Spot] = {}
    for move in moves:
        origins.setdefault(move.name, move.origin)
    order = {move.name: number for number, move in enumerate(moves)}
    return dict(sorted(origins.items(), key=lambda item: -order[item[0]]))


@dataclass(frozen=True)
class Earlier:
    """A task that has ended."""

    said: str
    outcome: str
    moves: tuple[Move, ...]


class History:
    """The last tasks of a session. The loop tells every model of them, so that "undo that" and "the other one" mean something."""

    def __init__(self) -> None:
        self._tasks: list[Earlier] = []

    def add(self, said: str, outcome: str, calls: Iterable[tuple[str, Mapping[str, Any], Any]]) -> None:
        """A task has ended; ``calls`` are its successful ones."""
        self._tasks = [*self._tasks, Earlier(said, outcome, tuple(moves_of(calls)))][-KEPT:]

    def said(self) -> list[str]:
        """The instructions that :meth:`text` tells again."""
        return [task.said for task in self._tasks]

    def text(self) -> str:
        """For the system message; empty when there were none."""
        return f"\n\n{BEFORE}{json.dumps([asdict(task) for task in self._tasks], separators=(',', ':'))}" if self._tasks else ""


def read_history(system: str) -> list[Earlier]:
    """The earlier tasks that a system message tells of."""
    _, found, text = system.partition(BEFORE)
    if not found:
        return []
    tasks, _ = json.JSONDecoder().raw_decode(text)
    return [
        Earlier(
            str(task["said"]),
            str(task["outcome"]),
            tuple(Move(move["name"], Spot(**move["origin"]), Spot(**move["goal"]) if move["goal"] else None) for move in task["moves"]),
        )
        for task in tasks
    ]
