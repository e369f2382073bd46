"""Thinning of point clouds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def thin(points: npt.NDArray[Any], voxel: float, limit: int | None = None) -> npt.NDArray[np.float32]:
    """One point (N, 3) a voxel of this edge [m], at most ``limit``, evenly left out."""
    if not len(points):
        return np.zeros((0, 3), np.float32)
    cells = np.floor(np.ascontiguousarray(points.T) / voxel).astype(np.int64)
    cells -= cells.min(axis=1)[:, None]
    span = cells.max(axis=1) + 1
    keys = (cells[0] * span[1] + cells[1]) * span[2] + cells[2]
    kept = points[np.unique(keys, return_index=True)[1]]
    if limit is not None and len(kept) > limit:
        kept = kept[np.linspace(0, len(kept) - 1, limit).astype(int)]
    return np.asarray(kept, dtype=np.float32)
