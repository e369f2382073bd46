"""The cases as a campaign: run in processes, shards or on a cluster, taken up again, compared (docs/campaigns.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from typing import Any

from deskhand.bench.brains.desk import real_tools
from deskhand.bench.instructions.brains import liar
from deskhand.bench.instructions.cases import Case as Instruction
from deskhand.bench.instructions.cases import load_cases
from deskhand.bench.instructions.desk import SceneDesk
from deskhand.bench.instructions.run import LIARS, SECONDS, TOOLS, Item, lies, run_brain, run_case, summarise
from deskhand.etp.registry import Registry
from deskhand.trials.campaigns.campaign import Campaign, Case

SPARE = 1.25
"""So many times the lies that are wanted are told: some come out true by chance, and are no lies."""


def chosen_cases(split: str, number: int) -> list[Instruction]:
    """So many of a half (both where it is empty), spread evenly; 0 for all."""
    cases = load_cases(split)
    return [cases[index * len(cases) // number] for index in range(min(number, len(cases)))] if number else cases


def instructions_campaign(
    split: str, number: int, brain: str, judge: str, told: int, seed: int, simulated: bool, mode: str = TOOLS, seconds: float = SECONDS
) -> Campaign:
    """The cases with a brain and a judge (run.py); of the brain ``liars`` so many lies are ``told``."""
    common = {"brain": brain, "judge": judge, "simulated": simulated, "mode": mode, "timeout": seconds}
    settings = {"split": split, "cases": number, "lies": told, "seed": seed, **common}
    chosen = chosen_cases(split, number)
    if brain == LIARS:
        pairs = list(lies(chosen, seed))[: math.ceil(SPARE * told)]
        cases = [Case(f"{case.id}_{lie}", {"case": case.id, "lie": lie, **common}) for case, lie in pairs]
    else:
        cases = [Case(case.id, {"case": case.id, "lie": "", **common}) for case in chosen]
    return Campaign("bench instructions", settings, cases, run_one, summarise_results)


@cache
def _cases() -> dict[str, Instruction]:
    return {case.id: case for case in load_cases()}


@cache
def _tools() -> Registry:
    return real_tools()


def run_one(case: Case) -> dict[str, Any]:
    """One case as plain data: an :class:`Item`, and ``success``: the goal holds and the robot does not say that it failed."""
    given = case.arguments
    instruction = _cases()[given["case"]]
    if given["simulated"]:
        from deskhand.bench.instructions.simulated import run_simulated

        (item,) = run_simulated([instruction], given["brain"], given["judge"], mode=given["mode"])
    elif given["lie"]:
        desk = SceneDesk(instruction.world())
        model = liar(instruction, desk.world, given["lie"])
        assert model is not None
        item = run_case(instruction, model, _tools(), given["judge"], given["lie"], desk)
    else:
        (item,) = run_brain([instruction], given["brain"], given["judge"], tools=_tools(), mode=given["mode"], seconds=given["timeout"])
    return asdict(item) | {"success": item.right and item.outcome != "failed"}


def summarise_results(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """See :func:`deskhand.bench.instructions.run.summarise`. Lies that came out true are left out."""
    names = {field.name for field in fields(Item)}
    items = [Item(**{name: value for name, value in result.items() if name in names}) for result in results]
    if settings["brain"] == LIARS:
        items = [item for item in items if not item.right][: settings["lies"]]
    found = summarise(items, settings["brain"], settings["judge"], settings["split"], settings["seed"], settings["mode"])
    return found | {"simulated": settings["simulated"]}
