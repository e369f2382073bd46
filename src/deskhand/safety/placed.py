"""Moving pieces along a row of states: where they are, how far each gets between two states, how far pairs are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.safety.bodies import Pieces, separation

Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Bodies:
    """Pieces with the name of the link or object that each belongs to."""

    names: tuple[str, ...]
    pieces: Pieces


class Placed:
    """Pieces fixed to frames that move: centres (T, P, 3) and rotations of the frames (T, F, 3, 3).

    ``travel`` (T, P) [m] grows along the states such that no point of a piece is farther from where it was than the difference says.
    """

    def __init__(self, bodies: Bodies, frames: tuple[str, ...], poses: dict[str, Array]) -> None:
        """``frames`` (P): the frame of each piece; ``poses``: world_T_frame (T, 4, 4)."""
        self.names, self.pieces = bodies.names, bodies.pieces
        self.bounds = bodies.pieces.bounds
        used = {frame: index for index, frame in enumerate(dict.fromkeys(frames))}
        self.frame = np.array([used[frame] for frame in frames], dtype=np.intp)
        matrices = np.stack([poses[frame] for frame in used], axis=1)
        self.turns, self.origins = np.ascontiguousarray(matrices[:, :, :3, :3]), matrices[:, :, :3, 3]
        self.centers = np.empty((len(matrices), len(frames), 3))
        for index in used.values():
            mine = self.frame == index
            self.centers[:, mine] = np.einsum("tij,pj->tpi", self.turns[:, index], self.pieces.centers[mine]) + self.origins[:, index, None]
        turned = _turned(self.turns)
        steps = np.linalg.norm(np.diff(self.centers, axis=0), axis=2) + turned[:, self.frame] * self.bounds
        self.travel = np.concatenate([np.zeros((1, len(frames))), np.cumsum(steps, axis=0)])

    @property
    def count(self) -> int:
        """Number of states."""
        return len(self.centers)

    def relative_travel(self, first: Index, second: Index) -> Array:
        """As ``travel`` (T, K), of each piece ``first`` (K) seen from the frame of ``second`` (K)."""
        number = self.turns.shape[1]
        key = self.frame[first] * number + self.frame[second]
        result = np.empty((self.count, len(first)))
        for value in np.unique(key):
            a, b = divmod(int(value), number)
            back = np.swapaxes(self.turns[:, b], 1, 2)
            turned = _turned((back @ self.turns[:, a])[:, None])[:, 0]
            shifted = np.einsum("tij,tj->ti", back, self.origins[:, a] - self.origins[:, b])
            moved = np.linalg.norm(np.diff(shifted, axis=0), axis=1)
            mine = key == value
            reach = np.linalg.norm(self.pieces.centers[first[mine]], axis=1) + self.bounds[first[mine]]
            result[:, mine] = np.concatenate([np.zeros((1, len(reach))), np.cumsum(moved[:, None] + turned[:, None] * reach, axis=0)])
        return result

    def generators(self, t: Index, p: Index) -> Array:
        """(M, K, 3) in ``world``."""
        return np.asarray(self.pieces.generators[p] @ np.swapaxes(self.turns[t, self.frame[p]], 1, 2))

    def axes(self, t: Index, p: Index) -> Array:
        """Axes (M, 3, 3) in ``world`` of the boxes around pieces."""
        return np.asarray(self.turns[t, self.frame[p]] @ self.pieces.frames[p])

    def extents(self, t: Index, p: Index) -> Array:
        """Half sizes (M, 3) of the axis-aligned boxes about pieces."""
        return np.asarray(np.abs(self.generators(t, p)).sum(axis=1) + self.pieces.radii[p][:, None])

    def to_static(self, t: Index, p: Index, other: Pieces, s: Index, enough: Array, close: float = -np.inf) -> Array:
        """Signed distances (M,) to pieces that stand still; see :func:`deskhand.safety.bodies.separation`."""
        generators = np.concatenate([self.generators(t, p), other.generators[s]], axis=1)
        return separation(self.centers[t, p] - other.centers[s], generators, self.pieces.radii[p] + other.radii[s], enough, close)

    def between(self, t: Index, p: Index, q: Index, enough: Array) -> Array:
        """Signed distances (M,) of moving pieces from each other."""
        generators = np.concatenate([self.generators(t, p), self.generators(t, q)], axis=1)
        return separation(self.centers[t, p] - self.centers[t, q], generators, self.pieces.radii[p] + self.pieces.radii[q], enough)

    def bound_to_static(self, t: Index, p: Index, other: Pieces, s: Index) -> Array:
        """Lower bounds (M,) of :meth:`to_static`: the box of each against the ball of the other."""
        offsets = self.centers[t, p] - other.centers[s]
        one = outside_box(offsets, other.frames[s], other.halves[s]) - self.bounds[p] - other.radii[s]
        two = outside_box(offsets, self.axes(t, p), self.pieces.halves[p]) - other.bounds[s] - self.pieces.radii[p]
        return np.maximum(one, two)

    def bound_between(self, t: Index, p: Index, q: Index) -> Array:
        """Lower bounds (M,) of :meth:`between`."""
        offsets, radii = self.centers[t, p] - self.centers[t, q], self.pieces.radii
        one = outside_box(offsets, self.axes(t, q), self.pieces.halves[q]) - self.bounds[p] - radii[q]
        two = outside_box(offsets, self.axes(t, p), self.pieces.halves[p]) - self.bounds[q] - radii[p]
        return np.maximum(one, two)


def outside_box(offsets: Array, frames: Array, halves: Array) -> Array:
    """Distances (M,) of points, given from the centres of boxes with axes ``frames`` (M, 3, 3), to those boxes; 0 inside."""
    local = np.abs((offsets[:, None, :] @ frames)[:, 0])
    return np.asarray(np.sqrt((np.maximum(local - halves, 0) ** 2).sum(axis=1)))


def _turned(turns: Array) -> Array:
    """How far (T - 1, F) points at a distance of 1 move by the rotations between states: 2 sin(angle / 2)."""
    return np.asarray(np.sqrt((np.diff(turns, axis=0) ** 2).sum(axis=(2, 3)) / 2))
