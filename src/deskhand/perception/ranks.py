"""The places of things among their like by lightness, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PLAINLY = 3.0  # of CIELAB's lightness, by which one end of a row is lighter than the other at least


def rank_of(number: int, count: int) -> str:
    """The place of one among ``count`` things, the lightest first."""
    if count < 2:
        return ""
    if number in (0, count - 1):
        end = "lightest" if number == 0 else "darkest"
        return end if count > 2 else {"lightest": "lighter", "darkest": "darker"}[end]
    return "middle" if count == 3 else f"{number + 1}. lightest"


def row_ranks(lightness: Sequence[float]) -> list[str]:
    """Of things in a row that grows darker from one end to the other: each one's rank, whatever hides some; NaN where a lightness is not seen.

    Empty words where too little is seen to tell which end is the lighter one.
    """
    values = np.asarray(lightness, dtype=float)
    seen = np.flatnonzero(np.isfinite(values))
    if len(seen) < 2:
        return [""] * len(values)
    slope = float(np.polyfit(seen, values[seen], 1)[0])
    if abs(slope) * (seen[-1] - seen[0]) < PLAINLY:
        return [""] * len(values)
    names = [rank_of(number, len(values)) for number in range(len(values))]
    return names if slope < 0 else names[::-1]
