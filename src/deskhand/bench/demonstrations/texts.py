"""How near sentences come to others: BLEU-4 of a corpus (Papineni et al. 2002) the mean ROUGE-L (Lin 2004) and METEOR of pairs of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

ORDER = 4
RECALL, PENALTY, POWER = 9.0, 0.5, 3  # METEOR: weight of recall over precision, and the most and the power of what chunks cost (Banerjee and Lavie 2005)
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


def meteor(told: str, true: str) -> float:
    """METEOR of a text against a reference, 0..1, as Banerjee and Lavie 2005 with their module of equal words alone: no stems and no synonyms. Words are
    aligned by the longest run that both have left, again and again, which keeps chunks few.
    """
    a, b = words_of(told), words_of(true)
    free_a, free_b = [True] * len(a), [True] * len(b)
    matches = chunks = 0
    while (run := _longest_run(a, b, free_a, free_b)) is not None:
        first, second, length = run
        free_a[first : first + length] = free_b[second : second + length] = [False] * length
        matches, chunks = matches + length, chunks + 1
    if not matches:
        return 0.0
    precision, recall = matches / len(a), matches / len(b)
    mean = (1 + RECALL) * precision * recall / (recall + RECALL * precision)
    return mean * (1 - PENALTY * (chunks / matches) ** POWER)


def _longest_run(a: Sequence[str], b: Sequence[str], free_a: Sequence[bool], free_b: Sequence[bool]) -> tuple[int, int, int] | None:
    """(start in a, start in b, length) of the longest run of equal words that are free in both; the earliest of several."""
    best, before = (0, 0, 0), [0] * (len(b) + 1)
    for i, word in enumerate(a):
        row = [0] * (len(b) + 1)
        for j, other in enumerate(b):
            if word == other and free_a[i] and free_b[j]:
                row[j + 1] = before[j] + 1
                if row[j + 1] > best[2]:
                    best = (i - row[j + 1] + 1, j - row[j + 1] + 1, row[j + 1])
        before = row
    return best if best[2] else None
