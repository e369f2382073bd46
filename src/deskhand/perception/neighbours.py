"""Nearest points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.geometry import Array


def nearest(points: npt.NDArray[Any], to: npt.NDArray[Any], within: float = np.inf) -> tuple[Array, npt.NDArray[np.int64]]:
    """Distance (N,) [m] and place among ``points`` (M, 3) of the nearest one to each of ``to`` (N, 3); infinite, and M, where none is ``within``."""
    distance, index = cKDTree(points, compact_nodes=False, balanced_tree=False).query(to, distance_upper_bound=within)
    return np.asarray(distance, float), np.asarray(index, np.int64)
