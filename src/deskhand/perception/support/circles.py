"""Nothing is carried by what it carries itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

K = TypeVar("K")


def without_circles(carriers: Mapping[K, Sequence[K]], lows: Mapping[K, float]) -> dict[K, list[K]]:
    """``carriers`` of each object without those that it carries, itself or through others: of a circle the lowest, by ``lows`` [m], stands on none of it."""
    result = {one: list(below) for one, below in carriers.items()}
    for one in sorted(result, key=lambda key: lows[key]):
        result[one] = [below for below in result[one] if not _rests_on(below, one, result)]
    return result


def _rests_on(upper: K, lower: K, carriers: Mapping[K, Sequence[K]]) -> bool:
    """Whether one is the other or is carried by it, directly or through others."""
    seen, ask = set(), [upper]
    while ask:
        one = ask.pop()
        if one == lower:
            return True
        if one not in seen:
            seen.add(one)
            ask += carriers.get(one, ())
    return False
