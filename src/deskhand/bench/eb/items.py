"""Items of the bench: seeds of the families, what must be true of each, and what guessing would give."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.sim.spec import CONTAINER_KINDS
from deskhand.tasks import load_task
from deskhand.tasks.eb_goals import InContainer, InSorter, Wiped
from deskhand.tasks.eb_manipulation import EbSetting, EbTask

FAMILIES = ("pick", "stack", "sorter", "wipe")


def tasks_of(families: Sequence[str], arm: str) -> list[EbTask]:
    """The task of each family, all of them where none is named.

    Raises:
        DeskhandError: ``invalid_input`` for an unknown one.
    """
    for family in families:
        if family not in FAMILIES:
            raise DeskhandError("invalid_input", f"there is no family {family!r}; valid: {', '.join(FAMILIES)}.")
    found = [load_task(f"eb_{family}", arm) for family in families or FAMILIES]
    return [task for task in found if isinstance(task, EbTask)]


def chance(setting: EbSetting) -> float:
    """How often a random choice of objects is right."""
    if isinstance(setting.goal, Wiped):
        return 1 / len(setting.world.stains)
    boxes = sum(item.kind in CONTAINER_KINDS for item in setting.world.objects)
    others = len(setting.world.objects) - boxes
    if isinstance(setting.goal, InSorter):
        return 1 / others
    return 1 / (others * boxes) if isinstance(setting.goal, InContainer) else 1 / (others * (others - 1))


def write_items(folder: Path, tasks: Sequence[EbTask], seeds: Sequence[int]) -> int:
    """``items.jsonl`` (id, seed, kind, group, say, truth), and a picture of each scene with its depth (perception/picture.py); answers how many.

    Raises:
        DeskhandError: ``invalid_input`` when the folder exists.
    """
    from deskhand.perception.picture import save_picture
    from deskhand.sim.devices import SimCamera
    from deskhand.sim.simulation import Simulation

    if folder.exists():
        raise DeskhandError("invalid_input", f"{folder} exists.", hint="Name a folder that does not.")
    (folder / "pictures").mkdir(parents=True)
    lines = []
    for task in tasks:
        for seed in seeds:
            setting = task.setting(seed)
            simulation = Simulation(setting.world)
            simulation.step(1.0)
            camera = SimCamera(simulation)
            try:
                save_picture(camera.capture(), folder / "pictures" / f"{task.name}_{seed}.png")
            finally:
                camera.close()
            lines.append(
                {"id": f"{task.name}_{seed}", "seed": seed, "kind": setting.family, "group": setting.subset, "say": setting.instruction}
                | {"picture": f"pictures/{task.name}_{seed}.png", "truth": truth_of(setting)}
            )
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return len(lines)


def truth_of(setting: EbSetting) -> dict[str, Any]:
    """What must be true at the end, as plain data."""
    return {**vars(setting.goal), "named": dict(setting.named)}
