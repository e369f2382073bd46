"""What ground truth says about the objects of an episode, held against what looks told of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.color import name_color
from deskhand.sim.spec import CONTAINER_KINDS

SAME = 0.035
"""[m] between where a look told an object and where one is: beyond it the look is false."""
LOOKS = ("detect_objects", "look", "locate_object", "segment_instances")

Steps = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class TrueObject:
    """An object, or a fixture, of the world.

    Attributes:
        name: only the scorer knows it.
        kind: block, can, drawer, ...
        color: the name of its colour, empty where that is not on record.
        size: (3,) [m].
        start, end: where it was and is (3,) [m, world]; ``start`` is None where that is not on record.
        where: a container, ``table``, ``hand`` or ``floor``, in the end.
        reason: why the scorer says it to be amiss, empty when it is right.
        fixed: it stands fast, or holds others.
    """

    name: str
    kind: str
    color: str
    size: Array
    start: Array | None
    end: Array
    where: str
    reason: str
    fixed: bool = False

    @property
    def reach(self) -> float:
        """So far from its middle a look may tell it [m]."""
        return max(SAME, 0.5 * float(self.size.max(initial=0.0)))


def true_objects(result: Mapping[str, Any]) -> list[TrueObject]:
    """The objects of ``result.json``; what stands fast is where it was at the start."""
    first = {str(row["name"]): row for row in result.get("first_objects") or ()}
    last = {str(row["name"]): row for row in result.get("final_objects") or ()}
    scored = {str(row["name"]): row for row in result.get("objects") or ()}
    said = set(re.findall(r"\w+", str(result.get("error_message") or ""))) if not scored else set()
    found = []
    for name in dict.fromkeys((*first, *last)):
        row = last.get(name) or first[name]
        score = scored.get(name)
        amiss = not score["right"] if score is not None else name in said
        begun = first.get(name)
        found.append(
            TrueObject(
                name,
                str(row.get("kind") or ""),
                name_color(255 * np.asarray(begun["rgb"], float)) if begun is not None and "rgb" in begun else "",
                np.asarray(row.get("size") or (0.0, 0.0, 0.0), float),
                np.asarray(begun["pose"]["position"], float) if begun is not None else None,
                np.asarray(row["pose"]["position"], float),
                str(row.get("where") or ""),
                str(score.get("reason") or "it is amiss") if amiss and score is not None else "it is amiss" if amiss else "",
                name not in last or row.get("kind") in CONTAINER_KINDS,
            )
        )
    return found


def told_by(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The objects that a look told, with their places; nothing of what is no look or failed."""
    data = step.get("data")
    if not step["ok"] or step["tool"] not in LOOKS or not isinstance(data, Mapping):
        return []
    return [item for item in data.get("objects") or () if isinstance(item, Mapping) and item.get("position")]


def at(items: Sequence[Mapping[str, Any]], place: Array, reach: float) -> Mapping[str, Any] | None:
    """Of what was told the nearest to a place (3,), within ``reach`` [m]."""
    if not items:
        return None
    away = np.linalg.norm(np.array([item["position"] for item in items], float) - place, axis=1)
    return items[int(away.argmin())] if away.min() <= reach else None


def known_as(steps: Steps, item: TrueObject) -> list[tuple[int, Mapping[str, Any]]]:
    """How looks told an object where it was at the start: number of the step and what was told, oldest first."""
    if item.start is None:
        return []
    return [(number, told) for number, step in enumerate(steps) if (told := at(told_by(step), item.start, item.reach)) is not None]


def named(step: Mapping[str, Any]) -> set[str]:
    """Every text among the arguments of a call, and the object that its result tells."""
    data = step.get("data")
    found: set[str] = set()
    left: list[Any] = [step["arguments"], data.get("object_id") if isinstance(data, Mapping) else None]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            left += list(value.values())
        elif isinstance(value, list | tuple):
            left += list(value)
        elif isinstance(value, str):
            found.add(value)
    return found


def handled(steps: Steps, acts: frozenset[str], item: TrueObject) -> list[Mapping[str, Any]]:
    """The acts on an object, by the names under which looks told it, and those that were made while it was held; oldest first."""
    ids = {str(told.get("id")) for _, told in known_as(steps, item)}
    found, held = [], False
    for step in steps:
        if step["tool"] not in acts:
            continue
        if by_name := bool(ids & named(step)):
            held = step["ok"]
        elif step["tool"] == "pick":
            held = False
        if by_name or held:
            found.append(step)
    return found
