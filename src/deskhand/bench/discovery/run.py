"""Measures the search: how often the right tool comes first, and how often it is among the first five."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry
from deskhand.types.yaml_file import read_yaml

QUERIES = Path(__file__).with_name("queries.yaml")
USERS = Path(__file__).with_name("users.yaml")
PERSONS = Path(__file__).with_name("persons.yaml")
HALVES = ("dev", "test")
SETS = ("dev", "test", "users", "persons_dev", "persons_held_4")
HELD = ("test", "persons_held_4")
"""Of these nobody sees what was missed."""
FIRST, AMONG_FIVE = 0.85, 0.97
"""Bars of the held sets."""


@dataclass(frozen=True)
class Query:
    """A situation in somebody's words, and the tools that are right."""

    text: str
    tools: tuple[str, ...]
    part: str


@dataclass(frozen=True)
class SearchQuality:
    """How well a set of queries was answered; ``missed`` are those whose right tool did not come first, with what did; ``cost`` is CPU time a search [ms]."""

    part: str
    queries: int
    first: float
    among_five: float
    missed: tuple[tuple[str, str, tuple[str, ...]], ...]
    cost: float = 0.0

    @property
    def good(self) -> bool:
        """Within the bars."""
        return self.first >= FIRST and self.among_five >= AMONG_FIVE

    def to_json(self) -> dict[str, Any]:
        """As plain data; the missed queries of the held sets are not told, so that nobody tunes on them."""
        told = {"set": self.part, "queries": self.queries, "first": round(self.first, 4), "among_five": round(self.among_five, 4), "ms": round(self.cost, 3)}
        return told if self.part in HELD else {**told, "missed": [{"query": text, "tool": tool, "found": hits} for text, tool, hits in self.missed]}


def load_queries() -> list[Query]:
    """All queries. Of :data:`QUERIES`, the first, third, … of each tool is in the set ``dev``, the others in ``test``; :data:`USERS` and the parts of
    :data:`PERSONS` are sets of their own.
    """
    queries = []
    for file, parts in ((QUERIES, HALVES), (USERS, ("users",))):
        for tool, texts in read_yaml(file).items():
            for index, text in enumerate(texts):
                words, _, other = str(text).partition(" | ")
                queries.append(Query(words, (tool, *other.split()), parts[index % len(parts)]))
    for half, persons in read_yaml(PERSONS).items():
        for text in (text for texts in persons.values() for text in texts):
            words, _, tools = text.partition(" | ")
            queries.append(Query(words, tuple(tools.split()), f"persons_{half}"))
    return queries


def measure(registry: Registry, queries: Sequence[Query], part: str) -> SearchQuality:
    """Search for every query of a set whose tools there are.

    Raises:
        DeskhandError: ``config_error`` when no query is left.
    """
    first = five = 0
    missed = []
    known = {card.name for card in registry.cards()}
    asked = [query for query in queries if query.part == part and known & set(query.tools)]
    if not asked:
        raise DeskhandError("config_error", f"there is no query of the set {part!r} for any tool of this registry.")
    costs = []
    for query in asked:
        begun = time.thread_time()
        hits = [hit.name for hit in registry.search(query.text, limit=5)]
        costs.append(1000 * (time.thread_time() - begun))
        first += bool(hits) and hits[0] in query.tools
        five += bool(set(hits) & set(query.tools))
        if not hits or hits[0] not in query.tools:
            missed.append((query.text, query.tools[0], tuple(hits)))
    return SearchQuality(part, len(asked), first / len(asked), five / len(asked), tuple(missed), statistics.median(costs))
