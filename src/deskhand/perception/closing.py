"""Along which directions parallel fingers close on a piece without turning it, and without getting stuck in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deskhand.geometry import Array

STEP = np.deg2rad(1.0)  # between directions in which the width of an outline is measured
LEAST_TURN = np.deg2rad(10.0)  # to both sides of the narrowest direction
NARROWER = 0.0002  # [m] than at that turn
OFF = (-0.002, 0.0, 0.002)  # [m] that a pad comes beside the middle
ACROSS = np.deg2rad([0.0, 4.0, -4.0, 8.0, -8.0, 12.0, -12.0])  # about the way from horn to horn, of directions that are told
MOST = 12  # directions that are told, and that `pick` takes
ROUND = np.deg2rad(16.0)  # to both sides of a direction, over which a piece is as wide where its sides are round; between two corners it is 4 % narrower there
AS_WIDE = 0.027  # share of its width
SURE = 0.0015  # [m] that a horn may be nearer to the middle of a pad than its edge and meet it still: a look is wrong by as much
ROOM = 0.003  # [m] to each side of a pad, less than which it gets stuck where it goes between two horns
DEEP = 0.003  # [m] by which horns reach past the pad there


def directions(outline: Array, turns: Sequence[float] = (0.0,), breadth: float = 0.0, seen: Array | None = None) -> tuple[float, ...]:
    """Directions [rad, 0 to pi] along which fingers with pads so broad [m] close on a piece as it lies, the best first,
    at most ``MOST``.

    It becomes ``outline`` (K, 2) [m] by any of ``turns`` [rad]; ``seen`` (L, 2) [m]: what a look shows of its upper side as it lies, where it does: of a recess
    in the shade the tips of horns are lost. They are the narrowest, but those along which a pad would go between two horns where it gets
    stuck and takes the piece along when it opens. Where that leaves none they are from horn to horn: the backs of horns are round, and fingers do not turn
    a piece on round sides.
    """
    along = narrowest(outline, turns)
    across = tuple(float((one + np.pi / 2 + off) % np.pi) for one in along if _is_round(outline, turns, one + np.pi / 2) for off in ACROSS)
    for found in (along, across):
        free = tuple(one for one in found if not any(sticks(outline, one + turn, breadth) for turn in turns))
        if free := tuple(one for one in free if seen is None or not sticks(seen, one, breadth)):
            return free[:MOST]
    return along[:MOST]


def narrowest(outline: Array, turns: Sequence[float] = (0.0,)) -> tuple[float, ...]:
    """Directions [rad, 0 to pi] along which a piece is narrower than to both sides, the narrowest first; none of a round one. It becomes ``outline`` (K, 2)
    [m] by any of ``turns`` [rad], over which its width is averaged. Parallel fingers turn what they close on towards these directions (Goldberg,
    "Orienting polygonal parts without sensors", Algorithmica 1993).
    """
    angles, width = _widths(outline, turns)
    beside = _beside(width, round(LEAST_TURN / STEP))
    least = [int(at) for at in np.flatnonzero(width <= beside.min(axis=0)) if min(beside[0, at], beside[-1, at]) - width[at] > NARROWER]
    return tuple(float(angles[at]) for at in sorted(least, key=lambda at: width[at]))


def sticks(outline: Array, direction: float, breadth: float) -> bool:
    """Whether a pad so broad [m] that comes along ``direction`` [rad], from either side to the middle of an outline (K, 2) [m] or ``OFF`` beside it, goes in
    between two horns that have less than ``ROOM`` beside it.
    """
    axis = np.array([np.cos(direction), np.sin(direction)])
    points = _close(outline)
    aside = points @ [-axis[1], axis[0]]
    middle = (aside.max() + aside.min()) / 2
    return any(_between_horns(side * (points @ axis), aside - middle - off, breadth / 2 - SURE) for side in (-1, 1) for off in OFF)


def _is_round(outline: Array, turns: Sequence[float], direction: float) -> bool:
    """Whether an outline is about as wide to both sides of a direction [rad] as along it."""
    _, width = _widths(outline, turns)
    near = _beside(width, round(ROUND / STEP))[:, round(direction / STEP) % len(width)]
    return float(np.ptp(near)) < AS_WIDE * float(near.max())


def _between_horns(along: Array, aside: Array, half: float) -> bool:
    """Whether outlines reach past a pad on both of its sides, ``half`` [m] from its middle, by points (N,) along its way and aside of it."""
    before = np.abs(aside) <= half
    beside = [along[(side * aside > half) & (side * aside < half + SURE + ROOM)] for side in (-1, 1)]
    return bool(before.any()) and all(len(one) > 0 and float(one.max()) > float(along[before].max()) + DEEP for one in beside)


def _widths(outline: Array, turns: Sequence[float]) -> tuple[Array, Array]:
    """Directions (N,) [rad] over half a turn, and how wide (N,) [m] the outline is along each, averaged over the turns."""
    angles = np.arange(0.0, np.pi, STEP)
    turned = angles + np.asarray(turns, dtype=float)[:, None]
    across = outline @ np.array([np.cos(turned), np.sin(turned)]).reshape(2, -1)
    return angles, (across.max(axis=0) - across.min(axis=0)).reshape(turned.shape).mean(axis=0)


def _beside(width: Array, reach: int) -> Array:
    """The widths (2 * reach + 1, N) at each direction and to both sides of it."""
    return np.array([np.roll(width, by) for by in range(-reach, reach + 1)])


def _close(outline: Array) -> Array:
    """Points (M, 2) along an outline, its corners and between them."""
    after = np.roll(outline, -1, axis=0)
    shares = np.linspace(0.0, 1.0, 10, endpoint=False)[:, None, None]
    return np.asarray(((1 - shares) * outline + shares * after).reshape(-1, 2))
