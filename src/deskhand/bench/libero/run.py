"""Campaigns over tasks of LIBERO, LIBERO-PRO and robosuite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand.bench.libero.episode import run_episode
from deskhand.bench.libero.install import installed, python_of, references_of
from deskhand.bench.libero.setup import Setup
from deskhand.errors import DeskhandError
from deskhand.sim.reality.file import load_reality
from deskhand.trials.campaigns.campaign import Campaign, Case

FAMILIES = ("spatial", "object", "goal", "10")
PERTURBED = ("", "_lan", "_object", "_swap", "_task")
SUITES = tuple(f"libero_{family}{change}" for family in FAMILIES for change in PERTURBED)
TASKS, STATES = 10, 50
HORIZON = 6000  # steps of 50 ms; see docs/libero.md for what others take
ROS_HORIZON = 36000  # of the same: over ROS time goes on while the robot thinks
PLAIN: dict[str, tuple[str, dict[str, Any], str]] = {
    "stack": ("Stack", {}, "put the red cube on the green cube"),
    "milk": ("PickPlaceMilk", {}, "put the milk in the back right compartment"),
    "can": ("PickPlaceCan", {}, "put the can in the front left compartment"),
    "cereal": ("PickPlaceCereal", {}, "put the cereal in the back left compartment"),
    "bread": ("PickPlaceBread", {}, "put the bread in the front right compartment"),
}
"""robosuite's own tasks that are pick-and-place: its name, options, and our sentence, for it has none. Places are as seen from the robot."""


def case_of(kind: str, task: str, number: int) -> dict[str, Any]:
    """The case of ``libero`` (task ``SUITE/TASK``, ``number`` of its state) or ``robosuite`` (task a name of :data:`PLAIN`, ``number`` its seed), for a robot
    on which time goes on. Raises ``invalid_input``.
    """
    if kind == "robosuite" and task in PLAIN:
        name, options, instruction = PLAIN[task]
        return {"task": name, "seed": number, "options": options, "instruction": instruction, "horizon": ROS_HORIZON}
    suite, _, which = task.partition("/")
    if kind == "libero" and suite in SUITES and which.isdigit() and int(which) < TASKS and 0 <= number < STATES:
        return {"suite": suite, "task": int(which), "state": number, "horizon": ROS_HORIZON}
    valid = f"one of {', '.join(PLAIN)}" if kind == "robosuite" else f"SUITE/TASK, as in libero_object/4, with a state from 0 to {STATES - 1}"
    raise DeskhandError("invalid_input", f"there is no task {task!r} {number} of {kind}; give {valid}.")


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


def libero_campaign(
    suites: Sequence[str], tasks: str, states: str, brain: str, taught: bool, episodes: Path, sensor: str = "none", ros: bool = False
) -> Campaign:
    """Every state of every task of ``suites``; ``sensor``: a name of config/reality; ``ros``: through the real nodes over DDS.

    Raises:
        DeskhandError: ``invalid_input``, ``missing_dependency``, ``config_error``.
    """
    load_reality(sensor, 0)
    if unknown := [name for name in suites if name not in SUITES]:
        raise DeskhandError("invalid_input", f"there is no suite {', '.join(unknown)}; there are {', '.join(SUITES)}.")
    installed()
    chosen = [(suite, task, state) for suite in suites for task in numbers(tasks, TASKS, "--tasks") for state in numbers(states, STATES, "--states")]
    cases = [
        Case(f"{suite}/{task}/{state}", {"suite": suite, "task": task, "state": state, "folder": str(episodes / f"{suite}_{task}_{state}")})
        for suite, task, state in chosen
    ]
    settings = _settings("libero", brain, taught, sensor, ros)
    return Campaign("bench libero", settings, [_with(case, settings) for case in cases], run_one, summarise)


def robosuite_campaign(tasks: Sequence[str], seeds: str, brain: str, episodes: Path, taught: bool = True, ros: bool = False, sensor: str = "none") -> Campaign:
    """Every seed of every task of robosuite's own; ``sensor`` and ``ros`` as for :func:`libero_campaign`. Raises ``invalid_input``, ``missing_dependency``."""
    if unknown := [name for name in tasks if name not in PLAIN]:
        raise DeskhandError("invalid_input", f"there is no task {', '.join(unknown)}; there are {', '.join(PLAIN)}.")
    load_reality(sensor, 0)
    installed("robosuite")
    cases, settings = [], _settings("robosuite", brain, taught, sensor, ros)
    for task in tasks:
        name, options, instruction = PLAIN[task]
        for seed in numbers(seeds, 100000, "--seeds"):
            case = {"task": name, "seed": seed, "options": options, "instruction": instruction, "folder": str(episodes / f"{task}_{seed}")}
            cases.append(_with(Case(f"{task}/{seed}", case), settings))
    return Campaign("bench robosuite", settings, cases, run_one, summarise)


def _settings(kind: str, brain: str, taught: bool, sensor: str, ros: bool) -> dict[str, Any]:
    return {"brain": brain, "taught": taught, "kind": kind, **({"sensor": sensor} if sensor != "none" else {}), **({"ros": True} if ros else {})}


def _with(case: Case, settings: Mapping[str, Any]) -> Case:
    return Case(case.id, {**case.arguments, "horizon": ROS_HORIZON if settings.get("ros") else HORIZON, **settings})


def run_one(case: Case) -> dict[str, Any]:
    """One episode; its record is also in its folder."""
    told = dict(case.arguments)
    folder = Path(told.pop("folder"))
    brain, taught, kind = str(told.pop("brain")), bool(told.pop("taught")), str(told.pop("kind"))
    environment = installed(kind)
    sensor, ros, seed = str(told.pop("sensor", "none")), bool(told.pop("ros", False)), int(told.get("state", told.get("seed", 0)))
    references = references_of(environment, kind) if taught else None
    setup = Setup(python_of(environment), kind, references, brain, sensor=sensor, seed=seed, ros=ros)
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
