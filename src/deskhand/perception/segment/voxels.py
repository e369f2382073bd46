"""Voxels of a cloud, with their neighbours and normals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix, identity
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.segment.settings import VOXELS

Numbers = npt.NDArray[np.int64]


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
    count = len(key)
    middle = means(points, of, count)
    pairs = cKDTree(key).query_pairs(VOXELS.around, output_type="ndarray").astype(np.int64)
    return Voxels(of, middle, _normals(middle, pairs, eye), pairs, edge)


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
    count = len(middle)
    near = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (count, count)).tocsr()
    near = near + near.T + identity(count, format="csr")
    wide = ((near @ near) > 0).astype(float)
    around = np.asarray(wide.sum(axis=1)).reshape(-1, 1)
    mean = wide @ middle / around
    squares = np.einsum("ij,ik->ijk", middle, middle).reshape(count, 9)
    spread = (wide @ squares / around).reshape(count, 3, 3) - np.einsum("ij,ik->ijk", mean, mean)
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
