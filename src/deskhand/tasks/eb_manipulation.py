"""The tasks of EB-Manipulation (Yang et al., "EmbodiedBench", 2025) on this desk: a shape into a container, a shape onto a shape; five ways of saying it."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.shapes import KNOWN
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, Truth, WorldSpec, pose_at
from deskhand.tasks.base import SILENT, ObjectScore, Score, SeededTask, Word
from deskhand.tasks.eb_goals import Goal, InContainer, Stacked, acted_on, unmet
from deskhand.tasks.placement import Footprint, footprint_of
from deskhand.types.colors import lab_of
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FILE = "config/tasks/eb_manipulation.yaml"
SUBSETS = ("base", "common", "complex", "visual", "spatial")
HELD_OUT = 1000
"""Seeds from here on have the wordings that are held out."""
ASIDE = 0.035  # [m] by which an object that is named by its place is beyond all others of its shape
DROP = 0.0005  # [m] above the desk from which objects are let settle
Random = np.random.Generator


@cache
def settings() -> dict[str, Any]:
    """The tasks' file."""
    data: dict[str, Any] = read_yaml(resource_path(FILE))
    return data


@dataclass(frozen=True)
class EbSetting:
    """One seed of a task; ``named``: what the words call each object that they mean, by its name in the world."""

    family: str
    subset: str
    world: WorldSpec
    instruction: str
    goal: Goal
    named: dict[str, str]


@dataclass(frozen=True)
class Body:
    """A shape before it has a place."""

    name: str
    shape: str
    color: str
    width: float
    height: float


class EbTask(SeededTask[EbSetting]):
    """A family: seed s has the subset s mod 5."""

    name = ""
    family = ""
    settle = 1.0
    """[s] of simulated time for which what was stacked has to stand by itself."""

    def _make(self, seed: int) -> EbSetting:
        return _setting(type(self), self._arm, seed)

    def group(self, seed: int) -> str:
        """See Task: the subset."""
        return SUBSETS[seed % len(SUBSETS)]

    def score(self, seed: int, start: Truth, end: Truth, word: Word = SILENT) -> Score:
        """See Task: all or nothing."""
        setting = self.setting(seed)
        walls = {item.name: item.wall for item in setting.world.objects if item.kind in CONTAINER_KINDS}
        why = unmet(setting.goal, end, walls, {item.name: item for item in setting.world.fixtures})
        row = ObjectScore(acted_on(setting.goal), "check", "", why, not why, why)
        return Score(not why, 0.0 if why else 1.0, (row,), (why,) if why else ())

    @abstractmethod
    def bodies(self, subset: str, random: Random) -> list[Body]:
        """What lies on the desk beside containers; the first ones are meant."""

    @abstractmethod
    def goal(self, subset: str, random: Random, objects: Sequence[ObjectSpec], words: Words) -> tuple[Goal, dict[str, str], dict[str, str]] | None:
        """What must become true, what fills the wording, what each object is called; None where the places do not tell the objects apart."""


@dataclass(frozen=True)
class Words:
    """Half of the words of a seed: how objects are called in its subset."""

    split: str
    subset: str
    colors: dict[str, str]
    shapes: dict[str, str]
    random: Random

    def plain(self, name: str, colored: bool) -> str:
        """By shape, by what it reminds of or by its looks, as the subset has it; ``colored``: with its colour."""
        names = settings()["names"].get(self.subset)
        choices = names[self.split][self.shapes[name]] if names else [f"{{color}} {word}" for word in settings()["shapes"][self.shapes[name]]["words"]]
        text = str(choices[int(self.random.integers(len(choices)))])
        return " ".join(text.format(color=self.colors[name] if colored else "").split())

    def placed(self, name: str, objects: Sequence[ObjectSpec]) -> list[str]:
        """Words of the places at which it stands out from ``objects``, its like."""
        places = {item.name: item.pose[:2, 3] for item in objects}
        others = [place for other, place in places.items() if other != name]
        x, y = places[name]
        ahead = {
            "left": all(y > place[1] + ASIDE for place in others),
            "right": all(y < place[1] - ASIDE for place in others),
            "front": all(x > place[0] + ASIDE for place in others),
            "back": all(x < place[0] - ASIDE for place in others),
        }
        return [str(settings()["places"][self.split][place]) for place, holds in ahead.items() if holds]

    def any_of(self, choices: Sequence[str]) -> str:
        """One of them."""
        return choices[int(self.random.integers(len(choices)))]


