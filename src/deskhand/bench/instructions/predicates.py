"""Whether a goal holds on ground truth: the checks of the free instructions, and those that open ones need besides. For the scorer only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from deskhand.perception.footprint import hull
from deskhand.sim.spec import CONTAINER_KINDS
from deskhand.tasks.checks import CHECKS, JudgedDesk
from deskhand.tasks.placement import outline

CLOSE = 0.05
"""[m] between the outlines of what shall be close together: ``near`` of world/relations.py."""
LEVEL = 0.012
"""[m] between the underside of a lintel and the tops of what bears it."""
OFF = 0.3
"""Share of the grid's step that an object of a shape may be off its cell."""
STEP = (0.03, 0.25)
"""[m] of the grid's step of a shape."""


def problems(desk: JudgedDesk, want: Mapping[str, Any]) -> list[str]:
    """Why a goal does not hold, empty when it does. What it does not name has to be where it was."""
    found = _unmet(desk, want)
    meant = named(want, set(desk.specs))
    found += [problem for name in desk.objects() if name not in meant and (problem := desk.moved(name))]
    return found + [f"{name} was dropped" for name in desk.objects() if desk.where(name) == "floor"]


def named(want: Any, names: set[str]) -> set[str]:
    """Objects that a goal names anywhere: these may be elsewhere at the end."""
    if isinstance(want, str):
        return {want} & names
    if isinstance(want, Mapping):
        return set().union(*(named(each, names) for pair in want.items() for each in pair))
    return set().union(*(named(each, names) for each in want)) if isinstance(want, list | tuple) else set()


def _unmet(desk: JudgedDesk, want: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for key, value in want.items():
        if key == "any":
            ends = [_unmet(desk, each) for each in value]
            if all(ends):
                nearest = sorted(ends, key=len)[0]
                found.append(f"none of the {len(ends)} right ends holds: {'; '.join(nearest)}")
        elif key != "free":
            found += (MORE.get(key) or CHECKS[key])(desk, value)
    return found


def _place(desk: JudgedDesk, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(desk.end.get(name).pose[:2, 3], dtype=float)


def _region(desk: JudgedDesk, wanted: Mapping[str, Sequence[float]]) -> list[str]:
    """Name -> [x from, x to, y from, y to] [m] of its centre, on the table."""
    found = []
    for name, (x0, x1, y0, y1) in wanted.items():
        x, y = _place(desk, name)
        if desk.where(name) != "table" or not (x0 <= x <= x1 and y0 <= y <= y1):
            found.append(f"{name} is at ({x:.2f}, {y:.2f}), {desk.where(name)}")
    return found


def _gap(desk: JudgedDesk, a: str, b: str) -> float:
    first, second = (_edge(outline(desk.end.get(name))[:, :2]) for name in (a, b))
    return float(np.linalg.norm(first[:, None] - second[None], axis=-1).min())


def _edge(points: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Points (N, 2) along the edge of an outline seen from above."""
    corners = hull(points)
    shares = np.linspace(0.0, 1.0, 9)[:, None, None]
    return np.asarray((corners * shares + np.roll(corners, 1, axis=0) * (1 - shares)).reshape(-1, 2))


def _close(desk: JudgedDesk, wanted: Sequence[Sequence[str]]) -> list[str]:
    return [f"{a} and {b} are not close together" for a, b in wanted if desk.where(a) != "table" or _gap(desk, a, b) > CLOSE]


def _apart(desk: JudgedDesk, wanted: Sequence[Sequence[Any]]) -> list[str]:
    return [f"{a} is nearer than {least} m to {b}" for a, b, least in wanted if _gap(desk, a, b) < float(least)]


def _shape(desk: JudgedDesk, wanted: Mapping[str, Any]) -> list[str]:
    """Objects in the cells of a grid, which may be turned and of any step, but not mirrored."""
    at = np.array([complex(*_place(desk, name)) for name in wanted["things"]])
    cells = np.array([complex(*cell) for cell in wanted["cells"]])
    if any(desk.where(name) != "table" for name in wanted["things"]):
        return ["not all of the shape stand on the table"]
    best = np.inf
    for order in permutations(range(len(at))):
        grid = cells[list(order)] - cells.mean()
        factor = np.vdot(grid, at - at.mean()) / np.vdot(grid, grid)  # least squares: turn and step
        if STEP[0] <= abs(factor) <= STEP[1]:
            best = min(best, float(np.abs(at - at.mean() - factor * grid).max() / abs(factor)))
    return [] if best <= OFF else ["the objects do not stand in that shape"]


def _stripes(desk: JudgedDesk, wanted: Mapping[str, Any]) -> list[str]:
    """At least so many objects in one line, their colours in turn."""
    names = [name for name in wanted["things"] if desk.where(name) == "table"]
    for chosen in permutations(names, int(wanted["least"])):
        at = np.array([_place(desk, name) for name in chosen])
        way = at[-1] - at[0]
        length = float(np.linalg.norm(way))
        off = np.abs((at - at[0]) @ np.array([-way[1], way[0]])) / max(length, 1e-6)
        in_turn = all(desk.colors[a] != desk.colors[b] for a, b in pairwise(chosen))
        steps = np.diff((at - at[0]) @ way / max(length, 1e-6))
        if in_turn and off.max() < 0.02 and (steps > 0).all() and steps.max() < 0.12:
            return []
    return [f"no {wanted['least']} objects stand in a line with their colours in turn"]


def _stacked(desk: JudgedDesk, wanted: Mapping[str, Any]) -> list[str]:
    """One of ``above`` stands on one of ``below``."""
    there = any(desk.where(name) in wanted["below"] for name in wanted["above"])
    return [] if there else [f"none of {', '.join(wanted['above'])} stands on one of {', '.join(wanted['below'])}"]


def _bridge(desk: JudgedDesk, wanted: Mapping[str, Any]) -> list[str]:
    """The lintel lies on all piers, which stand on the table."""
    lintel = outline(desk.end.get(wanted["lintel"]))
    low, high = lintel[:, :2].min(axis=0), lintel[:, :2].max(axis=0)
    found = []
    for name in wanted["piers"]:
        top = float(outline(desk.end.get(name))[:, 2].max())
        covered = bool(((low - 0.002 <= _place(desk, name)) & (_place(desk, name) <= high + 0.002)).all())
        if desk.where(name) != "table" or not covered or abs(float(lintel[:, 2].min()) - top) > LEVEL:
            found.append(f"{wanted['lintel']} does not lie on {name}")
    return found


def _emptied(desk: JudgedDesk, wanted: Sequence[str]) -> list[str]:
    """Each lies in some container."""
    containers = {name for name, item in desk.specs.items() if item.kind in CONTAINER_KINDS}
    return [f"{name} is in no container" for name in wanted if desk.where(name) not in containers]


MORE: dict[str, Callable[[JudgedDesk, Any], list[str]]] = {
    "region": _region, "close": _close, "apart": _apart, "shape": _shape, "stripes": _stripes, "stacked": _stacked, "bridge": _bridge, "emptied": _emptied,
}  # fmt: skip
