"""Campaigns over tasks of LIBERO, LIBERO-PRO and robosuite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand.bench.libero.episode import Setup, run_episode
from deskhand.bench.libero.install import installed, python_of, references_of
from deskhand.errors import DeskhandError
from deskhand.sim.reality.file import load_reality
from deskhand.trials.campaigns.campaign import Campaign, Case

FAMILIES = ("spatial", "object", "goal", "10")
PERTURBED = ("", "_lan", "_object", "_swap", "_task")
SUITES = tuple(f"libero_{family}{change}" for family in FAMILIES for change in PERTURBED)
TASKS, STATES = 10, 50
HORIZON = 6000  # steps of 50 ms; see docs/libero.md for what others take
PLAIN: dict[str, tuple[str, dict[str, Any], str]] = {
    "stack": ("Stack", {}, "put the red cube on the green cube"),
    "milk": ("PickPlaceMilk", {}, "put the milk in its compartment"),
    "can": ("PickPlaceCan", {}, "put the can in its compartment"),
    "cereal": ("PickPlaceCereal", {}, "put the cereal in its compartment"),
    "bread": ("PickPlaceBread", {}, "put the bread in its compartment"),
}
"""robosuite's own tasks that are pick-and-place: its name, options, and our sentence, for it has none."""


def numbers(text: str, most: int, what: str) -> list[int]:
    """``0-4,7`` -> [0, 1, 2, 3, 4, 7]. Raises ``invalid_input``."""
    found: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            found += range(int(first), int(last or first) + 1)
    except ValueError as error:
        raise DeskhandError("invalid_input", f"{what} must be numbers and ranges, as in 0-4,7; got {text!r}.") from error
    if not found or min(found) < 0 or max(found) >= most or len(set(found)) < len(found):
        raise DeskhandError("invalid_input", f"{what} must be different numbers from 0 to {most - 1}, got {text!r}.")
    return found


def libero_campaign(suites: Sequence[str], tasks: str, states: str, brain: str, taught: bool, episodes: Path, sensor: str = "none") -> Campaign:
    """Every state of every task of ``suites``; ``sensor``: a name of config/reality. Raises ``invalid_input``, ``missing_dependency``, ``config_error``."""
    load_reality(sensor, 0)
    if unknown := [name for name in suites if name not in SUITES]:
        raise DeskhandError("invalid_input", f"there is no suite {', '.join(unknown)}; there are {', '.join(SUITES)}.")
    installed()
    chosen = [(suite, task, state) for suite in suites for task in numbers(tasks, TASKS, "--tasks") for state in numbers(states, STATES, "--states")]
    cases = [
        Case(f"{suite}/{task}/{state}", {"suite": suite, "task": task, "state": state, "horizon": HORIZON, "folder": str(episodes / f"{suite}_{task}_{state}")})
        for suite, task, state in chosen
    ]
    settings = {"brain": brain, "taught": taught, "kind": "libero", **({"sensor": sensor} if sensor != "none" else {})}
    return Campaign("bench libero", settings, [_with(case, brain, taught, "libero", sensor) for case in cases], run_one, summarise)


def robosuite_campaign(tasks: Sequence[str], seeds: str, brain: str, episodes: Path) -> Campaign:
    """Every seed of every task of robosuite's own. Raises ``invalid_input``, ``missing_dependency``."""
    if unknown := [name for name in tasks if name not in PLAIN]:
        raise DeskhandError("invalid_input", f"there is no task {', '.join(unknown)}; there are {', '.join(PLAIN)}.")
    installed()
    cases = []
    for task in tasks:
        name, options, instruction = PLAIN[task]
        for seed in numbers(seeds, 100000, "--seeds"):
            case = {"task": name, "seed": seed, "options": options, "instruction": instruction, "horizon": HORIZON}
            cases.append(_with(Case(f"{task}/{seed}", {**case, "folder": str(episodes / f"{task}_{seed}")}), brain, False, "robosuite"))
    return Campaign("bench robosuite", {"brain": brain, "taught": False, "kind": "robosuite"}, cases, run_one, summarise)


def _with(case: Case, brain: str, taught: bool, kind: str, sensor: str = "none") -> Case:
    return Case(case.id, {**case.arguments, "brain": brain, "taught": taught, "kind": kind, "sensor": sensor})


def run_one(case: Case) -> dict[str, Any]:
    """One episode; its record is also in its folder."""
    told = dict(case.arguments)
    folder, environment = Path(told.pop("folder")), installed()
    brain, taught, kind = str(told.pop("brain")), bool(told.pop("taught")), str(told.pop("kind"))
    reality = load_reality(str(told.pop("sensor", "none")), int(told.get("state", told.get("seed", 0))))
    setup = Setup(python_of(environment), kind, references_of(environment) if taught else None, brain, reality=reality)
    return {"id": case.id, **run_episode(setup, told, folder)}


def summarise(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Success by suite and task, steps, and what failed."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        groups.setdefault(str(result["id"]).rsplit("/", 1)[0], []).append(result)
    by_suite: dict[str, list[bool]] = {}
    for result in results:
        by_suite.setdefault(str(result["id"]).split("/")[0], []).append(bool(result["success"]))
    steps = sorted(int(result["first_step"]) for result in results if result["success"])
    return {
        "settings": dict(settings),
        "episodes": len(results),
        "success_rate": sum(bool(result["success"]) for result in results) / len(results) if results else 0.0,
        "suites": {name: {"episodes": len(done), "success_rate": sum(done) / len(done)} for name, done in by_suite.items()},
        "tasks": {name: {"episodes": len(rows), "successes": sum(bool(row["success"]) for row in rows)} for name, rows in groups.items()},
        "median_steps": steps[len(steps) // 2] if steps else None,
        "failures": dict(Counter(str(result["failure"]) for result in results if not result["success"])),
        "results": list(results),
    }
