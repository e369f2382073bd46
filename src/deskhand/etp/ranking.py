"""How tools are ranked for what somebody says: by the words of a card's passages, and by their meaning where there is a model for it.

A card is a set of passages: its name, its summary, the situations that call for it, its examples, and how people ask for it. A tool counts as much as its
best passages in the mean; beside them counts how likely it is meant by what was learned from all passages (classifier.py).
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.etp.card import Card
from deskhand.etp.meaning import SentenceModel
from deskhand.etp.words import near, stems

log = logging.getLogger(__name__)

_SATURATION, _LENGTH = 1.2, 0.4  # k1 and b of BM25 (Robertson and Zaragoza 2009)
_NEAR_WEIGHT = 0.25  # of words that ask for the same
_BEST_ALONE, _BEST_WORDS, _BEST_MEANT = 3, 2, 4  # passages of a tool that count: by words where only they do, by words, by meaning
_WORDS = 0.04  # what a point of BM25 counts beside a cosine
_SAID = 0.88  # what words of a sentence that people say count beside those of the card itself, where only words count
_LEARNED, _LEAST = 0.12, 6.0  # what a factor of e in the classifier's shares counts beside a cosine; factors that a tool is behind the likeliest, at most
_MEANT = 0.27
"""Below it a sentence means something else: cosine of a tool's passages."""

Scores = npt.NDArray[np.float64]


def passages(card: Card) -> list[str]:
    """What a card says of when it is wanted, each text by itself."""
    arguments = " ".join(card.input_schema.get("properties", {})).replace("_", " ")
    cases = [part.strip() for part in re.split(r"[;:]", card.when_to_use)]
    texts = [card.name.replace("_", " "), card.summary, *cases, *(example.situation for example in card.examples), *card.asked]
    texts += [card.words, f"{card.unit.replace('_', ' ')} {arguments}"]
    return [text for text in dict.fromkeys(texts) if len(text) > 2]


class Ranking:
    """Scores of a fixed set of cards. Without a ``model``, or when that does not work, only words count; :attr:`by` says what counts."""

    def __init__(self, cards: Sequence[Card], model: SentenceModel | None = None, why_not: str = "") -> None:
        self._names = [card.name for card in cards]
        texts = [passages(card) for card in cards]
        ends = np.cumsum([0, *(len(each) for each in texts)])
        columns = np.arange(max(_BEST_MEANT, max((len(each) for each in texts), default=0)))
        # The passages of each tool, and then one that is none.
        self._places = np.where(columns < np.diff(ends)[:, None], ends[:-1, None] + columns, ends[-1])
        flat = [text for each in texts for text in each]
        self._words = _Words([Counter(stems(text)) for text in flat])
        self._alone = np.array([_SAID if text in card.asked else 1.0 for card, each in zip(cards, texts, strict=True) for text in each])
        self._model: SentenceModel | None = None
        self._vectors = np.zeros((0, 0), np.float32)
        self.by = f"words only: {why_not or 'no sentence model was asked for'}"
        if model and flat:
            try:
                self._vectors = model.passages(flat)
                self._model, self.by = model, f"words and meaning (sentence model {model.name})"
            except DeskhandError as error:
                self.by = f"words only: {error.message}"
                log.warning("tools are found by words only: %s %s", error.message, error.hint)

    def scores(self, text: str) -> dict[str, float]:
        """Tool -> how well it fits, above 0, for those that fit at all."""
        query = stems(text)
        each = self._words.scores(query)
        words = self._per_tool(each, _BEST_WORDS) if self._model else self._per_tool(self._alone * each, _BEST_ALONE)
        if self._model is None or not re.search(r"\w", text):
            return {name: float(score) for name, score in zip(self._names, words, strict=True) if score > 0}
        vector = self._model.query(text)
        meant = self._per_tool(self._vectors @ vector, _BEST_MEANT)
        both = meant + _WORDS * words
        both += self._learned(vector, both)
        return {
            name: float(score) for name, score, word, sense in zip(self._names, both, words, meant, strict=True) if score > 0 and (word > 0 or sense > _MEANT)
        }

    def _learned(self, vector: npt.NDArray[np.floating], fit: Scores) -> Scores:
        """(tools,) what is taken off each, 0 or less, for being less likely by the classifier than another; one that it does not know counts as the one that
        it knows and that fits as well.
        """
        classifier = self._model.classifier if self._model else None
        shares = classifier.log_shares(vector, self._names) if classifier else np.full(len(self._names), np.nan)
        known = np.flatnonzero(np.isfinite(shares))
        if not len(known):
            return np.zeros(len(self._names))
        alike = known[np.abs(fit[:, None] - fit[known]).argmin(axis=1)]
        shares = np.where(np.isfinite(shares), shares, shares[alike])
        return np.asarray(_LEARNED * np.maximum(shares - shares.max(), -_LEAST))

    def _per_tool(self, each: npt.NDArray[np.floating], best: int) -> Scores:
        """(tools,) from one score a passage: the mean of the ``best`` of each."""
        top = np.partition(np.append(each, -np.inf)[self._places], -best, axis=1)[:, -best:]
        there = np.isfinite(top)
        return np.asarray(np.where(there, top, 0.0).sum(axis=1) / np.maximum(1, there.sum(axis=1)))


class _Words:
    """BM25 over passages; words that ask for the same count a little."""

    def __init__(self, counts: Sequence[Counter[str]], nearby: Callable[[str], frozenset[str]] = near) -> None:
        self._number, self._nearby = len(counts), nearby
        lengths = np.array([sum(count.values()) for count in counts], float)
        rest = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / max(1.0, float(lengths.mean()) if len(lengths) else 1.0))
        self._holding: dict[str, tuple[list[int], list[float]]] = {}
        for index, count in enumerate(counts):
            for word, times in count.items():
                where, weights = self._holding.setdefault(word, ([], []))
                where.append(index)
                weights.append(times * (_SATURATION + 1) / (times + rest[index]))

    def scores(self, query: Sequence[str]) -> Scores:
        """(passages,)."""
        weights: dict[str, float] = {}
        for word in dict.fromkeys(query):
            weights[word] = 1.0
            for other in self._nearby(word):
                weights.setdefault(other, _NEAR_WEIGHT)
        scores = np.zeros(self._number)
        for word, weight in weights.items():
            where, saturated = self._holding.get(word, ([], []))
            rarity = math.log(1 + (self._number - len(where) + 0.5) / (len(where) + 0.5))
            scores[where] += weight * rarity * np.array(saturated)
        return scores
