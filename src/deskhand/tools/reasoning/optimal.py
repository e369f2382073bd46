"""Assignment, order, packing and stacking as optimisation problems, solved by scipy (HiGHS)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_matrix

from deskhand.errors import DeskhandError
from deskhand.geometry import Array

TIME = 6.0  # [s] that a solver may take; what it has by then is taken
MOST_PERMUTED = 7


@dataclass(frozen=True)
class Solved:
    """``values`` of the variables, the ``cost``, and whether nothing better exists (else: within the time)."""

    values: Array
    cost: float
    optimal: bool


class Program:
    """A mixed-integer linear program that is put together row by row."""

    def __init__(self) -> None:
        self.cost: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.whole: list[int] = []
        self.rows: list[tuple[dict[int, float], float, float]] = []

    def variable(self, cost: float = 0.0, low: float = 0.0, high: float = 1.0, whole: bool = True) -> int:
        """A new variable; whole and 0 to 1 unless it is said otherwise."""
        self.cost.append(cost)
        self.low.append(low)
        self.high.append(high)
        self.whole.append(int(whole))
        return len(self.cost) - 1

    def row(self, terms: dict[int, float], low: float = -math.inf, high: float = math.inf) -> None:
        """``low <= sum(factor * variable) <= high``"""
        self.rows.append((terms, low, high))

    def solve(self) -> Solved:
        """The best values.

        Raises:
            DeskhandError: ``impossible`` when no values keep all rows, or none were found in time.
        """
        matrix = lil_matrix((len(self.rows), len(self.cost)))
        for number, (terms, _, _) in enumerate(self.rows):
            for index, factor in terms.items():
                matrix[number, index] = factor
        limits = LinearConstraint(matrix.tocsr(), [low for _, low, _ in self.rows], [high for _, _, high in self.rows])
        found = milp(
            self.cost,
            integrality=np.array(self.whole),
            bounds=Bounds(self.low, self.high),
            constraints=limits if self.rows else None,
            options={"time_limit": TIME},
        )
        if found.x is None:
            raise DeskhandError("impossible", f"the constraints cannot all be met ({found.message.strip()}).", hint="Drop a constraint.")
        return Solved(np.asarray(found.x), float(found.fun), found.status == 0)


def assigned(cost: Array, load: Array, room: Array, most: Sequence[int], unplaced: float) -> tuple[list[int], bool]:
    """For each object (row of ``cost`` (n, m); inf: not there) its place, or -1, which costs ``unplaced``, and whether that is the best.

    The ``load`` (n,) in a place is at most its ``room`` (m,), their number at most its ``most`` (m).
    """
    program = Program()
    count, places = cost.shape
    index = {(i, j): program.variable(float(cost[i, j]) - unplaced) for i in range(count) for j in range(places) if np.isfinite(cost[i, j])}
    for i in range(count):
        program.row({index[i, j]: 1.0 for j in range(places) if (i, j) in index}, high=1.0)
    for j in range(places):
        program.row({index[i, j]: float(load[i] / load.max()) for i in range(count) if (i, j) in index}, high=float(room[j] / load.max()))
        program.row({index[i, j]: 1.0 for i in range(count) if (i, j) in index}, high=float(most[j]))
    if not index:
        return [-1] * count, True
    solved = program.solve()
    return [next((j for j in range(places) if (i, j) in index and solved.values[index[i, j]] > 0.5), -1) for i in range(count)], solved.optimal


def ordered(cost: Array, first: Array, before: Sequence[tuple[int, int]]) -> tuple[list[int], float, bool]:
    """The order of n jobs with the least way: ``first`` (n,) to each from the start, ``cost`` (n, n) from one to the next; (a, b) in ``before``: a is earlier.

    A travelling salesman who does not come back, by Miller, Tucker and Zemlin's constraints.
    """
    count = len(first)
    if count == 1:
        return [0], float(first[0]), True
    program = Program()
    start = [program.variable(float(first[i])) for i in range(count)]
    go = {(i, j): program.variable(float(cost[i, j])) for i in range(count) for j in range(count) if i != j}
    place = [program.variable(low=0, high=count - 1, whole=False) for _ in range(count)]
    program.row(dict.fromkeys(start, 1.0), 1, 1)
    for j in range(count):
        program.row({start[j]: 1.0, **{go[i, j]: 1.0 for i in range(count) if i != j}}, 1, 1)
        program.row({go[j, i]: 1.0 for i in range(count) if i != j}, high=1)
        program.row({place[j]: 1.0, start[j]: float(count - 1)}, high=count - 1)
    for i, j in go:
        program.row({place[i]: 1.0, place[j]: -1.0, go[i, j]: float(count)}, high=count - 1)
    for a, b in before:
        program.row({place[b]: 1.0, place[a]: -1.0}, low=1)
    solved = program.solve()
    following = {i: j for (i, j), index in go.items() if solved.values[index] > 0.5}
    at = next(i for i in range(count) if solved.values[start[i]] > 0.5)
    order = [at]
    while at in following:
        at = following[at]
        order.append(at)
    return order, solved.cost, solved.optimal


@dataclass(frozen=True)
class Packed:
    """A rectangle in the box: ``x``, ``y`` [m] of its middle from the box's middle, ``turned`` by a quarter turn."""

    index: int
    x: float
    y: float
    turned: bool


