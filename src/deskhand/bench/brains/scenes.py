"""Seeded light desks with an instruction, and what must be so when it is done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deskhand.bench.brains.desk import GAP, DeskObject, LightDesk

KINDS = {
    "block": ("box", (0.032, 0.032, 0.032)),
    "ball": ("sphere", (0.036, 0.036, 0.036)),
    "cup": ("cylinder", (0.04, 0.04, 0.05)),
    "can": ("cylinder", (0.038, 0.038, 0.07)),
    "pen": ("cylinder", (0.13, 0.01, 0.01)),
    "sponge": ("box", (0.04, 0.07, 0.025)),
}
CONTAINERS = {"bin": (0.165, 0.17, 0.07), "tray": (0.165, 0.215, 0.035)}
COLORS = ("red", "green", "blue", "yellow", "orange", "purple")
PLURALS = {"block": "blocks", "ball": "balls", "cup": "cups", "can": "cans", "pen": "pens", "sponge": "sponges"}


@dataclass(frozen=True)
class Wanted:
    """``goal``: object -> what it must be on or in at the end; None where the instruction cannot be done at all."""

    instruction: str
    goal: dict[str, str] | None

    def holds(self, desk: LightDesk) -> bool:
        """Whether it is so, by ground truth."""
        return self.goal is not None and all(desk.objects[name].support == target for name, target in self.goal.items())


def make_scene(seed: int, faults: float = 0.0) -> tuple[LightDesk, Wanted]:
    """Two containers, three to six objects on the table; one of five kinds of instruction."""
    random = np.random.default_rng([seed, 77])
    objects: dict[str, DeskObject] = {}
    for side, (label, size) in zip((1, -1), CONTAINERS.items(), strict=True):
        objects[f"{label}_1"] = DeskObject(f"{label}_1", label, "black" if label == "bin" else "white", "other", size, (0.0, 0.29 * side), is_container=True)
    for _ in range(int(random.integers(3, 7))):
        label = str(random.choice(list(KINDS)))
        shape, size = KINDS[label]
        name = f"{label}_{1 + sum(item.label == label for item in objects.values())}"
        while True:
            place = (float(random.uniform(-0.15, 0.12)), float(random.uniform(-0.15, 0.15)))
            if _free(place, size, objects):
                break
        objects[name] = DeskObject(name, label, str(random.choice(COLORS)), shape, size, place)
    return LightDesk(objects, random, faults), _instruct(random, objects)


def _free(place: tuple[float, float], size: tuple[float, float, float], objects: dict[str, DeskObject]) -> bool:
    return not any(all(abs(place[axis] - other.place[axis]) < (size[axis] + other.size[axis]) / 2 + GAP for axis in (0, 1)) for other in objects.values())


def _instruct(random: np.random.Generator, objects: dict[str, DeskObject]) -> Wanted:
    loose = [item for item in objects.values() if not item.is_container]
    one = loose[int(random.integers(len(loose)))]
    container = str(random.choice(list(CONTAINERS)))
    kind = int(random.integers(5))
    if kind == 0:
        return Wanted(f"Put everything in the {container}.", {item.id: f"{container}_1" for item in loose})
    if kind == 1:
        return Wanted(f"Put the {PLURALS[one.label]} in the {container}.", {item.id: f"{container}_1" for item in loose if item.label == one.label})
    if kind == 2:
        other = "tray" if container == "bin" else "bin"
        goal = {item.id: f"{container}_1" if item.label == one.label else f"{other}_1" for item in loose}
        return Wanted(f"Clean the desk: {PLURALS[one.label]} go in the {container}, everything else in the {other}.", goal)
    if kind == 3:
        missing = next(label for label in KINDS if all(item.label != label for item in loose))
        return Wanted(f"Put the {missing} in the {container}.", None)
    same = [item for item in loose if (item.label, item.color) == (one.label, one.color)]
    return Wanted(f"Put the {one.color} {one.label} in the {container}.", {one.id: f"{container}_1"} if len(same) == 1 else {})
