"""Runs scenarios and keeps what they measured with the tools' cards."""

from __future__ import annotations

import json
import logging
import multiprocessing
import signal
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.bench.tools.base import Scenario, World, defined
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.errors import DeskhandError
from deskhand.etp.card import UNITS
from deskhand.etp.registry import Registry
from deskhand.sim.spec import WorldSpec
from deskhand.tools.base import load_tools
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
    """Every scenario, by unit: of this package, and of others by the entry points of the group ``deskhand.scenarios``, modules that define some."""
    for units in UNITS.values():
        for unit in units:
            if find_spec(f"deskhand.bench.tools.{unit}") is not None:
                import_module(f"deskhand.bench.tools.{unit}")
    _load_others()
    return defined()


@cache
def _load_others() -> None:
    for point in entry_points(group="deskhand.scenarios"):
        try:
            point.load()
        except Exception as error:  # a package of others may fail in any way; it must not take the rest along
            log.warning("scenarios %s = %s were left out: %s: %s", point.name, point.value, type(error).__name__, error)


def run(
    scenarios: Sequence[Scenario], registry: Registry, told: Callable[[str], None] = lambda text: None, jobs: int = 1, seed: int = 0
) -> Generator[Row, None, None]:
    """Run scenarios, each on a desk of its own; rows come as they end. ``told`` hears what is run next, when ``jobs`` is 1.

    What stands where, the noise of the pictures, and what else a scenario draws, comes from ``seed`` (0 or more) and the scenario's name alone: the order of
    the scenarios, and which of them are run, changes nothing.

    More ``jobs`` are processes side by side, with the tools of :func:`deskhand.tools.base.load_tools`; they end when the iterator is closed.
    """
    if jobs == 1:
        for item in scenarios:
            told(f"{item.tool}: {item.name}")
            yield _measured(item, registry, seed)
        return
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_left_to_the_parent)
    try:
        for future in as_completed([pool.submit(_measured_by_name, item.tool, item.name, seed) for item in scenarios]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():  # interrupted: what runs could take minutes
            process.terminate()


def drawn_world(world: World, seed: int) -> WorldSpec:
    """The desk of a seed."""
    return world(np.random.default_rng([seed, crc32(world.__name__.encode())]))


def own_desk(item: Scenario, registry: Registry, seed: int) -> ScenarioDesk:
    """A desk of its own for a scenario, with the objects of the seed and noise of its own in the pictures."""
    world = drawn_world(item.world, seed)
    noise = int(np.random.default_rng([seed, crc32(f"{item.tool} {item.name}".encode())]).integers(2**31))
    return ScenarioDesk(replace(world, seed=noise), registry, seed)


def drawn_share(scenarios: Sequence[Scenario], share: float, seed: int) -> list[Scenario]:
    """A share (0 to 1) of the scenarios, drawn, one at least; in their order."""
    count = min(len(scenarios), max(1, round(share * len(scenarios))))
    return [scenarios[int(index)] for index in sorted(np.random.default_rng([seed, 1]).permutation(len(scenarios))[:count])]


def _left_to_the_parent() -> None:
    """Ctrl-C comes to all processes of a terminal: the parent ends these once it has written what it has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _measured_by_name(tool: str, name: str, seed: int) -> Row:
    """In a process of its own."""
    return _measured(next(item for item in all_scenarios() if (item.tool, item.name) == (tool, name)), _registry(), seed)


@cache
def _registry() -> Registry:
    return load_tools()[0]


def _measured(item: Scenario, registry: Registry, seed: int) -> Row:
    begun = time.process_time()
    try:
        with own_desk(item, registry, seed) as desk:
            desk.begin(f"{item.tool} {item.name}")
            measured = item.run(desk)
    except Exception as error:  # whatever a tool or a scenario does wrong, the others are measured
        if not isinstance(error, DeskhandError):
            log.exception("scenario %s of %s", item.name, item.tool)
        problem = f"{type(error).__name__}: {error}" if not isinstance(error, DeskhandError) else f"{error.code}: {error}"
        return Row(item.tool, item.name, item.situation, None, "", "", False, time.process_time() - begun, problem)
    value = float(measured.value)
    return Row(item.tool, item.name, item.situation, value, measured.unit, measured.bar, bool(measured.passed), time.process_time() - begun)


def rows_of(file: Path | None, seed: int) -> list[Row]:
    """What ``tools validate --json FILE`` wrote of a seed; nothing where the file is not there yet.

    Raises:
        DeskhandError: ``invalid_input`` for no file, one that is none of these, or one of another seed.
    """
    if file is None:
        raise DeskhandError("invalid_input", "--resume goes on with what --json FILE has: name the file.")
    if not file.exists():
        return []
    try:
        told = json.loads(file.read_text())
        rows = [Row(**row) for entry in told["tools"] for row in entry["scenarios"]]
        of = int(told["seed"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DeskhandError("invalid_input", f"{file} is not what tools validate --json writes: {error}.") from error
    if of != seed:
        raise DeskhandError("invalid_input", f"{file} was measured with seed {of}, not {seed}: name another file, or --seed {of}.")
    return rows


def write(rows: Sequence[Row], registry: Registry, seed: int = 0) -> None:
    """Keep results, of the desks of ``seed``, for the cards; those of scenarios that were not run stay, those of scenarios that are no more go.

    Raises:
        DeskhandError: ``config_error`` when a file cannot be written.
    """
    known = {(item.tool, item.name) for item in all_scenarios()}
    for group in dict.fromkeys(registry.get(row.tool).card.group for row in rows):
        kept = kept_results(group)
        for row in rows:
            if registry.get(row.tool).card.group == group:
                value = None if row.value is None else round(row.value, 4)
                kept.setdefault(row.tool, {})[row.scenario] = {"passed": row.passed, "measure": f"{row.unit} {row.bar}".strip(), "value": value, "seed": seed}
        left = {tool: {name: entry for name, entry in sorted(entries.items()) if (tool, name) in known} for tool, entries in sorted(kept.items())}
        file = validation_file(group)
        try:
            file.write_text(json.dumps({tool: entries for tool, entries in left.items() if entries}, indent=1) + "\n")
        except OSError as error:
            raise DeskhandError("config_error", f"{file} cannot be written: {error}.") from error