def packed(sizes: Sequence[tuple[float, float]], room: tuple[float, float], gap: float) -> tuple[list[Packed], bool]:
    """As much area of rectangles (a, b) [m] as fits side by side into ``room`` [m], ``gap`` [m] apart and off the walls, each perhaps turned."""
    program, (wide, deep) = Program(), room
    total = sum(a * b for a, b in sizes)
    use = [program.variable(-a * b / total) for a, b in sizes]
    turn = [program.variable() for _ in sizes]
    x, y = ([program.variable(1e-4, -edge / 2, edge / 2, whole=False) for _ in sizes] for edge in room)
    for i, (a, b) in enumerate(sizes):
        for at, edge, straight, turned in ((x[i], wide, a, b), (y[i], deep, b, a)):
            # |at| + half + gap <= edge / 2, when it is used; half = straight/2 or turned/2
            for sign in (1.0, -1.0):
                out = edge + a + b  # what is left out is bound to nothing
                program.row({at: sign, turn[i]: (turned - straight) / 2, use[i]: out}, high=edge / 2 - straight / 2 - gap + out)
    for i, j in itertools.combinations(range(len(sizes)), 2):
        sides = [program.variable() for _ in range(4)]
        program.row({**dict.fromkeys(sides, 1.0), use[i]: -1.0, use[j]: -1.0}, low=-1.0)
        (a, b), (c, d) = sizes[i], sizes[j]
        for number, (one, other, edge, half_i, half_j, more_i, more_j) in enumerate(
            ((x[i], x[j], wide, a / 2, c / 2, (b - a) / 2, (d - c) / 2), (y[i], y[j], deep, b / 2, d / 2, (a - b) / 2, (c - d) / 2))
        ):
            far = 2 * (edge + max(a, b, c, d)) + gap
            for sign, side in ((1.0, sides[2 * number]), (-1.0, sides[2 * number + 1])):
                program.row({one: sign, other: -sign, turn[i]: more_i, turn[j]: more_j, side: far}, high=far - half_i - half_j - gap)
    solved = program.solve()
    inside = [
        Packed(i, float(solved.values[x[i]]), float(solved.values[y[i]]), bool(solved.values[turn[i]] > 0.5))
        for i in range(len(sizes))
        if solved.values[use[i]] > 0.5
    ]
    return inside, solved.optimal


def tower_margin(levels: Sequence[tuple[float, float, float]]) -> float:
    """[rad] that a tower of (shorter half edge [m], height [m], mass), from the bottom, may lean before its weakest joint opens, all centres over each other.

    At each joint the contact reaches to the smaller of the two half edges, and what is above has its centre of mass over it.
    """
    margin = math.pi / 2
    for k in range(len(levels)):
        half = min(levels[k][0], levels[k - 1][0]) if k else levels[0][0]
        mass, moment, bottom = 0.0, 0.0, 0.0
        for _, height, weight in levels[k:]:
            moment += weight * (bottom + height / 2)
            mass += weight
            bottom += height
        margin = min(margin, math.atan2(half, moment / mass))
    return margin


def best_tower(levels: Sequence[tuple[float, float, float]]) -> tuple[list[int], float]:
    """The order from the bottom with the largest :func:`tower_margin`; beyond seven objects by size alone."""
    by_size = sorted(range(len(levels)), key=lambda i: (-levels[i][0], -levels[i][2]))
    if len(levels) > MOST_PERMUTED:
        return by_size, tower_margin([levels[i] for i in by_size])
    # of orders that are as good, the one with the broader objects below
    rank = {i: place for place, i in enumerate(by_size)}
    best = max(
        itertools.permutations(range(len(levels))),
        key=lambda order: (round(tower_margin([levels[i] for i in order]), 6), [-rank[i] for i in order]),
    )
    return list(best), tower_margin([levels[i] for i in best])
