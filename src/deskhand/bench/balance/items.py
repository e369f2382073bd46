"""Items of the bench: seeds of the task, what must be true of each, and what guessing would give."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.tasks.balance_goals import BalanceGoal
from deskhand.tasks.balance_scale import HELD_OUT, MASSES, BalanceScale, BalanceSetting

SPLITS = ("dev", "heldout")


def seeds_of(split: str, seed: int, count: int, shuffled: bool = False) -> list[int]:
    """So many seeds from ``seed`` on, of one half; ``shuffled``: each a second time with the masses of what looks the same handed on.

    Raises:
        DeskhandError: ``invalid_input`` for an unknown half, or more seeds of ``dev`` than there are.
    """
    if split not in SPLITS:
        raise DeskhandError("invalid_input", f"the split is one of {', '.join(SPLITS)}, not {split!r}.")
    first = seed + (HELD_OUT if split == "heldout" and seed < HELD_OUT else 0)
    if split == "dev" and first + count > HELD_OUT:
        raise DeskhandError("invalid_input", f"dev has the seeds 0 to {HELD_OUT - 1}; {first} to {first + count - 1} were asked for.")
    seeds = list(range(first, first + count))
    return [each for one in seeds for each in ((one, one + MASSES) if shuffled else (one,))]


def truth_of(setting: BalanceSetting) -> dict[str, Any]:
    """What must be true at the end, as plain data, and what everything weighs [g]."""
    goal = {name: value for name, value in vars(setting.goal).items() if value and name != "candidates"}
    return {**json.loads(json.dumps(goal)), "grams": {name: round(1000 * mass, 2) for name, mass in setting.masses.items()}}


def chance(goal: BalanceGoal) -> float:
    """How often a random choice among what the words leave open is right."""
    count = len(goal.candidates)
    if goal.chosen:
        return 1 / count
    if goal.row:
        return (1 if goal.left_to_right else 2) / math.factorial(count)
    if goal.level:
        room = 1 if len(goal.on_right) else 2
        return 1 / sum(math.comb(count, number) for number in range(1, room + 1))
    assert goal.grams is not None
    return 2 * goal.grams[1] / 66.0  # of a mass between 10 and 76 g


def write_items(folder: Path, arm: str, seeds: list[int]) -> int:
    """``items.jsonl`` (id, seed, kind, say, truth), and a picture of each scene with its depth (perception/picture.py); answers how many.

    Raises:
        DeskhandError: ``invalid_input`` when the folder exists.
    """
    from deskhand.perception.picture import save_picture
    from deskhand.sim.devices import SimCamera
    from deskhand.sim.simulation import Simulation

    if folder.exists():
        raise DeskhandError("invalid_input", f"{folder} exists.", hint="Name a folder that does not.")
    task = BalanceScale(arm)
    (folder / "pictures").mkdir(parents=True)
    lines = []
    for seed in seeds:
        setting = task.setting(seed)
        simulation = Simulation(setting.world)
        simulation.step(1.5)
        camera = SimCamera(simulation)
        try:
            save_picture(camera.capture(), folder / "pictures" / f"{seed}.png")
        finally:
            camera.close()
        lines.append(
            {"id": f"seed_{seed}", "seed": seed, "kind": setting.variant, "say": setting.instruction}
            | {"picture": f"pictures/{seed}.png", "truth": truth_of(setting)}
        )
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return len(lines)
