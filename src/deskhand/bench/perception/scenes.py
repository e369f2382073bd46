"""The desks that perception is measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.tasks.clutter import cluttered_desk
from deskhand.tasks.desk_cleaning import laid_out
from deskhand.tasks.placement import footprint_of

COUNT = 10
CLUTTER: dict[str, Callable[[str, int], WorldSpec]] = {
    "spread": lambda arm, seed: cluttered_desk(arm, seed, COUNT, touching=0.0),
    "touching": lambda arm, seed: cluttered_desk(arm, seed, COUNT, touching=0.8),
    "stacked": lambda arm, seed: cluttered_desk(arm, seed, COUNT, stacked=0.4),
    "in containers": lambda arm, seed: cluttered_desk(arm, seed, COUNT, containers=2, filled=0.5),
}
"""Ways of being cluttered; what the bars are about."""
FULL = 14  # objects in two full containers
EDGE = 0.034  # [m] of building blocks
_TRIES = 50
_LAID = 0.0018  # [m] that corners of blocks side by side may overlap at the start: they are pushed apart


def make_scene(way: str, arm: str, seed: int) -> WorldSpec:
    """The desk of one of :data:`CLUTTER`, ``built``: a tower, a bridge or a pyramid of blocks, or ``full``: all objects in two containers."""
    if way == "built":
        return built(arm, seed)
    if way == "full":
        return cluttered_desk(arm, seed, FULL, containers=2, filled=1.0)
    if way not in CLUTTER:
        raise DeskhandError("invalid_input", f"there is no scene {way!r}; known: {', '.join([*CLUTTER, 'built', 'full'])}.")
    return CLUTTER[way](arm, seed)


def built(arm: str, seed: int) -> WorldSpec:
    """By seed: towers of 2 to 6 blocks, bridges, and pyramids of 3-2-1 blocks, laid with errors of a millimetre or two, and two loose blocks."""
    config = laid_out(load_arm(arm))
    random = np.random.default_rng([crc32(b"built"), seed])
    levels: list[list[float]] = [[[0.0]] * (2 + seed // 3 % 5), [[-0.5, 0.5], [0.0]], [[-1.0, 0.0, 1.0], [-0.5, 0.5], [0.0]]][seed % 3]
    gap = EDGE * float(random.uniform(1.02, 1.35) if seed % 3 == 1 else random.uniform(1.02, 1.08))
    x, y = (float(np.mean(config["region"][axis])) + random.uniform(-0.03, 0.03) for axis in "xy")
    yaw = float(random.uniform(-np.pi, np.pi))
    colors = list(config["colors"])
    if random.random() < 0.3:
        colors = colors[:1]  # all of one colour: only the shape tells the blocks apart
    objects: list[ObjectSpec] = []

    def block(u: float, v: float, z: float, turn: float) -> None:
        rgb = tuple(config["colors"][str(random.choice(colors))])
        objects.append(ObjectSpec(f"block_{len(objects) + 1}", "block", (EDGE,) * 3, rgb, 0.024, pose_at(u, v, z, turn)))

    along = np.array([np.cos(yaw), np.sin(yaw)])
    for level, row in enumerate(levels):
        for place in row:
            for _ in range(_TRIES):  # blocks side by side that are turned too far would overlap
                u, v = np.array([x, y]) + along * place * gap + random.normal(0.0, 0.0008, 2)
                turn = yaw + random.normal(0.0, 0.03)
                beside = [footprint_of(item) for item in objects if abs(item.pose[2, 3] - EDGE / 2 - level * (EDGE + 0.0005)) < 0.001]
                here = footprint_of(ObjectSpec("", "block", (EDGE,) * 3, (0.0, 0.0, 0.0), 0.024, pose_at(u, v, EDGE / 2, turn)))
                if all(here.distance(other) > -_LAID for other in beside):
                    break
            block(u, v, EDGE / 2 + level * (EDGE + 0.0005), turn)
    for side in (-1.0, 1.0):
        block(x + random.uniform(-0.05, 0.05), y + side * random.uniform(0.11, 0.15), EDGE / 2, random.uniform(-np.pi, np.pi))
    return WorldSpec(tuple(objects), arm=arm, seed=seed)


def at_rest(world: WorldSpec, poses: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]) -> WorldSpec:
    """The same world with its objects where they came to rest."""
    return replace(world, objects=tuple(replace(item, pose=poses[item.name]) for item in world.objects))
