"""Several parts of a way as one motion: corners between them are rounded, not stopped at; each part keeps its own allowed contacts and its straightness.

A *leg* is a path of joints; a *run* is a sequence of legs that is moved along without a stop; a plan is a sequence of runs, with a stop between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deskhand.geometry import Array
from deskhand.motion.timing import distinct, lengths, rounded
from deskhand.safety.scene import Pairs
from deskhand.types import Trajectory

FREE_BLEND, LINE_BLEND = 0.02, 0.002
"""[rad] that a path's own corners are cut by: of one that was searched, and of one that follows straight lines."""
SHARES = (0.5, 0.25, 0.1)
"""Of the shorter of two legs, that the rounding between them takes at most; the largest that the envelope lets pass. Half of a straight leg stays straight."""
WIDE = (0.9, 0.7)
"""The same of a corner whose curve has room: nothing is near it but what both legs may touch."""
CURVE_STEP = 0.01  # [rad]


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


def blended(run: Run, shares: Sequence[float]) -> Blended:
    """The legs of ``run`` joined by curves, each of which takes its share of the shorter of two neighbours; of a leg between two curves at most half."""
    legs = [leg.smooth for leg in run]
    free = [float(lengths(path)[-1]) for path in legs]
    path, corners, curves = legs[0], [], []
    for number, share in zip(range(1, len(run)), shares, strict=True):
        most = [free[k] / 2 for k in (number - 1, number) if 0 < k < len(run) - 1]
        path, curve, corner = _joined(path, legs[number], min([share * min(free[number - 1 : number + 1]), *most]))
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


def _joined(first: Array, second: Array, reach: float) -> tuple[Array, Array, Array]:
    """Both paths with a quadratic curve between them that takes ``reach`` [rad] of each, that curve (K, n), and the state where they meet."""
    corner = second[0]
    if reach < 1e-6:
        return np.vstack([first, second[1:]]), corner[None], corner
    before = _beyond(first[::-1], reach)[::-1]
    after = _beyond(second, reach)
    start, end = before[-1], after[0]
    t = np.linspace(0, 1, max(3, int(np.ceil(2 * reach / CURVE_STEP)) + 1))[:, None]
    curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * corner + t**2 * end
    return np.vstack([before[:-1], curve, after[1:]]), curve, np.asarray((start + 2 * corner + end) / 4)


def _beyond(path: Array, reach: float) -> Array:
    """What is left of ``path`` without its first ``reach`` [rad]."""
    along = lengths(path)
    at = np.array([np.interp(reach, along, column) for column in path.T])
    return np.vstack([at, path[along > reach + 1e-9]])
