"""Rates, and the difference of two rates over the same cases, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z = 1.959964
"""Of a normal distribution: 95 % lie within."""


def wilson(good: int, count: int, z: float = Z) -> tuple[float, float]:
    """95 % interval of a proportion (Wilson 1927)."""
    share, spread = good / count, z * z / count
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return max(0.0, round(centre - half, 4)), min(1.0, round(centre + half, 4))


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p of McNemar's exact test: cases that only one of two did, if each were as likely to be either's (binomial, p = 1/2)."""
    count, fewer = only_first + only_second, min(only_first, only_second)
    if count == 0:
        return 1.0
    ways = sum(math.comb(count, k) for k in range(fewer + 1))
    return float(min(1.0, 2 * ways / 2**count))


def paired_interval(both: int, only_first: int, only_second: int, neither: int, z: float = Z) -> tuple[float, float]:
    """95 % interval of the second rate less the first over the same cases.

    Method 10 of Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired data", Statistics in Medicine 17
    (1998): Wilson's intervals of the two rates, put together with the correlation of the pairs.
    """
    count = both + only_first + only_second + neither
    first, second = (both + only_first) / count, (both + only_second) / count
    low_1, high_1 = _wilson(first, count, z)
    low_2, high_2 = _wilson(second, count, z)
    phi = _correlation(both, only_first, only_second, neither, count)
    down, up = (second - low_2, high_1 - first), (high_2 - second, first - low_1)
    difference = second - first
    low = difference - math.sqrt(max(0.0, down[0] ** 2 - 2 * phi * down[0] * down[1] + down[1] ** 2))
    high = difference + math.sqrt(max(0.0, up[0] ** 2 - 2 * phi * up[0] * up[1] + up[1] ** 2))
    return max(-1.0, low), min(1.0, high)


def _wilson(share: float, count: int, z: float) -> tuple[float, float]:
    spread = z * z / count
    centre, half = share + spread / 2, z * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return (centre - half) / (1 + spread), (centre + half) / (1 + spread)


def _correlation(both: int, only_first: int, only_second: int, neither: int, count: int) -> float:
    """Phi of the table, with Newcombe's correction for continuity where it is positive; 0 where a margin is empty."""
    margins = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if margins == 0:
        return 0.0
    product = both * neither - only_first * only_second
    top = max(product - count / 2, 0.0) if product > 0 else float(product)
    return top / math.sqrt(margins)


@dataclass(frozen=True)
class Comparison:
    """Two campaigns over the same cases. Rates and intervals are shares; ``p`` is McNemar's; ``difference`` is the second less the first."""

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def pairs(self) -> int:
        """Cases that both have."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def goods(self) -> tuple[int, int]:
        """Successes of the first and of the second."""
        return self.both + self.only_first, self.both + self.only_second

    @property
    def p(self) -> float:
        """Of McNemar's exact test."""
        return mcnemar(self.only_first, self.only_second)

    @property
    def difference(self) -> float:
        """Second rate less the first."""
        return (self.only_second - self.only_first) / self.pairs

    @property
    def interval(self) -> tuple[float, float]:
        """95 % of the difference."""
        return paired_interval(self.both, self.only_first, self.only_second, self.neither)

    @property
    def is_change(self) -> bool:
        """Whether chance alone would seldom (1 in 20) make so large a difference."""
        return self.p < 0.05

    def sentence(self) -> str:
        """What is to be made of it."""
        low, high = (100 * each for each in self.interval)
        told = f"({100 * self.difference:+.1f} points, 95 % interval {low:+.1f} to {high:+.1f}; p = {self.p:.3g} over {self.pairs} pairs)"
        if not self.is_change:
            return f"No change is shown: the difference may be chance {told}."
        better, worse = (self.second, self.first) if self.difference > 0 else (self.first, self.second)
        return f"This is a change: {better} succeeds more often than {worse} {told}."

    def to_json(self) -> dict[str, object]:
        """See docs/campaigns.md."""
        rates = [
            {"name": name, "successes": good, "rate": round(good / self.pairs, 4), "interval": list(wilson(good, self.pairs))}
            for name, good in zip((self.first, self.second), self.goods, strict=True)
        ]
        table = {"both": self.both, "only_first": self.only_first, "only_second": self.only_second, "neither": self.neither}
        return {
            "pairs": self.pairs,
            "rates": rates,
            "table": table,
            "difference": round(self.difference, 4),
            "interval": [round(each, 4) for each in self.interval],
            "p": self.p,
            "change": self.is_change,
            "sentence": self.sentence(),
        }


def compare(first: str, second: str, pairs: Sequence[tuple[bool, bool]]) -> Comparison:
    """Of the success of each case in both campaigns."""
    counts = [sum(pair == (a, b) for pair in pairs) for a, b in ((True, True), (True, False), (False, True), (False, False))]
    return Comparison(first, second, *counts)
