"""Measures the search: how often the right tool comes first, and how often it is among the first five."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry

QUERIES = Path(__file__).with_name("queries.yaml")
USERS = Path(__file__).with_name("users.yaml")
HALVES = ("dev", "test")
FIRST, AMONG_FIVE = 0.85, 0.97
"""Bars of the half ``test``."""


@dataclass(frozen=True)
class Query:
    """A situation in somebody's words, and the tools that are right."""

    text: str
    tools: tuple[str, ...]
    half: str


@dataclass(frozen=True)
class Found:
    """How well a set of queries was answered; ``missed`` are those whose right tool did not come first, with what did."""

    half: str
    queries: int
    first: float
    among_five: float
    missed: tuple[tuple[str, str, tuple[str, ...]], ...]

    @property
    def good(self) -> bool:
        """Within the bars."""
        return self.first >= FIRST and self.among_five >= AMONG_FIVE

    def to_json(self) -> dict[str, Any]:
        """As plain data; the missed queries are told of the half ``dev`` only, so that nobody tunes on the other."""
        told = {"half": self.half, "queries": self.queries, "first": round(self.first, 4), "among_five": round(self.among_five, 4)}
        return told if self.half == "test" else {**told, "missed": [{"query": text, "tool": tool, "found": hits} for text, tool, hits in self.missed]}


def load_queries() -> list[Query]:
    """All queries. Of :data:`QUERIES`, the first, third, … of each tool is in the half ``dev``, the others in ``test``; all of :data:`USERS` are in ``dev``."""
    queries = []
    for file, halves in ((QUERIES, HALVES), (USERS, HALVES[:1])):
        for tool, texts in yaml.safe_load(file.read_text()).items():
            for index, text in enumerate(texts):
                words, _, other = str(text).partition(" | ")
                queries.append(Query(words, (tool, *other.split()), halves[index % len(halves)]))
    return queries


def measure(registry: Registry, queries: Sequence[Query], half: str) -> Found:
    """Search for every query of a half whose tools there are.

    Raises:
        DeskhandError: ``config_error`` when no query is left.
    """
    first = five = 0
    missed = []
    known = {card.name for card in registry.cards()}
    asked = [query for query in queries if query.half == half and known & set(query.tools)]
    if not asked:
        raise DeskhandError("config_error", f"there is no query of the half {half!r} for any tool of this registry.")
    for query in asked:
        hits = [hit.name for hit in registry.search(query.text, limit=5)]
        first += bool(hits) and hits[0] in query.tools
        five += bool(set(hits) & set(query.tools))
        if not hits or hits[0] not in query.tools:
            missed.append((query.text, query.tools[0], tuple(hits)))
    return Found(half, len(asked), first / len(asked), five / len(asked), tuple(missed))
