"""What is asked of many short rows, (N, 2) or (N, 3): bounds, lengths, whether all of a row is true. Column by column it costs a fifth to a twentieth of what
numpy takes along a short axis, and gives the same bits.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array

Mask = npt.NDArray[np.bool_]


def lowest(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Least value (K,) of each column of (N, K); one row at least."""
    return np.array([column.min() for column in rows.T])


def highest(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Largest value (K,) of each column of (N, K); one row at least."""
    return np.array([column.max() for column in rows.T])


def spans(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Largest less least value (K,) of each column of (N, K)."""
    return np.asarray(highest(rows) - lowest(rows))


def lengths(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Euclidean length (N,) of each row (N, K)."""
    return np.asarray(np.sqrt(squares(rows)))


def squares(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Squared length (N,) of each row (N, K)."""
    return np.asarray(reduce(np.add, [column * column for column in rows.T]))


def all_of(rows: Mask) -> Mask:
    """Whether each row (N, K) is true all along."""
    return np.asarray(reduce(np.logical_and, rows.T))


def between(rows: npt.NDArray[Any], low: npt.ArrayLike, high: npt.ArrayLike) -> Mask:
    """Which rows (N, K) are above ``low`` and below ``high`` (K,) in every column."""
    lows, highs = np.broadcast_to(low, rows.shape[1]), np.broadcast_to(high, rows.shape[1])
    return np.asarray(reduce(np.logical_and, [(column > least) & (column < most) for column, least, most in zip(rows.T, lows, highs, strict=True)]))


def rows_of(values: npt.NDArray[Any], which: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The rows (M, ...) of values (N, ...) that a mask (N,) or numbers (M,) choose."""
    return values.take(np.flatnonzero(which) if which.dtype == bool else which, axis=0)


def dots(rows: Array, others: Array) -> Array:
    """Scalar product (N,) of each row (N, K) with its partner."""
    return np.asarray(reduce(np.add, [one * other for one, other in zip(rows.T, others.T, strict=True)]))


def cross(rows: Array, others: Array) -> Array:
    """Vector product (..., 3) of vectors (..., 3) with their partners, to the bits of numpy.cross."""
    result = np.empty(np.broadcast_shapes(rows.shape, others.shape))
    for axis, one, other in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[..., axis] = rows[..., one] * others[..., other] - rows[..., other] * others[..., one]
    return result


def is_among(numbers: npt.NDArray[np.int64], others: npt.NDArray[np.int64], size: int) -> Mask:
    """Which of numbers (N,) are among others (M,); all are 0 or more, and below ``size``, as many as the pixels of a picture."""
    there = np.zeros(size, bool)
    there[others] = True
    return there[numbers]


def renumbered(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The same numbers (N,), 0 or more, counted from 0 without gaps, in their order."""
    there = np.bincount(numbers) > 0
    return np.asarray((np.cumsum(there) - 1)[numbers])
