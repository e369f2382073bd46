"""Runs scenarios and keeps what they measured with the tools' cards."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from deskhand.bench.tools.base import Scenario, World, defined
from deskhand.bench.tools.desk import Desk
from deskhand.errors import DeskhandError
from deskhand.etp.card import UNITS
from deskhand.etp.registry import Registry
from deskhand.tools.validated import kept_results, validation_file

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Row:
    """One scenario that was run; ``seconds`` of processor time, ``problem`` is why there is no value."""

    tool: str
    scenario: str
    situation: str
    value: float | None
    unit: str
    bar: str
    passed: bool
    seconds: float
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return dict(self.__dict__)


def all_scenarios() -> list[Scenario]:
    """Every scenario of the package, by unit."""
    for units in UNITS.values():
        for unit in units:
            if find_spec(f"deskhand.bench.tools.{unit}") is not None:
                import_module(f"deskhand.bench.tools.{unit}")
    return defined()


def run(scenarios: Sequence[Scenario], registry: Registry, told: Callable[[str], None] = lambda text: None) -> Iterator[Row]:
    """Run scenarios, those that share a desk one after the other; rows come as they end."""
    shared: dict[World, list[Scenario]] = {}
    for item in scenarios:
        if not item.changes:
            shared.setdefault(item.world, []).append(item)
    for world, group in shared.items():
        yield from _on_one_desk(world, group, registry, told)
    for item in scenarios:
        if item.changes:
            yield from _on_one_desk(item.world, [item], registry, told)


def _on_one_desk(world: World, group: Sequence[Scenario], registry: Registry, told: Callable[[str], None]) -> Iterator[Row]:
    with Desk(world(), registry) as desk:
        for item in group:
            told(f"{item.tool}: {item.name}")
            yield _measured(item, desk)


def _measured(item: Scenario, desk: Desk) -> Row:
    begun = time.process_time()
    desk.begin()
    try:
        measured = item.run(desk)
    except Exception as error:  # whatever a tool or a scenario does wrong, the others are measured
        if not isinstance(error, DeskhandError):
            log.exception("scenario %s of %s", item.name, item.tool)
        problem = f"{type(error).__name__}: {error}" if not isinstance(error, DeskhandError) else f"{error.code}: {error}"
        return Row(item.tool, item.name, item.situation, None, "", "", False, time.process_time() - begun, problem)
    value = float(measured.value)
    return Row(item.tool, item.name, item.situation, value, measured.unit, measured.bar, bool(measured.passed), time.process_time() - begun)


def write(rows: Sequence[Row], registry: Registry) -> None:
    """Keep results for the cards; those of scenarios that were not run stay, those of scenarios that are no more go.

    Raises:
        DeskhandError: ``config_error`` when a file cannot be written.
    """
    known = {(item.tool, item.name) for item in all_scenarios()}
    for group in dict.fromkeys(registry.get(row.tool).card.group for row in rows):
        kept = kept_results(group)
        for row in rows:
            if registry.get(row.tool).card.group == group:
                value = None if row.value is None else round(row.value, 4)
                kept.setdefault(row.tool, {})[row.scenario] = {"passed": row.passed, "measure": f"{row.unit} {row.bar}".strip(), "value": value}
        left = {tool: {name: entry for name, entry in sorted(entries.items()) if (tool, name) in known} for tool, entries in sorted(kept.items())}
        file = validation_file(group)
        try:
            file.write_text(json.dumps({tool: entries for tool, entries in left.items() if entries}, indent=1) + "\n")
        except OSError as error:
            raise DeskhandError("config_error", f"{file} cannot be written: {error}.") from error
