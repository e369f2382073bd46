"""How near sentences come to others: BLEU-4 of a corpus (Papineni et al. 2002) and the mean ROUGE-L (Lin 2004) of pairs of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

ORDER = 4
WEIGHT = 1.2  # of recall in ROUGE-L's F measure, as in Lin's paper and the usual captioning scorers


def words_of(text: str) -> list[str]:
    """Lower case words."""
    return re.findall(r"[a-z0-9']+", text.lower())


def bleu(told: Sequence[str], true: Sequence[str]) -> float:
    """BLEU-4 of a corpus of texts, each against one reference, 0..1; without smoothing."""
    hits, counts, mine, theirs = [0] * ORDER, [0] * ORDER, 0, 0
    for one, other in zip(told, true, strict=True):
        a, b = words_of(one), words_of(other)
        mine, theirs = mine + len(a), theirs + len(b)
        for order in range(1, ORDER + 1):
            found, known = _grams(a, order), _grams(b, order)
            hits[order - 1] += sum((found & known).values())
            counts[order - 1] += sum(found.values())
    if not all(hits):
        return 0.0
    brevity = min(0.0, 1 - theirs / mine)
    return math.exp(brevity + sum(math.log(hit / count) for hit, count in zip(hits, counts, strict=True)) / ORDER)


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + order]) for start in range(len(words) - order + 1))


def rouge(told: str, true: str) -> float:
    """ROUGE-L of a text against a reference, 0..1: F of the longest common subsequence of words."""
    a, b = words_of(told), words_of(true)
    common = _longest(a, b)
    if not common:
        return 0.0
    precision, recall = common / len(a), common / len(b)
    return (1 + WEIGHT**2) * precision * recall / (recall + WEIGHT**2 * precision)


def _longest(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for word in a:
        before = 0
        for place, other in enumerate(b, start=1):
            before, row[place] = row[place], before + 1 if word == other else max(row[place], row[place - 1])
    return row[-1]
