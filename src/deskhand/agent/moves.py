"""What was moved from where to where, read off the calls of a task; and what an earlier task leaves to the next one, for "undo that" and "it"."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

TABLE = "table"
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
        return cls(str(item.get("relation", "on")), str(item.get("support") or TABLE), x, y, float(item.get("yaw") or 0.0) if exact else None)


@dataclass(frozen=True)
class Move:
    """One thing from one place to another; ``name`` is the id that it has now."""

    name: str
    origin: Spot
    goal: Spot | None
    """None while the hand has it."""


def moves_of(calls: Iterable[tuple[str, Mapping[str, Any], Any]]) -> list[Move]:
    """The moves that successful calls (tool, arguments, data) made, oldest first; what is still in the hand comes last."""
    seen: dict[str, Spot] = {}
    done: list[Move] = []
    held: Move | None = None
    for tool, arguments, data in calls:
        data = data if isinstance(data, Mapping) else {}
        if tool == "pick":
            name = str(arguments.get("object_id", ""))
            held = Move(name, seen[name], None) if name in seen else None
        elif held is not None and tool.startswith(("place_", "put_aside")):
            name, x, y = str(data.get("seen_as") or held.name), *_position(data, held.origin)
            target = str(arguments.get("container_id") or arguments.get("target_id") or next(iter(arguments.get("on") or ()), TABLE))
            spot = Spot("in" if tool == "place_in" else "on", TABLE if tool in ("place_beside", "put_aside") else target, x, y)
            done.append(Move(name, held.origin, spot))
            seen[name], held = spot, None
        elif tool == "open_gripper" and held is not None:
            done.append(Move(held.name, held.origin, Spot("on", TABLE, held.origin.x, held.origin.y)))
            held = None
        for item in data.get("objects", ()) if tool in ("detect_objects", "look") else ():
            if item.get("relation") != "held":
                seen[str(item["id"])] = Spot.of(item)
    return [*done, *([held] if held is not None else [])]


def _position(data: Mapping[str, Any], otherwise: Spot) -> tuple[float, float]:
    place = data.get("position") or (otherwise.x, otherwise.y)
    return float(place[0]), float(place[1])


def first_origins(moves: Sequence[Move]) -> dict[str, Spot]:
    """Where each thing stood before it was moved for the first time, the thing that was moved last first."""
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