class EbPick(EbTask):
    """One of several shapes into one of two containers of different colours."""

    name = "eb_pick"
    family = "pick"
    summary = "Pick a shape (star, triangular prism, cylinder, cube, moon) and place it into the container of a colour, said in five ways."

    def bodies(self, subset: str, random: Random) -> list[Body]:
        """See EbTask."""
        config = settings()
        low, high = config["others"]
        shapes = [str(shape) for shape in random.permutation(list(config["shapes"]))][: 1 + int(random.integers(low, high + 1))]
        shapes = [shapes[0], *shapes] if subset == "spatial" else shapes
        width, count = config["width"]["pick"], len(shapes)
        colors = colors_apart(random, count)
        return [
            Body(f"object_{number + 1}", shape, color, float(random.uniform(*width)), config["height"]["pick"])
            for number, (shape, color) in enumerate(zip(shapes, colors, strict=True))
        ]

    def goal(self, subset: str, random: Random, objects: Sequence[ObjectSpec], words: Words) -> tuple[Goal, dict[str, str], dict[str, str]] | None:
        """See EbTask."""
        containers = [item for item in objects if item.kind in CONTAINER_KINDS]
        target = containers[int(random.integers(2))]
        where, what = f"{words.colors[target.name]} container", words.plain("object_1", colored=False)
        if subset == "spatial":
            alike = [item for item in objects if words.shapes.get(item.name) == words.shapes["object_1"]]
            if not (places := words.placed("object_1", alike)):
                return None
            what = f"{words.any_of(places)} {what}"
            if random.random() < 0.5:
                where = f"{words.any_of(words.placed(target.name, containers))} container"
        called = {"object_1": what, target.name: where}
        return InContainer("object_1", target.name), {"object": what, "container": where}, called


class EbStack(EbTask):
    """One of four things of one shape onto another."""

    name = "eb_stack"
    family = "stack"
    summary = "Stack two of four things of one shape and of different colours, the one named first at the bottom, said in five ways."

    def bodies(self, subset: str, random: Random) -> list[Body]:
        """See EbTask."""
        config = settings()
        shape = str(random.choice(list(config["shapes"])))
        colors = colors_apart(random, 4)
        widths = [float(random.uniform(*config["width"]["stack"])) for _ in colors]
        return [Body(f"object_{number + 1}", shape, color, width, width) for number, (color, width) in enumerate(zip(colors, widths, strict=True))]

    def goal(self, subset: str, random: Random, objects: Sequence[ObjectSpec], words: Words) -> tuple[Goal, dict[str, str], dict[str, str]] | None:
        """See EbTask."""
        called = {name: words.plain(name, colored=True) for name in ("object_1", "object_2")}
        if subset == "spatial":
            for name in called:
                if not (places := words.placed(name, objects)):
                    return None
                called[name] = f"{words.any_of(places)} {settings()['shapes'][words.shapes[name]]['words'][0]}"
        return Stacked("object_1", "object_2"), {"first": called["object_1"], "second": called["object_2"]}, called


# ---------------------------------------------------------------- scenes


@lru_cache(maxsize=512)
def _setting(kind: type[EbTask], arm_name: str, seed: int) -> EbSetting:
    task, config, arm = kind(arm_name), settings(), load_arm(arm_name)
    layout = next((item for item in config["layouts"] if arm.work_radius[1] >= item["work_radius"]), None)
    if layout is None:
        raise DeskhandError("config_error", f"{arm.name} reaches {arm.work_radius[1]:g} m; {task.name} needs {config['layouts'][-1]['work_radius']:g} m.")
    subset, split = task.group(seed), "dev" if seed < HELD_OUT else "heldout"
    random = np.random.default_rng([crc32(task.name.encode()), seed])
    bodies = task.bodies(subset, random)
    boxes = colors_apart(random, 2) if task.family == "pick" else []
    colors = {body.name: body.color for body in bodies} | {f"container_{number + 1}": color for number, color in enumerate(boxes)}
    words = Words(split, subset, colors, {body.name: body.shape for body in bodies}, random)
    wordings = config["wordings"][task.family][subset][split]
    wording = str(wordings[int(random.integers(len(wordings)))])
    base = arm.world_T_base[:2, 3]
    for _ in range(400):
        objects = _laid_out(layout, random, bodies, boxes, base, arm.work_radius)
        found = task.goal(subset, random, objects, words) if objects else None
        if found is not None:
            goal, filling, called = found
            said = wording.format(**filling)
            return EbSetting(task.family, subset, WorldSpec(tuple(objects), arm=arm_name, seed=seed), said[0].upper() + said[1:], goal, called)
    raise DeskhandError("internal_error", f"no scene of {task.name} fits for seed {seed} and {arm_name}; {FILE} asks for too much.")


