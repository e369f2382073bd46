"""What must be true at the end of a free instruction, as data, and whether it is: on ground truth and on what the robot said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deskhand.geometry import Array
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, Truth, TruthObject, WorldSpec
from deskhand.tasks.base import Word
from deskhand.tasks.placement import outline, where_is

STILL = 0.03
"""[m] that an object may be shifted and still be where it was: a finger may have touched it."""
EXACT = 0.03
"""[m] that objects which change places may be off, or an object in a row off its line."""
GAP = 0.10
"""[m] between the outlines of two objects of which one stands beside the other; ``near`` is at most half of it."""
Problem = str
WAYS = {"left_of": (0.0, 1.0), "right_of": (0.0, -1.0), "behind": (1.0, 0.0), "in_front_of": (-1.0, 0.0)}


@dataclass(frozen=True)
class JudgedDesk:
    """A world before and after, and its objects by name."""

    world: WorldSpec
    start: Truth
    end: Truth
    word: Word
    colors: Mapping[str, str]
    specs: dict[str, ObjectSpec] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "specs", {item.name: item for item in self.world.objects})

    def objects(self) -> list[str]:
        """Names of all that is no container."""
        return [name for name, item in self.specs.items() if item.kind not in CONTAINER_KINDS]

    def where(self, name: str, truth: Truth | None = None) -> str:
        """A container, ``hand``, ``floor``, the object that it stands on, or ``table``."""
        truth = truth or self.end
        walls = {item.name: item.wall for item in self.world.objects if item.kind in CONTAINER_KINDS}
        found = where_is(truth.get(name), {other: (truth.get(other), wall) for other, wall in walls.items() if other != name}, truth.in_hand)
        if found != "table":
            return found
        return next((other for other in self.objects() if other != name and _stands_on(truth.get(name), truth.get(other))), found)

    def shift(self, name: str, to: str = "") -> float:
        """[m] along the desk between where ``name`` is and where ``to`` (by default itself) was at the start."""
        return float(np.linalg.norm(self.end.get(name).pose[:2, 3] - self.start.get(to or name).pose[:2, 3]))

    def moved(self, name: str) -> Problem:
        """Why it is not where it was; empty when it is."""
        before, after = self.where(name, self.start), self.where(name)
        if before != after:
            return f"{name} was {_said(before)} and is {_said(after)}"
        inside = before in self.specs and self.specs[before].kind in CONTAINER_KINDS
        return f"{name} was moved by {100 * self.shift(name):.0f} cm" if self.shift(name) > STILL and not inside else ""


def _stands_on(item: TruthObject, other: TruthObject) -> bool:
    upper, lower = outline(item), outline(other)
    over = np.all(np.abs(item.pose[:2, 3] - other.pose[:2, 3]) <= np.ptp(lower[:, :2], axis=0) / 2)
    return bool(over and abs(upper[:, 2].min() - lower[:, 2].max()) < 0.012)


def _said(where: str) -> str:
    return {"table": "on the table", "floor": "on the floor", "hand": "in the gripper"}.get(where, f"in or on {where}")


# ---------------------------------------------------------------- one function a key of ``want``


def _where(desk: JudgedDesk, wanted: Mapping[str, str]) -> list[Problem]:
    found = {name: desk.where(name) for name in wanted}
    return [f"{name} is {_said(found[name])}, not {_said(where)}" for name, where in wanted.items() if found[name] != where]


def _beside(desk: JudgedDesk, wanted: Sequence[Sequence[str]]) -> list[Problem]:
    return [f"{' '.join(row)} does not hold" for row in wanted if not _holds(desk, row[1], row[0], *row[2:])]


def _holds(desk: JudgedDesk, relation: str, name: str, other: str, third: str = "") -> bool:
    place, reference = desk.end.get(name).pose[:2, 3], desk.end.get(other).pose[:2, 3]
    if desk.where(name) != "table":
        return False
    if relation == "between":
        last = desk.end.get(third).pose[:2, 3]
        share = float((place - reference) @ (last - reference) / np.sum((last - reference) ** 2))
        aside = float(np.linalg.norm(reference + share * (last - reference) - place))
        return 0.15 < share < 0.85 and aside < 0.05
    gap = _gap(outline(desk.end.get(name)), outline(desk.end.get(other)))
    if relation == "near":
        return gap < GAP / 2
    along = float((place - reference) @ np.array(WAYS[relation]))
    across = float(abs((place - reference) @ np.array(WAYS[relation])[::-1]))
    return along >= 0.01 and across <= along and gap < GAP


def _gap(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a[:, None, :2] - b[None, :, :2], axis=-1).min())


def _sorted(desk: JudgedDesk, wanted: Mapping[str, Any]) -> list[Problem]:
    """Objects alike are in one container each, or on the desk nearer to each other than to the others."""
    names = list(wanted["things"])
    groups = [desk.colors[name] if wanted["by"] == "color" else desk.specs[name].kind for name in names]
    where = [desk.where(name) for name in names]
    if all(place in desk.specs and desk.specs[place].kind in CONTAINER_KINDS for place in where):
        places = {group: {place for place, own in zip(where, groups, strict=True) if own == group} for group in groups}
        apart = len(set.union(*places.values())) == len(places) and all(len(one) == 1 for one in places.values())
        return [] if apart else [f"not sorted by {wanted['by']}: {dict(zip(names, where, strict=True))}"]
    if any(place != "table" for place in where):
        return [f"not sorted by {wanted['by']}: some are in containers, some not"]
    at = np.array([desk.end.get(name).pose[:2, 3] for name in names])
    away = np.linalg.norm(at[:, None] - at[None], axis=-1) + np.diag(np.full(len(names), np.inf))
    wrong = [names[i] for i in range(len(names)) if groups.count(groups[i]) > 1 and groups[int(np.argmin(away[i]))] != groups[i]]
    return [f"{name} lies next to something else" for name in wrong]


def _row(desk: JudgedDesk, wanted: Mapping[str, Any]) -> list[Problem]:
    names = list(wanted["things"])
    at = np.array([desk.end.get(name).pose[:2, 3] for name in names])
    centre = at.mean(axis=0)
    way = np.linalg.svd(at - centre)[2][0]
    off = float(np.abs((at - centre) @ np.array([-way[1], way[0]])).max())
    problems = [f"{name} is {_said(desk.where(name))}" for name in names if desk.where(name) != "table"]
    if off > EXACT / 2:
        problems.append(f"the objects are up to {100 * off:.1f} cm off a line")
    steps = np.diff((at - centre) @ way)
    order = wanted.get("order", "any")
    if order != "any" and not (np.all(steps > 0) or np.all(steps < 0)):
        problems.append(f"the order is not {', '.join(names)}")
    if order == "left_to_right" and not np.all(np.diff(at[:, 1]) < 0):
        problems.append(f"from left to right it is not {', '.join(names)}")
    return problems


def _count(desk: JudgedDesk, wanted: Sequence[Mapping[str, Any]]) -> list[Problem]:
    problems = []
    for row in wanted:
        fits = [
            name
            for name in desk.objects()
            if row.get("kind", desk.specs[name].kind) == desk.specs[name].kind
            and row.get("color", desk.colors[name]) == desk.colors[name]
            and desk.where(name) == row["in"]
        ]
        if len(fits) != row["number"]:
            problems.append(f"{len(fits)} instead of {row['number']} ({row.get('color', '')} {row.get('kind', 'object')}) {_said(row['in'])}")
    return problems


def _clear(desk: JudgedDesk, wanted: Mapping[str, Sequence[float]]) -> list[Problem]:
    inside = []
    for name in desk.objects():
        x, y = desk.end.get(name).pose[:2, 3]
        if wanted["x"][0] < x < wanted["x"][1] and wanted["y"][0] < y < wanted["y"][1]:
            inside.append(f"{name} is in the way at ({x:.2f}, {y:.2f})")
    return inside


def _swapped(desk: JudgedDesk, wanted: Sequence[str]) -> list[Problem]:
    first, second = wanted
    pairs = ((first, second), (second, first))
    return [f"{one} is {100 * desk.shift(one, to):.0f} cm off the old place of {to}" for one, to in pairs if desk.shift(one, to) > EXACT]


def _back(desk: JudgedDesk, wanted: Sequence[str]) -> list[Problem]:
    return [problem for name in wanted if (problem := desk.moved(name))]


def _held_then(desk: JudgedDesk, wanted: str) -> list[Problem]:
    names = [name for name in desk.word.held_then if desk.where(name) != wanted]
    if not desk.word.held_then:
        return ["nothing was in the gripper when the correction was said"]
    return [f"{name}, which was in the gripper at the correction, is {_said(desk.where(name))}" for name in names]


def _says(desk: JudgedDesk, wanted: Sequence[str]) -> list[Problem]:
    return [f"the answer does not say {pattern!r}" for pattern in wanted if not re.search(pattern, desk.word.summary, re.IGNORECASE)]


def _says_not(desk: JudgedDesk, wanted: Sequence[str]) -> list[Problem]:
    return [f"the answer says {pattern!r}" for pattern in wanted if re.search(pattern, desk.word.summary, re.IGNORECASE)]


def _succeeds(desk: JudgedDesk, wanted: bool) -> list[Problem]:
    return [] if desk.word.success == wanted else [f"it claims {'success' if desk.word.success else f'failure ({desk.word.code})'}"]


def _code(desk: JudgedDesk, wanted: Sequence[str]) -> list[Problem]:
    return [] if desk.word.code in wanted else [f"the code is {desk.word.code or 'none'}, not {' or '.join(wanted)}"]


CHECKS: dict[str, Callable[[JudgedDesk, Any], list[Problem]]] = {
    "where": _where, "beside": _beside, "sorted": _sorted, "row": _row, "count": _count, "clear": _clear, "swapped": _swapped, "back": _back,
    "held_then": _held_then, "says": _says, "says_not": _says_not, "succeeds": _succeeds, "code": _code,
}  # fmt: skip
OTHER_KEYS = ("others", "asks")


def check(desk: JudgedDesk, want: Mapping[str, Any]) -> dict[str, list[Problem]]:
    """What is wrong, a list for each key of ``want`` and for what goes without saying: questions asked, and that the rest stays where it was."""
    found = {key: CHECKS[key](desk, value) for key, value in want.items() if key in CHECKS}
    asked, wanted = len(desk.word.questions), int(want.get("asks", 0))
    found["asks"] = [] if asked == wanted else [f"{asked} questions were asked, not {wanted}: {'; '.join(desk.word.questions)}"]
    if want.get("others") != "any":
        meant = _named(want)
        found["others"] = [problem for name in desk.objects() if name not in meant and (problem := desk.moved(name))]
    found["dropped"] = [f"{name} was dropped" for name in desk.objects() if desk.where(name) == "floor"]
    return found


def _named(want: Mapping[str, Any]) -> set[str]:
    """Objects that may be elsewhere at the end."""
    names = {*want.get("where", {}), *want.get("swapped", ()), *want.get("sorted", {}).get("things", ()), *want.get("row", {}).get("things", ())}
    return names | {row[0] for row in want.get("beside", ())}
