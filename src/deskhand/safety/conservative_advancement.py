"""Which states of a motion bring which pieces how near: many states are settled by one.

A pair of pieces that is a distance ``d`` apart in one state, and does not move by more than ``r`` within a block of states around it, is at
least ``d - r`` apart in the whole block. Where that is not enough, the block is halved. What comes out is what looking at every
state would have given, for a small part of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.safety.placed import Bodies, Index, Placed, outside_box

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

BLOCK = 16  # states in a block at first
SURE = 5e-4  # [m] to which the clearance is found
ROWS = 2_000_000  # ball tests at once

Mask = npt.NDArray[np.bool_]
Bound = Callable[[Index, Index, Index], Array]
Exact = Callable[[Index, Index, Index, Array], Array]
Travel = Callable[[Index, Index], Array]


@dataclass
class NearPairs:
    """Pairs nearer than ``cutoff``: states, first and second indices, signed distances; ``best``: the clearance so far, -inf when it is not asked for."""

    cutoff: float
    best: float = -np.inf
    parts: list[tuple[Index, Index, Index, Array]] = field(default_factory=list)

    @property
    def threshold(self) -> float:
        """[m] beyond which nothing is of interest."""
        return max(self.cutoff, self.best - SURE)


@dataclass(frozen=True)
class Static:
    """What stands still, with a search tree for small pieces when there are many (point clouds), and the indices of the rest."""

    bodies: Bodies
    large: Index
    small: Index
    tree: cKDTree | None
    reach: float

    @classmethod
    def of(cls, bodies: Bodies, dense: int) -> Static:
        """With a tree for more than ``dense`` pieces."""
        count = len(bodies.names)
        every = np.arange(count)
        if count <= dense:
            return cls(bodies, every, every[:0], None, 0.0)
        from scipy.spatial import cKDTree  # 0.2 s at the start of a node that seldom needs it

        sizes = bodies.pieces.bounds
        small = np.flatnonzero(sizes <= 2 * float(np.median(sizes)))
        large = np.setdiff1d(every, small)
        if len(large) > dense:
            small, large = every, every[:0]
        return cls(bodies, large, small, cKDTree(bodies.pieces.centers[small]), float(sizes[small].max()))


def against(placed: Placed, static: Static, mask: Mask, found: NearPairs) -> None:
    """Moving pieces against what stands still; ``mask`` (P, S) says which are looked at."""
    other = static.bodies.pieces
    for block, p, s in _near(placed, static, mask, found):
        if found.best > -np.inf:  # the centre of a piece is one of its points
            t = (block[0] + block[1]) // 2
            offsets = placed.centers[t, p] - other.centers[s]
            found.best = min(found.best, float((outside_box(offsets, other.frames[s], other.halves[s]) - other.radii[s]).min(initial=np.inf)))
        _descend(
            (*block, p, s),
            lambda t, k: placed.travel[t, k],
            lambda t, k, m: placed.bound_to_static(t, k, other, m),
            lambda t, k, m, enough: placed.to_static(t, k, other, m, enough),
            found,
        )


def near_states(placed: Placed, static: Static, mask: Mask, cutoff: float) -> Mask:
    """(T,): the states that bring anything nearer than ``cutoff`` [m] to what stands still; ``mask`` (P, S) says which pairs are looked at.

    As :func:`against`, but the first pair that is near settles a state, and one that stays near a block: how near they are is not asked.
    """
    settled = np.zeros(placed.count, dtype=bool)
    other = static.bodies.pieces
    for (lo, hi), p, s in _near(placed, static, mask, NearPairs(cutoff)):
        while len(lo):
            mid = (lo + hi) // 2
            here = placed.travel[mid, p]
            radius = np.maximum(here - placed.travel[lo, p], placed.travel[hi - 1, p] - here)
            bound = placed.bound_to_static(mid, p, other, s)
            keep = np.flatnonzero((bound - radius < cutoff) & ~_whole(settled, lo, hi))
            lo, mid, hi, p, s = (values[keep] for values in (lo, mid, hi, p, s))
            radius, bound = radius[keep], bound[keep]
            offsets = placed.centers[mid, p] - other.centers[s]  # the centre of a piece is one of its points
            _settle(settled, lo, mid, hi, radius, outside_box(offsets, other.frames[s], other.halves[s]) - other.radii[s], cutoff)
            nearest = np.lexsort((bound, lo))
            nearest = nearest[np.unique(lo[nearest], return_index=True)[1]]  # one for each block, which may settle it for all
            open_rows = [np.zeros(0, dtype=np.intp)]
            for rows in (nearest, np.setdiff1d(np.arange(len(lo)), nearest)):
                rows = rows[~_whole(settled, lo[rows], hi[rows])]
                distances = placed.to_static(mid[rows], p[rows], other, s[rows], cutoff + radius[rows], cutoff)
                _settle(settled, lo[rows], mid[rows], hi[rows], radius[rows], distances, cutoff)
                open_rows.append(rows[distances - radius[rows] < cutoff])
            rows = np.concatenate(open_rows)
            left, right = rows[mid[rows] > lo[rows]], rows[mid[rows] + 1 < hi[rows]]
            lo, hi = np.concatenate([lo[left], mid[right] + 1]), np.concatenate([mid[left], hi[right]])
            p, s = (values[np.concatenate([left, right])] for values in (p, s))
    return settled


def _settle(settled: Mask, lo: Index, mid: Index, hi: Index, radius: Array, distances: Array, cutoff: float) -> None:
    """Mark the states of the middle that are near by ``distances`` (M,), upper bounds [m], and whole blocks that are so whatever moves within them."""
    settled[mid[distances < cutoff]] = True
    whole = distances + radius < cutoff
    steps = np.bincount(lo[whole], minlength=len(settled) + 1) - np.bincount(hi[whole], minlength=len(settled) + 1)
    settled |= np.cumsum(steps)[:-1] > 0


def _whole(settled: Mask, lo: Index, hi: Index) -> Mask:
    """(M,): which blocks are settled from end to end."""
    count = np.concatenate([[0], np.cumsum(settled)])
    return np.asarray(count[hi] - count[lo] == hi - lo)


def among(placed: Placed, first: Index, second: Index, found: NearPairs) -> None:
    """Pairs of moving pieces."""
    if not len(first):
        return
    travel = placed.relative_travel(first, second)
    lo, mid, hi = _blocks(placed.count)
    reach = placed.bounds[first] + placed.bounds[second] + _radius(travel, lo, mid, hi) + found.threshold
    offsets = placed.centers[mid][:, first] - placed.centers[mid][:, second]
    block, k = np.nonzero((offsets**2).sum(axis=2) < np.maximum(reach, 0) ** 2)
    _descend(
        (lo[block], hi[block], k, k),
        lambda t, i: travel[t, i],
        lambda t, i, _: placed.bound_between(t, first[i], second[i]),
        lambda t, i, _, enough: placed.between(t, first[i], second[i], enough),
        found,
    )


def _descend(rows: tuple[Index, Index, Index, Index], travel: Travel, bound: Bound, exact: Exact, found: NearPairs) -> None:
    """Halve blocks ``lo`` to ``hi`` (exclusive) of the pairs (p, s) until each is settled."""
    lo, hi, p, s = rows
    while len(lo):
        mid = (lo + hi) // 2
        here = travel(mid, p)
        radius = np.maximum(here - travel(lo, p), travel(hi - 1, p) - here)
        keep = np.flatnonzero(bound(mid, p, s) - radius < found.threshold)
        lo, mid, hi, p, s, radius = lo[keep], mid[keep], hi[keep], p[keep], s[keep], radius[keep]
        if not len(lo):
            return
        distances = exact(mid, p, s, np.maximum(found.threshold + radius, found.best))
        found.best = min(found.best, float(distances.min()))
        hit = distances < found.cutoff
        if hit.any():
            found.parts.append((mid[hit], p[hit], s[hit], distances[hit]))
        left = np.flatnonzero((distances - radius < found.threshold) & (mid > lo))
        right = np.flatnonzero((distances - radius < found.threshold) & (mid + 1 < hi))
        lo, hi = np.concatenate([lo[left], mid[right] + 1]), np.concatenate([mid[left], hi[right]])
        both = np.concatenate([left, right])
        p, s = p[both], s[both]


def _near(placed: Placed, static: Static, mask: Mask, found: NearPairs) -> Iterator[tuple[tuple[Index, Index], Index, Index]]:
    """Blocks (first states, ends), moving and static indices of what balls around the pieces do not rule out."""
    lo, mid, hi = _blocks(placed.count)
    radius = _radius(placed.travel, lo, mid, hi)
    count = len(placed.names)
    large, other = static.large, static.bodies.pieces
    allowed = mask[:, large]
    step = max(1, ROWS // max(1, count * len(large)))
    for start in range(0, len(lo), step):
        part = slice(start, start + step)
        centers = placed.centers[mid[part]].reshape(-1, 3)
        squares = (centers**2).sum(axis=1)[:, None] + (other.centers[large] ** 2).sum(axis=1) - 2 * centers @ other.centers[large].T
        reach = (radius[part] + placed.bounds).reshape(-1)[:, None] + other.bounds[large] + found.threshold
        row, s = np.nonzero((squares < np.maximum(reach, 0) ** 2) & np.tile(allowed, (len(centers) // count, 1)))
        block = row // count + start
        yield (lo[block], hi[block]), row % count, large[s]
    if static.tree is not None:
        yield from _near_small(placed, static, mask, found, radius)


def _near_small(placed: Placed, static: Static, mask: Mask, found: NearPairs, radius: Array) -> Iterator[tuple[tuple[Index, Index], Index, Index]]:
    """As :func:`_near`, for the pieces in the tree; one moving piece after the other."""
    assert static.tree is not None
    lo, mid, hi = _blocks(placed.count)
    for index in range(len(placed.names)):
        if not mask[index, static.small].any():
            continue
        centers = placed.centers[mid, index]
        if found.best > -np.inf:
            away, nearest = map(np.asarray, static.tree.query(centers))
            found.best = min(found.best, float(away[mask[index, static.small[nearest]]].min(initial=np.inf)))
        hits = static.tree.query_ball_point(centers, np.maximum(radius[:, index] + placed.bounds[index] + static.reach + found.threshold, 0.0))
        sizes = [len(hit) for hit in hits]
        if not sum(sizes):
            continue
        block = np.repeat(np.arange(len(lo)), sizes)
        s = static.small[np.concatenate([np.asarray(hit, dtype=np.intp) for hit in hits if len(hit)])]
        keep = mask[index, s]
        block, s = block[keep], s[keep]
        yield (lo[block], hi[block]), np.full(len(block), index), s


def _blocks(count: int) -> tuple[Index, Index, Index]:
    """First states, middle ones, and ends (exclusive) of blocks."""
    lo = np.arange(0, count, BLOCK)
    hi = np.minimum(lo + BLOCK, count)
    return lo, (lo + hi) // 2, hi


def _radius(travel: Array, lo: Index, mid: Index, hi: Index) -> Array:
    """How far (B, P) anything in the blocks is from where it is in their middle state."""
    return np.maximum(travel[mid] - travel[lo], travel[hi - 1] - travel[mid])
