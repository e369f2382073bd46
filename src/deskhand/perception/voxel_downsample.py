"""Thinning of point clouds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

TABLE = 4_000_000
"""Cells up to which the first point of each is looked up in a table, which is faster than sorting."""


def thin(points: npt.NDArray[Any], voxel: float, limit: int | None = None) -> npt.NDArray[np.float32]:
    """One point (N, 3) a voxel of this edge [m], at most ``limit``, evenly left out."""
    if not len(points):
        return np.zeros((0, 3), np.float32)
    cells = np.floor(np.ascontiguousarray(points.T) / voxel).astype(np.int64)
    cells -= cells.min(axis=1)[:, None]
    span = cells.max(axis=1) + 1
    keys = (cells[0] * span[1] + cells[1]) * span[2] + cells[2]
    kept = points[_first_of_each(keys, int(span.prod()))]
    if limit is not None and len(kept) > limit:
        kept = kept[np.linspace(0, len(kept) - 1, limit).astype(int)]
    return np.asarray(kept, dtype=np.float32)


def _first_of_each(keys: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Place of the first of each of the different keys (N,), all below ``size``, in the order of the keys."""
    if size > TABLE:
        return np.asarray(np.unique(keys, return_index=True)[1])
    there, first = np.zeros(size, bool), np.empty(size, np.int32)
    there[keys] = True
    first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    return np.asarray(first[np.flatnonzero(there)], dtype=np.int64)
