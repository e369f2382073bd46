"""Voxels of a cloud, with their neighbours and normals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix

from deskhand.geometry import Array
from deskhand.perception.segment.settings import VOXELS

Numbers = npt.NDArray[np.int64]

# Of the cells round one, those on one side of it; and of the cells round those, on that side, which of the first, by bits, lie between.
_CUBE = [np.array(way) for way in product((-2, -1, 0, 1, 2), repeat=3) if way > (0, 0, 0)]
_NEAR = [way for way in _CUBE if np.abs(way).max() == 1]
_FAR = [way for way in _CUBE if np.abs(way).max() == 2]
_AROUND = [*_NEAR, *(-way for way in _NEAR)]
_BETWEEN = [sum(1 << number for number, way in enumerate(_AROUND) if np.abs(far - way).max() == 1) for far in _FAR]
_ROWS, _COLUMNS = np.triu_indices(3)


@dataclass(frozen=True)
class Voxels:
    """A cloud as voxels.

    Attributes:
        of: (N,) the voxel of each point.
        middle: (M, 3) of its points [m].
        normal: (M, 3) of the surface there, towards the camera.
        pairs: (K, 2) neighbours.
        edge: [m]
    """

    of: Numbers
    middle: Array
    normal: Array
    pairs: Numbers
    edge: float

    def __len__(self) -> int:
        return len(self.middle)


def voxels_of(points: Array, eye: Array, edge: float) -> Voxels:
    """Voxels of points (N, 3) with edge [m]; normals from what is up to two voxels away, towards ``eye`` (3,)."""
    key, of = cells(points, edge)
    middle = means(points, of, len(key))
    pairs, wide = _neighbours(key)
    return Voxels(of, middle, _normals(middle, wide, eye), pairs, edge)


def _neighbours(key: Numbers) -> tuple[Numbers, Numbers]:
    """Pairs (K, 2) of cells (M, 3) among the 26 round each other, and pairs (L, 2) of cells that are those or have such a neighbour in common."""
    key = key - key.min(axis=0) + 2
    shape = key.max(axis=0) + 3
    flat = (key[:, 0] * shape[1] + key[:, 1]) * shape[2] + key[:, 2]
    find = _finder(flat, int(shape.prod()))
    mask = np.zeros(len(key), np.int64)
    near, far = [], []
    for number, way in enumerate(_NEAR):
        i, j = find(flat + (way @ (shape[1] * shape[2], shape[2], 1)))
        near.append((i, j))
        mask[i] |= 1 << number
        mask[j] |= 1 << (number + len(_NEAR))
    for way, between in zip(_FAR, _BETWEEN, strict=True):
        i, j = find(flat + (way @ (shape[1] * shape[2], shape[2], 1)))
        met = (mask[i] & between) != 0
        far.append((i[met], j[met]))
    pairs = np.concatenate([np.stack(found, axis=1) for found in near])
    return pairs, np.concatenate([pairs, *(np.stack(found, axis=1) for found in far)])


def _finder(flat: Numbers, size: int) -> Callable[[Numbers], tuple[Numbers, Numbers]]:
    """What tells which of numbers (M,) are among ``flat`` (M,), all below ``size``, and where there."""
    if size < VOXELS.table:
        table = np.full(size, -1, np.int32)
        table[flat] = np.arange(len(flat))

        def looked_up(wanted: Numbers) -> tuple[Numbers, Numbers]:
            at = table[wanted]
            i = np.flatnonzero(at >= 0)
            return i, at[i].astype(np.int64)

        return looked_up

    order = np.argsort(flat)

    def searched(wanted: Numbers) -> tuple[Numbers, Numbers]:
        at = order[np.minimum(np.searchsorted(flat, wanted, sorter=order), len(flat) - 1)]
        i = np.flatnonzero(flat[at] == wanted)
        return i, at[i]

    return searched


def cells(points: Array, edge: float) -> tuple[Numbers, Numbers]:
    """Cells (M, 3) of a grid with edge [m] that hold any of points (N, 3), and the number (N,) of the cell of each."""
    key = np.floor(points / edge).astype(np.int64)
    key -= key.min(axis=0)
    shape = key.max(axis=0) + 1
    flat = (key[:, 0] * shape[1] + key[:, 1]) * shape[2] + key[:, 2]
    if shape.prod() < VOXELS.table:
        there = np.zeros(int(shape.prod()), bool)
        there[flat] = True
        found = np.flatnonzero(there)
        table = np.zeros(len(there), np.int32)
        table[found] = np.arange(len(found))
        of = table[flat].astype(np.int64)
    else:
        found, of = np.unique(flat, return_inverse=True)
    return np.stack(np.unravel_index(found, tuple(shape)), axis=1), of.reshape(-1)


def means(values: Array, group: Numbers, count: int) -> Array:
    """Mean (count, K) of values (N, K) in each group."""
    number = np.maximum(np.bincount(group, minlength=count), 1)
    return np.stack([np.bincount(group, column, count) for column in values.T], axis=1) / number[:, None]


def unit(vectors: Array) -> Array:
    """Vectors (..., 3) with length 1."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))