def _laid_out(
    layout: dict[str, Any], random: Random, bodies: Sequence[Body], boxes: Sequence[str], base: Array, reach: tuple[float, float]
) -> list[ObjectSpec]:
    """All objects at their places, containers first; empty when they do not fit."""
    config, side = settings(), float(random.choice([-1.0, 1.0]))
    box, place = config["container"], layout["containers"]
    objects: list[ObjectSpec] = []
    for number, color in enumerate(boxes):
        x, y = base[0] + random.uniform(*place["x"]), base[1] + side * (1 - 2 * number) * random.uniform(*place["y"])
        pose = pose_at(x, y, box["size"][2] / 2 + DROP, random.uniform(-0.2, 0.2))
        objects.append(ObjectSpec(f"container_{number + 1}", "box_open", tuple(box["size"]), rgb_of(color), box["mass"], pose, box["wall"]))
    taken = [footprint_of(item) for item in objects]
    for body in bodies:
        placed = on_desk(object_spec(body), layout["region"], random, taken, base, reach)
        if placed is None:
            return []
        objects.append(placed)
        taken.append(footprint_of(placed))
    return objects


def object_spec(body: Body) -> ObjectSpec:
    """A shape as an object of a world, without a place."""
    kind = settings()["shapes"][body.shape]
    shape = kind.get("shape", "")
    usual = KNOWN[shape].size if shape else (1.0, 1.0, 1.0)
    scale = body.width / max(usual[:2])
    height = body.width if body.shape == "cube" else body.height
    return ObjectSpec(body.name, kind["kind"], (scale * usual[0], scale * usual[1], height), rgb_of(body.color), settings()["mass"], np.eye(4), shape=shape)


def on_desk(spec: ObjectSpec, region: dict[str, Any], random: Random, taken: Sequence[Footprint], base: Array, reach: tuple[float, float]) -> ObjectSpec | None:
    """It at a place of ``region`` (about ``base``) within ``reach`` that is far enough from what is ``taken``; None where none was found."""
    for _ in range(200):
        x, y = base[0] + random.uniform(*region["x"]), base[1] + random.uniform(*region["y"])
        placed = replace(spec, pose=pose_at(x, y, spec.size[2] / 2 + DROP, random.uniform(-np.pi, np.pi)))
        mine = footprint_of(placed)
        within = reach[0] <= np.hypot(x - base[0], y - base[1]) <= reach[1]
        if within and all(mine.apart(other, settings()["distance"]) for other in taken):
            return placed
    return None


def rgb_of(color: str) -> tuple[float, float, float]:
    """One of the 19 colours, 0..1."""
    r, g, b = settings()["colors"][color]
    return (float(r), float(g), float(b))


def colors_apart(random: Random, count: int, among: Sequence[str] = ()) -> list[str]:
    """Names of different colours that are told apart at a glance; ``among``: those to choose from, empty for all."""
    lab = {name: lab_of(np.array(rgb) * 255.0) for name, rgb in settings()["colors"].items() if name in (among or settings()["colors"])}
    for _ in range(1000):
        names = [str(name) for name in random.permutation(list(lab))[:count]]
        if all(np.linalg.norm(lab[a] - lab[b]) >= settings()["apart"] for a, b in itertools.combinations(names, 2)):
            return names
    raise DeskhandError("config_error", f"{FILE} has no {count} colours that are {settings()['apart']} apart.")
