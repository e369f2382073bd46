"""Affinities: for each pixel and some of its neighbours, whether both show one object; and what they say of patches that meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.view import Floats

Numbers = npt.NDArray[np.int64]
STRIDE = 2
"""Pixels of the inputs' grid to one of the outputs'."""
OFFSETS = ((0, 1), (1, 0), (0, 3), (3, 0), (3, 3), (3, -3), (0, 8), (8, 0))
"""Rows and columns from a pixel of the outputs to each neighbour that it is asked about: 5, 15, 21 and 40 mm with the pitch of InputSettings."""


@dataclass(frozen=True)
class Evidence:
    """Between patches.

    Attributes:
        logit: (B,) mean of those of one object against two; 0 where nothing tells.
        count: (B,) pairs of pixels that tell it.
    """

    logit: Array
    count: Array

    @property
    def one(self) -> Array:
        """Probability (B,) that the two patches of a border are one object."""
        return np.asarray(1 / (1 + np.exp(-self.logit)))


def shifted(height: int, width: int, offset: tuple[int, int]) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Where pixels of a picture are that have a neighbour at ``offset``, and where these neighbours are."""
    down, right = offset
    left, here = max(0, -right), max(0, right)
    begin = slice(0, max(0, height - down)), slice(left, max(left, width - here))
    end = slice(min(down, height), height), slice(left + right, max(left + right, width - here + right))
    return begin, end


def across_borders(logits: Floats, patches: Numbers, borders: Numbers) -> Evidence:
    """Mean evidence of all pairs of pixels that lie in both patches of a border.

    Args:
        logits: (len(OFFSETS), H, W), above 0 where a pixel and its neighbour show one object.
        patches: (H, W) number of the patch that each pixel shows, -1 for none.
        borders: (B, 2) pairs of patches that meet, the lower number first.
    """
    count = max(int(patches.max(initial=0)), int(borders.max(initial=0))) + 1
    keys, values = [], []
    for offset, plane in zip(OFFSETS, logits, strict=True):
        begin, end = shifted(patches.shape[0], patches.shape[1], offset)
        one, other = patches[begin], patches[end]
        apart = (one >= 0) & (other >= 0) & (one != other)
        one, other = one[apart], other[apart]
        keys.append(np.minimum(one, other) * count + np.maximum(one, other))
        values.append(plane[begin][apart])
    key, value = np.concatenate(keys), np.concatenate(values).astype(float)
    wanted = borders[:, 0] * count + borders[:, 1]
    order = np.argsort(wanted)
    at = np.minimum(np.searchsorted(wanted, key, sorter=order), max(0, len(wanted) - 1))
    if not len(wanted):
        return Evidence(np.zeros(0), np.zeros(0))
    known = wanted[order[at]] == key
    where = order[at[known]]
    pairs = np.bincount(where, minlength=len(wanted)).astype(float)
    mean = np.bincount(where, value[known], len(wanted)) / np.maximum(pairs, 1)
    return Evidence(mean, pairs)
