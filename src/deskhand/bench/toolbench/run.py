"""Asks an answerer for every item, and holds its answers against the labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from deskhand.bench.toolbench import metrics
from deskhand.bench.toolbench.items import KINDS, Item
from deskhand.bench.toolbench.judge import judge
from deskhand.etp.registry import Registry

VERSION = 1
TRIVIAL = ("always yes", "always no", "first candidate", "all candidates", "random")


class Answerer(Protocol):
    """Whoever is measured. Each method answers with the JSON that prompts.py asks for; what does not fit counts as wrong."""

    name: str

    def need(self, item: Item) -> Mapping[str, Any]:
        """``{"need": bool}``"""
        ...

    def selection(self, item: Item) -> Mapping[str, Any]:
        """``{"tool": name}``"""
        ...

    def call(self, item: Item) -> Mapping[str, Any]:
        """``{"arguments": {…}}`` of the designated tool."""
        ...

    def act(self, item: Item, history: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """``{"action": {"tool", "arguments"}}`` after the history, which ends with the designated call and its result."""
        ...

    def chain(self, item: Item) -> Mapping[str, Any]:
        """``{"tools": [names]}``"""
        ...


class Trivial:
    """Answers without looking, in one of the ways of :data:`TRIVIAL`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._random = np.random.default_rng(0)

    def need(self, item: Item) -> Mapping[str, Any]:
        """See Answerer."""
        return {"need": bool(self._random.integers(2)) if self.name == "random" else self.name != "always no"}

    def selection(self, item: Item) -> Mapping[str, Any]:
        """See Answerer."""
        return {"tool": str(self._random.choice(item.candidates)) if self.name == "random" else item.candidates[0]}

    def call(self, item: Item) -> Mapping[str, Any]:
        """See Answerer."""
        return {"arguments": {}}

    def act(self, item: Item, history: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """See Answerer."""
        return {"action": {"tool": self.selection(item)["tool"], "arguments": {}}}

    def chain(self, item: Item) -> Mapping[str, Any]:
        """See Answerer."""
        if self.name == "all candidates":
            return {"tools": list(item.candidates)}
        return {"tools": [self.selection(item)["tool"]]}


def shuffled(items: Sequence[Item], seed: int = 1) -> list[Item]:
    """The items with their candidates in another order."""
    random = np.random.default_rng(seed)
    return [replace(item, candidates=tuple(item.candidates[int(index)] for index in random.permutation(len(item.candidates)))) for item in items]


def run(registry: Registry, items: Sequence[Item], answerer: Answerer, told: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """All answers and what they come to."""
    rows = []
    for number, item in enumerate(items):
        rows.append(_asked(registry, item, answerer))
        told(f"{number + 1} of {len(items)}: {item.id} {'right' if rows[-1]['right'] else 'wrong'}")
    return {"bench": "toolbench", "version": VERSION, "answerer": answerer.name, "items": rows, "metrics": summary(items, rows)}


def _asked(registry: Registry, item: Item, answerer: Answerer) -> dict[str, Any]:
    row: dict[str, Any] = {"id": item.id, "kind": item.kind}
    wanted = item.reference
    if item.kind == "execution":
        arguments = _mapping(answerer.call(item).get("arguments"))
        history = [*item.history, {"tool": wanted["tool"], "arguments": wanted["arguments"], "result": wanted["output"]}]
        action = _mapping(answerer.act(item, history).get("action"))
        judged = judge(registry, item, arguments, action)
        right = judged.valid and judged.match
        return row | {"answer": {"arguments": arguments, "action": action}, **vars(judged), "right": right}
    answer = dict(getattr(answerer, item.kind)(item))
    if item.kind == "need":
        right = answer.get("need") is wanted["need"]
    elif item.kind == "selection":
        right = answer.get("tool") == wanted["tool"]
    else:
        right = set(_names(answer)) == set(wanted["tools"])
    return row | {"answer": answer, "right": right}


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _names(answer: Mapping[str, Any]) -> list[str]:
    names = answer.get("tools")
    return [str(name) for name in names] if isinstance(names, list) else []


def summary(items: Sequence[Item], rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """The published measures of each kind that there are items of."""
    pairs = {kind: [(item, row) for item, row in zip(items, rows, strict=True) if item.kind == kind] for kind in KINDS}
    found: dict[str, dict[str, float]] = {}
    if needs := pairs["need"]:
        found["need"] = metrics.of_need([(row["answer"].get("need") is True, bool(item.reference["need"])) for item, row in needs])
    if selections := pairs["selection"]:
        found["selection"] = {"csr": metrics.share([row["right"] for _, row in selections])}
    if executions := [row for _, row in pairs["execution"]]:
        measured = {"isr": "valid", "amr": "match", "tusr": "right", "grounded": "grounded"}
        found["execution"] = {name: metrics.share([row[key] for row in executions]) for name, key in measured.items()}
    if chains := pairs["chain"]:
        found["chain"] = metrics.of_chain([(_names(row["answer"]), item.reference["tools"], item.reference["before"]) for item, row in chains])
    for kind, values in found.items():
        values["items"] = len(pairs[kind])
    return found


COLUMNS = {
    "need": ("accuracy", "precision", "recall", "f1"),
    "selection": ("csr",),
    "execution": ("isr", "amr", "tusr"),
    "chain": ("accuracy", "precision", "recall", "f1", "ocr"),
}


def markdown(results: Sequence[Mapping[str, Any]]) -> str:
    """A line for each result, then the paper's."""
    lines = ["| | need acc / P / R / F1 | CSR | ISR / AMR / TUSR | chain acc / P / R / F1 / OCR | items |", "|---|---|---|---|---|---|"]
    for result in results:
        values = {kind: [result["metrics"].get(kind, {}).get(name) for name in names] for kind, names in COLUMNS.items()}
        counts = " ".join(f"{int(result['metrics'][kind]['items'])}" for kind in KINDS if kind in result["metrics"])
        lines.append(_line(result["answerer"], values, counts))
    return "\n".join([*lines, *(_line(f"paper: {name}", rows, "100 100 100 100") for name, rows in metrics.PAPER.items())])


def _line(name: str, values: Mapping[str, Sequence[float | None]], counts: str) -> str:
    cells = [" / ".join("" if value is None else f"{value:.2f}" for value in values[kind]) for kind in KINDS]
    return f"| {name} | " + " | ".join([*cells, counts]) + " |"
