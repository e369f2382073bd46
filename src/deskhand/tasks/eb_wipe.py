"""The fourth family of EB-Manipulation: one of two painted areas is wiped with a sponge, named by its direction or its side; four ways of saying it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.objectfile import SIZES
from deskhand.sim.spec import ObjectSpec, StainSpec, WorldSpec, pose_at
from deskhand.tasks.eb_goals import Goal, Wiped
from deskhand.tasks.eb_manipulation import DROP, FILE, HELD_OUT, SUBSETS, Body, EbSetting, EbTask, Random, Words, colors_apart, rgb_of, settings

WIPED_SUBSETS = tuple(subset for subset in SUBSETS if subset != "visual")
HORIZONTAL, VERTICAL = "area_horizontal", "area_vertical"


class EbWipe(EbTask):
    """Wipe the horizontal or the vertical one of two painted areas: seed s has the subset s mod 4, as there is none by looks."""

    name = "eb_wipe"
    family = "wipe"
    summary = "Wipe one of two painted areas with a sponge, the horizontal or the vertical one, said in four ways."

    def group(self, seed: int) -> str:
        """See Task."""
        return WIPED_SUBSETS[seed % len(WIPED_SUBSETS)]

    def bodies(self, subset: str, random: Random) -> list[Body]:
        """See EbTask: only areas are meant."""
        return []

    def goal(self, subset: str, random: Random, objects: Sequence[ObjectSpec], words: Words) -> tuple[Goal, dict[str, str], dict[str, str]] | None:
        """See EbTask: areas are no objects; see :meth:`_make`."""
        return None

    def _make(self, seed: int) -> EbSetting:
        config, arm = settings()["wipe"], load_arm(self._arm)
        layout = next((item for item in config["layouts"] if arm.work_radius[1] >= item["work_radius"]), None)
        if layout is None:
            raise DeskhandError("config_error", f"{arm.name} reaches {arm.work_radius[1]:g} m; {FILE} has no layout of eb_wipe for it.")
        random, subset, split = np.random.default_rng([crc32(self.name.encode()), seed]), self.group(seed), "dev" if seed < HELD_OUT else "heldout"
        base, side = arm.world_T_base[:2, 3], float(random.choice([-1.0, 1.0]))
        names = [HORIZONTAL, VERTICAL]
        colors = colors_apart(random, 2, config["colors"])
        stains, lies = [], {}
        for number, (name, color) in enumerate(zip(names, colors, strict=True)):
            x = base[0] + random.uniform(*layout["areas"]["x"])
            y = base[1] + side * (1 - 2 * number) * random.uniform(*layout["areas"]["y"])
            turn = random.uniform(-config["askew"], config["askew"]) + (np.pi / 2 if name == HORIZONTAL else 0.0)
            stains.append(StainSpec(name, _outline(random, x, y, turn), rgb_of(color), config["spots"]))
            lies[name] = "left" if y > base[1] else "right"
        place = [base[0] + random.uniform(*layout["sponge"]["x"]), base[1] + random.uniform(*layout["sponge"]["y"])]
        size = SIZES["sponge"]
        pose = pose_at(place[0], place[1], size[2] / 2 + DROP, random.uniform(-np.pi, np.pi))
        sponge = ObjectSpec("sponge", "sponge", size, rgb_of("yellow"), config["mass"], pose)
        meant = names[int(random.integers(2))]
        wordings = settings()["wordings"]["wipe"][subset][split]
        called = _called(subset, split, meant, lies[meant], random)
        said = str(wordings[int(random.integers(len(wordings)))]).format(area=called)
        world = replace(WorldSpec((sponge,), arm=self._arm, seed=seed), stains=tuple(stains))
        return EbSetting(self.family, subset, world, said[0].upper() + said[1:], Wiped(meant), {meant: called})


def _called(subset: str, split: str, meant: str, lies: str, random: Random) -> str:
    """The words for the area: its side, what it lies like, or its direction."""
    if subset == "spatial":
        return str(settings()["places"][split][lies])
    direction = "horizontal" if meant == HORIZONTAL else "vertical"
    if subset != "common":
        return direction
    likes = settings()["wipe"]["likes"][split][direction]
    return str(likes[int(random.integers(len(likes)))])


def _outline(random: Random, x: float, y: float, turn: float) -> Array:
    """A rectangle, or a triangle with equal legs (N, 2) [m], its long axis turned by ``turn`` [rad] from x."""
    config = settings()["wipe"]
    boxed = random.random() < 0.5
    a, b = np.asarray(config["rectangle" if boxed else "triangle"]) / 2
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)] if boxed else [(-1, -1), (1, 0), (-1, 1)]
    flat = np.array(corners, dtype=float) * [a, b]
    return np.asarray(flat @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) + [x, y])
