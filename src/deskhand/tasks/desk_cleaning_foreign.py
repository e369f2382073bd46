"""Clear a desk of objects that others made into one container."""

from __future__ import annotations

from functools import lru_cache
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.tasks.desk_cleaning import DeskCleaning, Setting, laid_out, settings
from deskhand.tasks.foreign_objects import cluttered_world, heaped_world
from deskhand.tasks.placement import footprint_of

JUDGED_FROM = 1000
"""Seeds from here on take the objects that are kept for judging."""
COUNT = (4, 6)
GAP = 0.02  # [m] between objects at least
FLOOR = (0.20, 0.24)  # [m] of the container: wider than those of desk_cleaning, since what it has to hold is
WORDS = ("Put everything into the {where}.", "Clear the desk: put all objects into the {where}.", "Please put everything on the desk into the {where}.")


class DeskCleaningForeign(DeskCleaning):
    """4 to 6 objects that others made close together, one container for all of them."""

    name = "desk_cleaning_foreign"
    summary = "Put objects that others made into one container (they are installed with `deskhand bench foreign install`)."

    def _make(self, seed: int) -> Setting:
        return _setting(self._arm, seed)


@lru_cache(maxsize=64)
def _setting(arm_name: str, seed: int) -> Setting:
    random = np.random.default_rng([crc32(b"desk_cleaning_foreign"), seed])
    container = _container(arm_name, random)
    split = "judged" if seed >= JUDGED_FROM else "dev"
    world = cluttered_world(arm_name, seed, split, int(random.integers(COUNT[0], COUNT[1] + 1)), [footprint_of(container)], GAP, held_by=("body",))
    goal = {item.name: container.name for item in world.objects}
    words = str(random.choice(WORDS)).format(where=container.kind)
    return Setting(WorldSpec((container, *world.objects), arm=arm_name, seed=seed), words, goal, ())


def full_container(arm_name: str, seed: int, split: str, count: int) -> WorldSpec:
    """``count`` of the objects heaped in a container amid the place where the arm works."""
    arm, data = load_arm(arm_name), settings()["containers"]["tray" if seed % 2 else "bin"]
    kind, wall, height = "tray" if seed % 2 else "bin", float(data["wall"]), float(data["size"][2])
    heap = heaped_world(arm_name, seed, split, count, room=min(FLOOR) / 2 - 2 * wall, floor=2 * wall)
    x, y = arm.world_T_base[:2, 3] + [sum(arm.work_radius) / 2, 0.0]
    container = ObjectSpec(kind, kind, (*FLOOR, height), tuple(data["rgb"]), data["mass"], pose_at(float(x), float(y), height / 2), wall)
    return WorldSpec((container, *heap.objects), arm=arm_name, seed=seed)


def _container(arm_name: str, random: np.random.Generator) -> ObjectSpec:
    place, side = laid_out(load_arm(arm_name))["place_alone"], float(random.choice([-1.0, 1.0]))
    kind = str(random.choice(["bin", "tray"]))
    data = settings()["containers"][kind]
    pose = pose_at(random.uniform(*place["x"]), side * random.uniform(*place["y"]), data["size"][2] / 2)
    return ObjectSpec(kind, kind, (*FLOOR, data["size"][2]), tuple(data["rgb"]), data["mass"], pose, data["wall"])
