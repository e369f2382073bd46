"""The third family of EB-Manipulation: a shape into a shape sorter, a box whose top is a board with a hole for each shape; said in five ways."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.sim.fixtures.spec import FixtureSpec, Recess
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.tasks.eb_goals import Goal, InSorter
from deskhand.tasks.eb_manipulation import FILE, HELD_OUT, SUBSETS, Body, EbSetting, EbTask, Random, Words, colors_apart, object_spec, on_desk, settings
from deskhand.tasks.placement import Footprint, footprint_of

SORTER = "shape_sorter"
TRIES = 400


class EbSorter(EbTask):
    """One of three things of one shape, beside others, into the sorter: seed s has the subset s mod 5."""

    name = "eb_sorter"
    family = "sorter"
    summary = "Put a shape of a colour into the shape sorter, a box with a hole for each of five shapes, said in five ways."

    def bodies(self, subset: str, random: Random) -> list[Body]:
        """See EbTask: three of one shape, and others."""
        config = settings()["sorter"]
        shapes = [str(shape) for shape in random.permutation(list(settings()["shapes"]))]
        shapes = [shapes[0]] * 3 + shapes[1 : 1 + config["others"]]
        colors = colors_apart(random, len(shapes))
        return [
            Body(f"object_{number + 1}", shape, color, float(random.uniform(*config["fits"])), config["width"])
            for number, (shape, color) in enumerate(zip(shapes, colors, strict=True))
        ]

    def goal(self, subset: str, random: Random, objects: Sequence[ObjectSpec], words: Words) -> tuple[Goal, dict[str, str], dict[str, str]] | None:
        """See EbTask."""
        what = words.plain("object_1", colored=True)
        if subset == "spatial":
            alike = [item for item in objects if words.shapes[item.name] == words.shapes["object_1"]]
            if not (places := words.placed("object_1", alike)):
                return None
            what = f"{words.any_of(places)} {settings()['shapes'][words.shapes['object_1']]['words'][0]}"
        return InSorter("object_1", SORTER), {"object": what}, {"object_1": what}

    def _make(self, seed: int) -> EbSetting:
        config, arm, subset = settings()["sorter"], load_arm(self._arm), self.group(seed)
        layout = next((item for item in config["layouts"] if arm.work_radius[1] >= item["work_radius"]), None)
        if layout is None:
            raise DeskhandError("config_error", f"{arm.name} reaches {arm.work_radius[1]:g} m; {FILE} has no layout of eb_sorter for it.")
        split, random = "dev" if seed < HELD_OUT else "heldout", np.random.default_rng([crc32(self.name.encode()), seed])
        base, bodies = arm.world_T_base[:2, 3], self.bodies(subset, random)
        side = float(random.choice([-1.0, 1.0]))
        words = Words(split, subset, {body.name: body.color for body in bodies}, {body.name: body.shape for body in bodies}, random)
        wordings = settings()["wordings"][self.family][subset][split]
        wording = str(wordings[int(random.integers(len(wordings)))])
        place, region = layout["sorter"], layout["region"]
        region = {"x": region["x"], "y": region["y"] if side < 0 else [-region["y"][1], -region["y"][0]]}
        for _ in range(TRIES):
            pose = pose_at(base[0] + random.uniform(*place["x"]), base[1] + side * random.uniform(*place["y"]), 0.0, random.uniform(-1, 1) * config["turn"])
            sorter = FixtureSpec(SORTER, "shape_sorter", tuple(config["size"]), tuple(config["color"]), pose, recesses=_holes(), clearance=config["clearance"])
            taken = [Footprint(float(pose[0, 3]), float(pose[1, 3]), config["size"][0] / 2, config["size"][1] / 2, float(np.arctan2(pose[1, 0], pose[0, 0])))]
            objects: list[ObjectSpec] = []
            for body in bodies:
                placed = on_desk(object_spec(body), region, random, taken, base, arm.work_radius)
                if placed is None:
                    break
                objects.append(placed)
                taken.append(footprint_of(placed))
            found = self.goal(subset, random, objects, words) if len(objects) == len(bodies) else None
            if found is not None:
                goal, filling, called = found
                said = wording.format(**filling)
                world = WorldSpec(tuple(objects), arm=self._arm, seed=seed, fixtures=(sorter,))
                return EbSetting(self.family, subset, world, said[0].upper() + said[1:], goal, called)
        raise DeskhandError("internal_error", f"no scene of {self.name} fits for seed {seed} and {arm.name}; {FILE} asks for too much.")

    def group(self, seed: int) -> str:
        """See Task."""
        return SUBSETS[seed % len(SUBSETS)]


def _holes() -> tuple[Recess, ...]:
    config = settings()["sorter"]
    width = config["width"]
    return tuple(Recess(hole["outline"], (width * hole["of"][0], width * hole["of"][1]), tuple(hole["at"])) for hole in config["holes"].values())