def _normals(middle: Array, pairs: Numbers, eye: Array) -> Array:
    """Directions (M, 3) in which the cells that ``pairs`` (L, 2) has with each, and itself, spread least, towards ``eye``."""
    count, (i, j) = len(middle), pairs.T
    each = np.arange(count)
    wide = coo_matrix((np.ones(2 * len(pairs) + count), (np.concatenate([i, j, each]), np.concatenate([j, i, each]))), (count, count)).tocsr()
    around = (np.bincount(i, minlength=count) + np.bincount(j, minlength=count) + 1.0)[:, None]
    sums = wide @ np.column_stack([middle, middle[:, _ROWS] * middle[:, _COLUMNS]]) / around
    mean = sums[:, :3]
    spread = np.empty((count, 3, 3))
    spread[:, _ROWS, _COLUMNS] = spread[:, _COLUMNS, _ROWS] = sums[:, 3:] - mean[:, _ROWS] * mean[:, _COLUMNS]
    normal = least_directions(spread)
    return np.asarray(normal * np.where(np.einsum("ij,ij->i", normal, eye - middle) < 0, -1.0, 1.0)[:, None])


def least_directions(spread: Array) -> Array:
    """Directions (M, 3) in which symmetric matrices (M, 3, 3) are least: the eigenvectors of their smallest eigenvalues, by the roots of the cubic and cross
    products (J. Kopp: Efficient Numerical Diagonalization of Hermitian 3x3 Matrices, Int. J. Mod. Phys. C 19, 2008), which is several times as fast for many.
    """
    size = np.maximum(np.abs(spread).max(axis=(1, 2)), 1e-300)[:, None, None]
    scaled = spread / size
    mean = np.trace(scaled, axis1=1, axis2=2) / 3
    about = scaled - mean[:, None, None] * np.eye(3)
    radius = np.sqrt(np.einsum("mij,mij->m", about, about) / 6)
    turn = np.arccos(np.clip(_determinant(about) / np.maximum(2 * radius**3, 1e-300), -1.0, 1.0)) / 3
    rows = about - (2 * radius * np.cos(turn + 2 * np.pi / 3))[:, None, None] * np.eye(3)
    across = np.stack([np.cross(rows[:, i], rows[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    length = np.linalg.norm(across, axis=2)
    best = length.argmax(axis=1)
    result = unit(across[np.arange(len(best)), best])
    unsure = length.max(axis=1) < 1e-6  # of two that are equally small it is neither
    result[unsure] = np.linalg.eigh(spread[unsure])[1][:, :, 0]
    return result


def _determinant(matrices: Array) -> Array:
    """Of (M, 3, 3), without pivoting."""
    return np.asarray(np.einsum("mi,mi->m", matrices[:, 0], np.cross(matrices[:, 1], matrices[:, 2])))
