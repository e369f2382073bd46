"""An octree of occupancy: free, occupied or unknown, at every resolution; integrated from depth pictures.

Leaves are kept as sorted keys with log odds; a node of a coarser level is its leaves' keys with bits left out. Probabilities and their limits are those of
OctoMap (Hornung et al. 2013), whose Python package has no wheels for the robot's computers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array

HIT, MISS = np.log(0.7 / 0.3), np.log(0.4 / 0.6)
LOWEST, HIGHEST = np.log(0.1192 / 0.8808), np.log(0.971 / 0.029)
OCCUPIED = 0.0  # log odds above which a cell is occupied
BITS = 12  # levels: keys are 3 x 12 bits
HALF = 1 << (BITS - 1)
Keys = npt.NDArray[np.int64]
UNKNOWN, FREE, FULL = 0, 1, 2


@dataclass
class Octree:
    """Occupancy of space around the world's origin; ``resolution`` [m] is the edge of a leaf."""

    resolution: float
    keys: Keys = field(default_factory=lambda: np.zeros(0, np.int64))
    odds: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    views: int = 0

    def key_of(self, points: Array) -> Keys:
        """Morton keys (N,) of points (N, 3); -1 outside of what the tree can hold."""
        packed = self._packed(points)
        return np.where(packed >= 0, _interleaved(_unpacked(np.maximum(packed, 0))), -1)

    def _packed(self, points: Array) -> Keys:
        """Cells (N,) of points (N, 3), x, y and z side by side in one number, which is quicker than Morton keys; -1 outside."""
        cells = np.floor(np.asarray(points) * (1.0 / self.resolution)).astype(np.int64) + HALF
        inside = ((cells >= 0) & (cells < 2 * HALF)).all(axis=1)
        return np.where(inside, (cells[:, 0] << 2 * BITS) | (cells[:, 1] << BITS) | cells[:, 2], -1)

    def centres(self, keys: Keys) -> Array:
        """Centres (N, 3) [m] of leaves."""
        return np.asarray((_separated(keys) - HALF + 0.5) * self.resolution, float)

    def integrate(self, points: Array, eye: Array, reach: float, hit: npt.NDArray[np.bool_] | None = None) -> None:
        """Take in a view: between ``eye`` (3,) and each point (N, 3) it is free, at the point occupied, if within ``reach`` [m] and a ``hit`` (N,)."""
        points = np.asarray(points, float)
        away = points - eye
        distance = np.linalg.norm(away, axis=1)
        full = np.unique(self.key_of(points[(distance <= reach) & (True if hit is None else hit)]))
        length = np.minimum(distance, reach)
        passed: list[Keys] = []
        steps = int(np.ceil(length.max() / (0.5 * self.resolution))) if len(length) else 0
        way = away / np.maximum(distance, 1e-9)[:, None]
        for number in range(steps):
            along = (number + 0.5) * 0.5 * self.resolution
            mine = along < length - self.resolution
            passed.append(np.unique(self._packed(eye + along * way[mine])))
        cells = np.unique(np.concatenate(passed)) if passed else np.zeros(0, np.int64)
        free = np.setdiff1d(_interleaved(_unpacked(cells[cells >= 0])), full, assume_unique=True)
        self._add(free[free >= 0], MISS)
        self._add(full[full >= 0], HIT)
        self.views += 1

    def _add(self, keys: Keys, change: float) -> None:
        known = self._places(keys)
        old = known >= 0
        self.odds[known[old]] = np.clip(self.odds[known[old]] + change, LOWEST, HIGHEST)
        merged = np.concatenate([self.keys, keys[~old]])
        order = np.argsort(merged, kind="stable")
        self.odds = np.concatenate([self.odds, np.full(int((~old).sum()), np.clip(change, LOWEST, HIGHEST), np.float32)])[order]
        self.keys = merged[order]

    def _places(self, keys: Keys) -> Keys:
        """Place of each key in ``keys``, -1 for none."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, -1)

    def states(self, points: Array) -> npt.NDArray[np.int8]:
        """UNKNOWN, FREE or FULL at points (N, 3)."""
        place = self._places(self.key_of(points))
        odds = np.where(place >= 0, self.odds[np.maximum(place, 0)] if len(self.odds) else 0.0, np.nan)
        return np.where(place < 0, UNKNOWN, np.where(odds > OCCUPIED, FULL, FREE)).astype(np.int8)

    def probability(self, points: Array) -> Array:
        """Probability (N,) of being occupied; NaN where unknown."""
        place = self._places(self.key_of(points))
        odds = self.odds[np.maximum(place, 0)].astype(float) if len(self.odds) else np.zeros(len(place))
        return np.where(place >= 0, 1 / (1 + np.exp(-odds)), np.nan)

    def nodes(self, level: int, state: int) -> tuple[Array, float]:
        """Centres (N, 3) and edge [m] of the nodes ``level`` steps above the leaves that hold a leaf of this state."""
        keys = np.unique(self.keys[(self.odds > OCCUPIED) == (state == FULL)] >> (3 * level))
        edge = self.resolution * (1 << level)
        return np.asarray((_separated(keys << (3 * level)) - HALF) * self.resolution + edge / 2, float), edge

    def as_array(self) -> Array:
        """(N + 1, 2): resolution and views, then keys and log odds."""
        return np.vstack([[self.resolution, self.views], np.column_stack([self.keys.astype(float), self.odds])])

    @classmethod
    def from_array(cls, array: Array) -> Octree:
        """The inverse of :meth:`as_array`.

        Raises:
            DeskhandError: ``invalid_input`` when it is no such array.
        """
        if array.ndim != 2 or array.shape[1] != 2 or not len(array) or not 0 < array[0, 0] < 1:
            raise DeskhandError("invalid_input", "this resource is no occupancy map.", hint="Give the map that build_occupancy_map made.")
        return cls(float(array[0, 0]), array[1:, 0].astype(np.int64), array[1:, 1].astype(np.float32), int(array[0, 1]))


def _unpacked(packed: Keys) -> Keys:
    return np.stack([packed >> 2 * BITS, (packed >> BITS) & (2 * HALF - 1), packed & (2 * HALF - 1)], axis=1)


def _interleaved(cells: Keys) -> Keys:
    keys = np.zeros(len(cells), np.int64)
    for bit in range(BITS):
        for axis in range(3):
            keys |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return keys


def _separated(keys: Keys) -> Keys:
    cells = np.zeros((len(keys), 3), np.int64)
    for bit in range(BITS):
        for axis in range(3):
            cells[:, axis] |= ((keys >> (3 * bit + axis)) & 1) << bit
    return cells
