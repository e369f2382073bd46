"""Weigh with a balance: which is heavier, which is the odd one, level the pans, sort by weight, say the grams, make up for what is added.

Objects of equal look weigh differently, so that only the balance can tell; nothing of it is in the words.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, Truth, WorldSpec, pose_at
from deskhand.tasks.balance_goals import BalanceDesk, BalanceGoal, named, unmet, weighings_allowed
from deskhand.tasks.base import SILENT, ObjectScore, Score, SeededTask, Word
from deskhand.tasks.placement import Footprint, footprint_of
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FILE = "config/tasks/balance_scale.yaml"
VARIANTS = ("compare", "odd_one", "balance", "sort", "measure", "counterweight")
HELD_OUT = 1000
"""Seeds from here on have the wordings that are held out."""
MASSES = 1_000_000
"""Added to a seed once or more, so that what looks the same has one another's masses: the same scene and words, another truth."""
DROP = 0.0005  # [m] above the pan from which what stands on it at the start is let settle
EDGE = 0.006  # [m] from the edge of a pan
Random = np.random.Generator


@cache
def settings() -> dict[str, Any]:
    """The task's file."""
    data: dict[str, Any] = read_yaml(resource_path(FILE))
    return data


@dataclass(frozen=True)
class BalanceSetting:
    """One seed of the task.

    Attributes:
        alike: names of objects that look the same, and may have one another's mass.
        masses: of all that is weighed, by name [kg].
    """

    variant: str
    world: WorldSpec
    instruction: str
    goal: BalanceGoal
    alike: tuple[str, ...]
    masses: dict[str, float]


