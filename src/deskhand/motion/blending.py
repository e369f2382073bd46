"""Several parts of a way as one motion: corners between them are rounded, not stopped at; each part keeps its own allowed contacts and its straightness.

A *leg* is a path of joints; a *run* is a sequence of legs that is moved along without a stop; a plan is a sequence of runs, with a stop between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from deskhand.geometry import Array
from deskhand.motion.timing import distinct, lengths, rounded
from deskhand.safety.scene import Pairs
from deskhand.types import Trajectory

FREE_BLEND, LINE_BLEND = 0.02, 0.002
"""[rad] that a path's own corners are cut by: of one that was searched, and of one that follows straight lines."""
CURVE_STEP = 0.01  # [rad]


class Rounding(NamedTuple):
    """How much of the shorter of two legs the curve between them takes at most, or (``of_each``) of each of the two."""

    share: float
    of_each: bool = False


SHARES = (Rounding(0.5), Rounding(0.25), Rounding(0.1))
"""The largest that the envelope lets pass. Half of a straight leg stays straight."""
WIDE = (Rounding(0.9, True), Rounding(0.7, True), Rounding(0.9), Rounding(0.7), Rounding(0.5, True))
"""The same of a corner whose curve has room, by how much time they save: nothing is near it but what both legs may touch."""


@dataclass(frozen=True)
class Leg:
    """One part.

    Attributes:
        path: (K, n) [rad]
        allow: pairs that may touch on it.
        speed_scale: (0, 1] of the limits.
        line: corners (M, 3) [m] of the lines that the tcp follows, None where it is free.
        max_deviation: [m] from ``line``.
    """

    path: Array
    allow: Pairs
    speed_scale: float
    line: Array | None = None
    max_deviation: float = 0.0

    @property
    def smooth(self) -> Array:
        """The path with its own corners rounded (K, n)."""
        return rounded(distinct(self.path), FREE_BLEND if self.line is None else LINE_BLEND)


Run = tuple[Leg, ...]


@dataclass(frozen=True)
class Blended:
    """The path (K, n) of a run, where on it (n,) each leg but the last gives way to the next, and the curve (K, n) that it takes there."""

    path: Array
    corners: tuple[Array, ...] = ()
    curves: tuple[Array, ...] = ()


def blended(run: Run, roundings: Sequence[Rounding]) -> Blended:
    """The legs of ``run`` joined by curves; of a leg between two curves each takes at most half."""
    legs = [leg.smooth for leg in run]
    free = [float(lengths(path)[-1]) for path in legs]
    path, corners, curves = legs[0], [], []
    for number, rounding in zip(range(1, len(run)), roundings, strict=True):
        sides = [min(rounding.share * free[k], free[k] / (2 if 0 < k < len(run) - 1 else 1)) for k in (number - 1, number)]
        path, curve, corner = _joined(path, legs[number], *(sides if rounding.of_each else [min(sides)] * 2))
        corners.append(corner)
        curves.append(curve)
    return Blended(path, tuple(corners), tuple(curves))


def pieces(trajectory: Trajectory, corners: Sequence[Array]) -> list[Trajectory]:
    """The trajectory cut where it passes nearest to ``corners`` (n,), which come in this order; neighbours share the state between them."""
    cuts = [0, *places(trajectory.positions, corners), len(trajectory.times) - 1]
    return [_slice(trajectory, a, b) for a, b in pairwise(cuts)]


def places(positions: Array, corners: Sequence[Array]) -> list[int]:
    """Index of the state of ``positions`` (T, n) that is nearest to each of ``corners``, never before the one found for the corner before."""
    found, low = [], 0
    for corner in corners:
        low += int(np.linalg.norm(positions[low:] - corner, axis=1).argmin())
        found.append(low)
    return found


def _slice(trajectory: Trajectory, a: int, b: int) -> Trajectory:
    part = slice(a, b + 1)
    t = trajectory
    return Trajectory(t.joint_names, t.times[part], t.positions[part], t.velocities[part], t.accelerations[part])


def _joined(first: Array, second: Array, of_first: float, of_second: float) -> tuple[Array, Array, Array]:
    """Both paths with a quadratic curve between them that takes so much of them [rad], that curve (K, n), and the state where they meet."""
    corner = second[0]
    if min(of_first, of_second) < 1e-6:
        return np.vstack([first, second[1:]]), corner[None], corner
    before = _beyond(first[::-1], of_first)[::-1]
    after = _beyond(second, of_second)
    start, end = before[-1], after[0]
    t = np.linspace(0, 1, max(3, int(np.ceil((of_first + of_second) / CURVE_STEP)) + 1))[:, None]
    curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * corner + t**2 * end
    return np.vstack([before[:-1], curve, after[1:]]), curve, np.asarray((start + 2 * corner + end) / 4)


def _beyond(path: Array, reach: float) -> Array:
    """What is left of ``path`` without its first ``reach`` [rad]."""
    along = lengths(path)
    at = np.array([np.interp(reach, along, column) for column in path.T])
    return np.vstack([at, path[along > reach + 1e-9]])
