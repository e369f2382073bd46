"""Voxels of a cloud, with their neighbours and normals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix

from deskhand.geometry import Array
from deskhand.perception.rows import highest, lowest
from deskhand.perception.segment.settings import VOXELS

Numbers = npt.NDArray[np.int64]

# Of the cells round one, those on one side of it; and of the cells round those, on that side, which of the first, by bits, lie between.
_CUBE = [np.array(way) for way in product((-2, -1, 0, 1, 2), repeat=3) if way > (0, 0, 0)]
_NEAR = [way for way in _CUBE if np.abs(way).max() == 1]
_FAR = [way for way in _CUBE if np.abs(way).max() == 2]
_AROUND = [*_NEAR, *(-way for way in _NEAR)]
_BETWEEN = np.array([sum(1 << number for number, way in enumerate(_AROUND) if np.abs(far - way).max() == 1) for far in _FAR], np.int32)
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
    """Pairs (K, 2) of cells (M, 3) among the 26 round each other, and pairs (2, L) of cells that are those or have such a neighbour in common."""
    low, high = lowest(key), highest(key)
    shape = high - low + 5
    strides = np.array([shape[1] * shape[2], shape[2], 1])
    flat = (key - low + 2) @ strides
    find = _finder(flat, int(shape.prod()))
    i, j, bounds = find(np.array(_NEAR) @ strides)
    mask = np.zeros(len(key), np.int32)
    for number, (begin, end) in enumerate(pairwise(bounds)):
        mask[i[begin:end]] |= 1 << number
        mask[j[begin:end]] |= 1 << (number + len(_NEAR))
    one, other, bounds = find(np.array(_FAR) @ strides)
    met = np.flatnonzero(mask[one] & np.repeat(_BETWEEN, np.diff(bounds)))
    return np.stack([i, j], axis=1), np.stack([np.concatenate([i, one[met]]), np.concatenate([j, other[met]])])


def _finder(flat: Numbers, size: int) -> Callable[[Numbers], tuple[Numbers, Numbers, Numbers]]:
    """What tells which of ``flat`` (M,), all below ``size``, lie ways (W,) from each other: (K,) and (K,) their numbers, way by way, and where those of each
    way begin and end (W + 1,).
    """
    if size < VOXELS.table:
        table = np.zeros(size, np.int32)
        table[flat] = np.arange(1, len(flat) + 1)
        places = flat.astype(np.int32)

        def looked_up(ways: Numbers) -> tuple[Numbers, Numbers, Numbers]:
            at = table.take(places + ways.astype(np.int32)[:, None])
            return _found(at > 0, at - 1)

        return looked_up

    order = np.argsort(flat)

    def searched(ways: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        wanted = flat + ways[:, None]
        at = order[np.minimum(np.searchsorted(flat, wanted, sorter=order), len(flat) - 1)]
        return _found(flat[at] == wanted, at)

    return searched


def _found(there: npt.NDArray[np.bool_], at: npt.NDArray[Any]) -> tuple[Numbers, Numbers, Numbers]:
    """The columns (K,) of a mask (W, M) that are true, what ``at`` (W, M) says there (K,), and where the rows begin and end (W + 1,)."""
    count = np.count_nonzero(there, axis=1)
    flat = np.flatnonzero(there)
    column = flat - np.repeat(np.arange(len(there)) * there.shape[1], count)
    return column, at.reshape(-1)[flat].astype(np.int64), np.append(0, np.cumsum(count))


def cells(points: Array, edge: float) -> tuple[Numbers, Numbers]:
    """Cells (M, 3) of a grid with edge [m] that hold any of points (N, 3), and the number (N,) of the cell of each."""
    key = np.floor(np.ascontiguousarray(points.T) / edge).astype(np.int64)
    key -= key.min(axis=1)[:, None]
    shape = key.max(axis=1) + 1
    flat = (key[0] * shape[1] + key[1]) * shape[2] + key[2]
    if shape.prod() < VOXELS.table:
        there = np.zeros(int(shape.prod()), bool)
        there[flat] = True
        found = np.flatnonzero(there)
        table = np.empty(len(there), np.int32)
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
    squared = reduce(np.add, [vectors[..., axis] * vectors[..., axis] for axis in range(vectors.shape[-1])])
    return np.asarray(vectors / np.maximum(np.sqrt(squared), 1e-12)[..., None])


def _normals(middle: Array, pairs: Numbers, eye: Array) -> Array:
    """Directions (M, 3) in which the cells that ``pairs`` (2, L) has with each, and itself, spread least, towards ``eye``."""
    count, (i, j) = len(middle), pairs
    wide = coo_matrix((np.ones(len(i)), (i, j)), (count, count))
    around = np.bincount(i, minlength=count) + np.bincount(j, minlength=count) + 1.0
    own = np.column_stack([middle, middle[:, _ROWS] * middle[:, _COLUMNS]])
    sums = np.ascontiguousarray((own + wide @ own + wide.T @ own).T) / around
    normal = least_directions(sums[3:] - sums[_ROWS] * sums[_COLUMNS])
    return np.asarray(normal * np.where(np.einsum("ij,ij->i", normal, eye - middle) < 0, -1.0, 1.0)[:, None])


def least_directions(spread: Array) -> Array:
    """Directions (M, 3) in which symmetric matrices are least, given as their upper triangles (6, M), row by row: the eigenvectors of their smallest
    eigenvalues, by the roots of the cubic and cross products (J. Kopp: Efficient Numerical Diagonalization of Hermitian 3x3 Matrices, Int. J. Mod. Phys. C 19,
    2008), which is several times as fast for many.
    """
    xx, xy, xz, yy, yz, zz = spread / np.maximum(np.abs(spread).max(axis=0), 1e-300)
    mean = (xx + yy + zz) / 3
    xx, yy, zz = xx - mean, yy - mean, zz - mean
    radius = np.sqrt((xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz)) / 6)
    determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    turn = np.arccos(np.clip(determinant / np.maximum(2 * radius * radius * radius, 1e-300), -1.0, 1.0)) / 3
    least = 2 * radius * np.cos(turn + 2 * np.pi / 3)
    xx, yy, zz = xx - least, yy - least, zz - least
    across = np.array(
        [
            [xy * yz - xz * yy, xz * xy - xx * yz, xx * yy - xy * xy],
            [xy * zz - xz * yz, xz * xz - xx * zz, xx * yz - xy * xz],
            [yy * zz - yz * yz, yz * xz - xy * zz, xy * yz - yy * xz],
        ]
    )
    length = np.sqrt((across * across).sum(axis=1))
    best = length.argmax(axis=0)
    each = np.arange(len(best))
    result = (across[best, :, each].T / np.maximum(length[best, each], 1e-12)).T
    unsure = np.flatnonzero(length[best, each] < 1e-6)  # of two that are equally small it is neither
    if len(unsure):
        full = spread[:, unsure][np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])]
        result[unsure] = np.linalg.eigh(np.moveaxis(full, 2, 0))[1][:, :, 0]
    return np.asarray(result)