class BalanceScale(SeededTask[BalanceSetting]):
    """Seed s: variant s mod 6; s + k :data:`MASSES`: the scene and the words of s, the masses of what looks the same handed on by k."""

    name = "balance_scale"
    summary = "Weigh with a balance: find the heavier or the odd one, level the pans, sort by weight, say the grams."
    settle = 3.0

    def _make(self, seed: int) -> BalanceSetting:
        return _setting(self._arm, seed % MASSES, seed // MASSES)

    def group(self, seed: int) -> str:
        """See Task: the variant."""
        return VARIANTS[seed % MASSES % len(VARIANTS)]

    def score(self, seed: int, start: Truth, end: Truth, word: Word = SILENT) -> Score:
        """See Task; 0.5 when the goal holds but more weighings than allowed were made."""
        return judged(self.setting(seed), end, word)


def judged(setting: BalanceSetting, end: Truth, word: Word) -> Score:
    """The score of an end, ``settle`` seconds after the robot's last word; a row for each predicate."""
    world, goal = setting.world, setting.goal
    walls = {item.name: item.wall for item in world.objects if item.kind in CONTAINER_KINDS}
    found = unmet(BalanceDesk(world.fixtures[0], walls, end, word.summary, word.success), goal)
    rows = [ObjectScore(key, "check", "", why, not why, why) for key, why in found.items()]
    holds = all(row.right for row in rows)
    problems = [row.reason for row in rows if not row.right]
    many = bool(goal.weighings and word.weighings is not None and word.weighings > goal.weighings)
    if many:
        problems.append(f"{word.weighings} weighings, and {goal.weighings} are allowed")
    return Score(holds and not many, (0.5 if many else 1.0) if holds else 0.0, tuple(rows), tuple(problems))


# ---------------------------------------------------------------- scenes


@dataclass(frozen=True)
class Body:
    """Something that is weighed, before it has a place; ``pan``: where it stands at the start, empty for the desk."""

    name: str
    kind: str
    color: str
    size: tuple[float, float, float]
    grams: float
    pan: str = ""
    said: str = ""


@dataclass
class Draft:
    """A variant before it is laid out."""

    bodies: list[Body]
    goal: BalanceGoal
    words: dict[str, str] = field(default_factory=dict)
    wording: str = ""
    tray: bool = False
    alike: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def _setting(arm_name: str, seed: int, turn: int) -> BalanceSetting:
    config, arm = settings(), load_arm(arm_name)
    layout = next((item for item in config["layouts"] if arm.work_radius[1] >= item["work_radius"]), None)
    if layout is None:
        raise DeskhandError("config_error", f"{arm.name} reaches {arm.work_radius[1]:g} m; balance_scale needs {config['layouts'][-1]['work_radius']:g} m.")
    variant = VARIANTS[seed % len(VARIANTS)]
    random = np.random.default_rng([crc32(b"balance_scale"), seed])
    draft = _DRAFTS[variant](config, random, turn)
    said = _say(config, random, draft, "dev" if seed < HELD_OUT else "held_out")
    base = arm.world_T_base[:2, 3]
    for _ in range(300):
        fixture = _fixture(config, layout, random, base)
        objects = _laid_out(config, layout, random, draft, fixture, base, arm.work_radius)
        if objects:
            world = WorldSpec(tuple(objects), arm=arm_name, seed=seed, fixtures=(fixture,))
            goal = replace(draft.goal, left_to_right="left to right" in said)
            return BalanceSetting(variant, world, said, goal, draft.alike, {body.name: body.grams / 1000 for body in draft.bodies})
    raise DeskhandError("internal_error", f"no scene of balance_scale fits for seed {seed} and {arm_name}; {FILE} asks for too much.")


def _fixture(config: dict[str, Any], layout: dict[str, Any], random: Random, base: Any) -> FixtureSpec:
    place, kind, scale = layout["balance"], config["balance"], layout["scale"]
    x, y = base[0] + random.uniform(*place["x"]), base[1] + random.uniform(*place["y"])
    color = str(random.choice(kind["colors"]))
    pose = pose_at(x, y, 0.0, float(random.uniform(-1, 1)) * place["yaw"])
    length, width, height = (scale * value for value in kind["size"])
    rgb = tuple(config["colors"][color])
    return FixtureSpec("balance", "balance", (length, width, height), rgb, pose, apart=scale * kind["apart"], pan=scale * kind["pan"])


def _laid_out(
    config: dict[str, Any], layout: dict[str, Any], random: Random, draft: Draft, fixture: FixtureSpec, base: Any, reach: tuple[float, float]
) -> list[ObjectSpec]:
    """All objects at their places; empty when they do not fit."""
    yaw = float(np.arctan2(fixture.pose[1, 0], fixture.pose[0, 0]))
    taken = [Footprint(float(fixture.pose[0, 3]), float(fixture.pose[1, 3]), fixture.size[0] / 2, fixture.size[1] / 2, yaw, fixture.size[2])]
    objects: list[ObjectSpec] = []
    if draft.tray:
        kind, place = config["tray"], layout["tray"]
        side = float(random.choice([-1.0, 1.0]))
        pose = pose_at(base[0] + random.uniform(*place["x"]), base[1] + side * random.uniform(*place["y"]), kind["size"][2] / 2, random.uniform(-0.05, 0.05))
        objects.append(ObjectSpec("tray", "tray", tuple(kind["size"]), tuple(kind["rgb"]), kind["mass"], pose, kind["wall"]))
        taken.append(footprint_of(objects[0]))
    for body in draft.bodies:
        spec = ObjectSpec(body.name, body.kind, body.size, tuple(config["colors"][body.color]), body.grams / 1000, np.eye(4))
        placed = _on_pan(spec, body, draft, fixture) if body.pan else _on_desk(spec, config, layout, random, taken, base, reach)
        if placed is None:
            return []
        objects.append(placed)
        if not body.pan:
            taken.append(footprint_of(placed))
    return objects


def _on_pan(spec: ObjectSpec, body: Body, draft: Draft, fixture: FixtureSpec) -> ObjectSpec:
    """Alone in the middle of its pan, where another one follows to its left edge."""
    aside = (fixture.pan - body.size[1]) / 2 - EDGE if len(draft.goal.on_left) > 1 else 0.0
    local = pose_at(0.0, (1 if body.pan == "left" else -1) * fixture.apart / 2 + aside, fixture.size[2] + body.size[2] / 2 + DROP)
    return replace(spec, pose=fixture.pose @ local)


def _on_desk(
    spec: ObjectSpec, config: dict[str, Any], layout: dict[str, Any], random: Random, taken: Sequence[Footprint], base: Any, reach: tuple[float, float]
) -> ObjectSpec | None:
    region = layout["region"]
    for _ in range(200):
        x, y = base[0] + random.uniform(*region["x"]), base[1] + random.uniform(*region["y"])
        placed = replace(spec, pose=pose_at(x, y, spec.size[2] / 2, random.uniform(-np.pi, np.pi)))
        mine = footprint_of(placed)
        within = reach[0] <= np.hypot(x - base[0], y - base[1]) <= reach[1]
        if within and all(mine.apart(other, config["clearance"]) for other in taken):
            return placed
    return None


# ---------------------------------------------------------------- variants


def _compare(config: dict[str, Any], random: Random, turn: int) -> Draft:
    first = float(random.uniform(*config["mass"]))
    second = _other_mass(config, random, [first])
    grams = _handed_on([first, second], turn)
    alike = random.random() >= config["unlike"]
    if alike:
        bodies = _blocks(config, random, grams)
        objects = "blocks"
    else:
        kinds = [str(kind) for kind in random.permutation(["can", "box"])]
        colors = _colors(config, random, 2)
        bodies = [Body(kind, kind, color, _size(config, random, kind), mass) for kind, color, mass in zip(kinds, colors, grams, strict=True)]
        objects = " and the ".join(f"{body.color} {body.kind}" for body in bodies)
    way = str(random.choice(["heavier", "lighter"]))
    chosen = (max if way == "heavier" else min)(bodies, key=lambda body: body.grams).name
    names = tuple(body.name for body in bodies)
    words = {"things": objects, **config["heavier"][way]}
    return Draft(bodies, BalanceGoal(names, chosen=chosen), words, "compare" if alike else "compare_unlike", True, names if alike else ())


def _odd_one(config: dict[str, Any], random: Random, turn: int) -> Draft:
    odd, (low, high) = config["odd"], config["odd"]["count"]
    count = int(random.integers(low, high + 1))
    way = str(random.choice(["heavier", "lighter"]))
    by = float(random.uniform(*odd["by"])) * (1 if way == "heavier" else -1)
    mass = float(random.uniform(config["mass"][0] + odd["by"][1], config["mass"][1] - odd["by"][1]))
    which = int(random.integers(count))
    unknown = random.random() < odd["unknown"]
    bodies = _blocks(config, random, _handed_on([mass + by * (number == which) for number in range(count)], turn))
    names = tuple(body.name for body in bodies)
    chosen = names[int(np.argmax([abs(body.grams - mass) for body in bodies]))]
    allowed = weighings_allowed(count)
    words = {"things": "blocks", "most": str(allowed), **config["heavier"][way]}
    return Draft(bodies, BalanceGoal(names, chosen=chosen, weighings=allowed), words, "odd_one_unknown" if unknown else "odd_one", True, names)


def _balance(config: dict[str, Any], random: Random, turn: int) -> Draft:
    grams, colors = _weight_grams(config, random), _colors(config, random, 5)
    sums = sorted({a + b for a, b in itertools.combinations([*grams, 0.0], 2)})
    item = replace(_object(config, random, colors[4], float(sums[(int(random.integers(len(sums))) + turn) % len(sums)])), pan="left")
    weights = _weights(config, random, grams, colors)
    names = tuple(body.name for body in weights)
    goal = BalanceGoal(names, on_left=(item.name,), any_right=names, level=config["tolerance"]["level"])
    return Draft([item, *weights], goal, {"thing": item.said}, "balance", alike=(item.name,))


def _sort(config: dict[str, Any], random: Random, turn: int) -> Draft:
    low, high = config["sort"]["count"]
    masses: list[float] = []
    for _ in range(int(random.integers(low, high + 1))):
        masses.append(_other_mass(config, random, masses))
    bodies = _blocks(config, random, _handed_on(masses, turn))
    names = tuple(body.name for body in bodies)
    row = tuple(body.name for body in sorted(bodies, key=lambda body: body.grams))
    return Draft(bodies, BalanceGoal(names, row=row), {"things": "blocks"}, "sort", alike=names)


def _measure(config: dict[str, Any], random: Random, turn: int) -> Draft:
    grams, colors = _weight_grams(config, random), _colors(config, random, 5)
    most = sum(sorted(grams)[-2:])
    span = config["mass"][0], min(most, config["mass"][1])
    mass = float(random.uniform(*span))
    mass = span[0] + (mass - span[0] + 0.37 * turn * (span[1] - span[0])) % (span[1] - span[0])
    item = _object(config, random, colors[4], mass)
    weights = _weights(config, random, grams, colors)
    goal = BalanceGoal((item.name,), grams=(mass, config["tolerance"]["grams"]))
    return Draft([item, *weights], goal, {"thing": item.said}, "measure", alike=(item.name,))


def _counterweight(config: dict[str, Any], random: Random, turn: int) -> Draft:
    grams, colors = _weight_grams(config, random), _colors(config, random, 6)
    edge, base = float(random.uniform(*config["edge"])), float(random.uniform(10, 40))
    there = [Body(f"there_{side}", "block", colors[5], (edge,) * 3, base, side) for side in ("left", "right")]
    item = _object(config, random, colors[4], grams[(int(random.integers(len(grams))) + turn) % len(grams)])
    weights = _weights(config, random, grams, colors)
    names = tuple(body.name for body in weights)
    goal = BalanceGoal(names, on_left=(there[0].name, item.name), on_right=(there[1].name,), any_right=names, level=config["tolerance"]["level"])
    return Draft([*there, item, *weights], goal, {"thing": item.said}, "counterweight", alike=(item.name,))


_DRAFTS = {"compare": _compare, "odd_one": _odd_one, "balance": _balance, "sort": _sort, "measure": _measure, "counterweight": _counterweight}


def _handed_on(masses: list[float], turn: int) -> list[float]:
    turn %= len(masses)
    return [*masses[turn:], *masses[:turn]]


def _other_mass(config: dict[str, Any], random: Random, others: Sequence[float]) -> float:
    while True:
        mass = float(random.uniform(*config["mass"]))
        if all(abs(mass - other) >= config["apart"] for other in others):
            return mass


def _colors(config: dict[str, Any], random: Random, count: int) -> list[str]:
    """Different ones, of those that people tell apart at a glance."""
    return [str(color) for color in random.permutation([name for name in config["colors"] if name not in ("brown", "black")])[:count]]


def _blocks(config: dict[str, Any], random: Random, grams: Sequence[float]) -> list[Body]:
    edge, color = float(random.uniform(*config["edge"])), _colors(config, random, 1)[0]
    return [Body(f"block_{number + 1}", "block", color, (edge,) * 3, mass) for number, mass in enumerate(grams)]


def _size(config: dict[str, Any], random: Random, kind: str) -> tuple[float, float, float]:
    data = config[kind]
    if kind == "box":
        x, y, z = (float(random.uniform(*span)) for span in data["size"])
        return (x, y, z)
    diameter = float(random.uniform(*data["diameter"]))
    return (diameter, diameter, float(random.uniform(*data["height"])))


def _object(config: dict[str, Any], random: Random, color: str, grams: float) -> Body:
    """A can, whose size says nothing about its mass."""
    return Body("can", "can", color, _size(config, random, "can"), grams, said=f"{color} can")


def _weight_grams(config: dict[str, Any], random: Random) -> list[float]:
    return [float(value) for value in config["weights"][int(random.integers(len(config["weights"])))]]


def _weights(config: dict[str, Any], random: Random, grams: Sequence[float], colors: Sequence[str]) -> list[Body]:
    edge = float(random.uniform(*config["edge"]))
    return [Body(f"weight_{mass:g}", "block", color, (edge,) * 3, mass) for mass, color in zip(grams, colors, strict=False)]


# ---------------------------------------------------------------- words


def _say(config: dict[str, Any], random: Random, draft: Draft, split: str) -> str:
    wordings = config["wordings"][draft.wording.removesuffix("_unlike")][split]
    text = str(wordings[int(random.integers(len(wordings)))])
    if draft.wording == "compare_unlike":  # "which of the red can and the blue box"
        text = text.replace("two {things}", "{things}")
    weights = [body for body in draft.bodies if body.name.startswith("weight_")]
    legends = config["legend"][split]
    legend = legends[int(random.integers(len(legends)))]
    rows = [legend["row"].format(color=body.color, grams=f"{body.grams:g}") for body in weights]
    told = _sentence(legend["text"].format(rows=named(rows))) if rows else ""
    return _sentence(text.format(**draft.words, weights=told).strip())


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
