"""Makes a set of items from seeds, so many of each kind, every family in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

from deskhand.bench.toolbench import need
from deskhand.bench.toolbench.expert import DEV_SEEDS
from deskhand.bench.toolbench.families import FAMILIES
from deskhand.bench.toolbench.items import Item, add_items, check_kind, read_items
from deskhand.bench.toolbench.making import make_chain, make_execution, make_selection
from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry

MAKERS = {"selection": make_selection, "execution": make_execution, "chain": make_chain}
_SEEDS = 40  # tried at most for each item that is wanted


def make(registry: Registry, folder: Path, kinds: Sequence[str], number: int, seed: int, told: Callable[[str], None] = lambda text: None) -> int:
    """Write ``number`` items of each kind into a folder, beside those that it has, which count; from ``seed`` on. Answers how many it has now.

    Raises:
        DeskhandError: ``invalid_input`` for a kind that there is not, or a development seed that would leave development.
    """
    for kind in kinds:
        check_kind(kind)
    known = read_items(folder) if (folder / "items.jsonl").exists() else []
    for kind in kinds:
        mine = [item for item in known if item.kind == kind]
        if kind == "need":
            for needed in (True, False):  # exactly as many of either
                have = [item for item in mine if item.reference["need"] is needed]
                _fill(registry, folder, _needs(registry, folder, seed, needed), have, number // 2, told)
        else:
            _fill(registry, folder, _others(registry, folder, kind, seed), mine, number, told)
    return len(read_items(folder))


Try = tuple[str, Callable[[], Item | None]]
"""An item's id, and what makes it."""


def _fill(registry: Registry, folder: Path, tries: Iterator[Try], have: list[Item], number: int, told: Callable[[str], None]) -> None:
    ids = {item.id for item in have}
    for _ in range(_SEEDS * number):
        if len(ids) >= number:
            return
        name, made = next(tries)
        if name in ids:
            continue
        try:
            item = made()
        except DeskhandError as error:  # a desk on which the expert cannot begin makes no item
            told(f"{name}: none: {error.message}")
            continue
        if item is None:
            told(f"{name}: none")
            continue
        add_items(folder, [item])
        ids.add(item.id)
        told(f"{name}: {len(ids)} of {number}")


def _needs(registry: Registry, folder: Path, first: int, needed: bool) -> Iterator[Try]:
    for seed in count(first):
        _check_seed(first, seed)
        for family in need.FAMILIES:
            name = family.__name__
            yield f"need_{name}_{'yes' if needed else 'no'}_{seed}", lambda name=name, seed=seed: need.make_need(registry, name, seed, needed, folder)  # type: ignore[misc]


def _others(registry: Registry, folder: Path, kind: str, first: int) -> Iterator[Try]:
    for seed in count(first):
        _check_seed(first, seed)
        for family in FAMILIES:
            name = family.__name__
            yield f"{kind}_{name}_{seed}", lambda name=name, seed=seed: MAKERS[kind](registry, name, seed, folder)  # type: ignore[misc]


def _check_seed(first: int, seed: int) -> None:
    if first < DEV_SEEDS <= seed:
        raise DeskhandError("invalid_input", f"development has the seeds 0 to {DEV_SEEDS - 1}; begin with a smaller one, or with {DEV_SEEDS}.")
