"""Clean a desk that is harder to clean: objects that touch and lie on each other, or containers that are half full already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, TruthObject, WorldSpec
from deskhand.tasks.clutter import cluttered_desk
from deskhand.tasks.desk_cleaning import DeskCleaning, Setting, settings
from deskhand.tasks.placement import is_inside
from deskhand.tasks.wording import Rule, classes_of, make_rules, rule_words, say

Random = np.random.Generator
_WORLDS = 60


@dataclass(frozen=True)
class Hardness:
    """How a desk is made: objects (by the arm's layout: wide, narrow), and the shares of them that touch, lie on others, lie in containers."""

    name: str
    wide: tuple[int, int]
    narrow: tuple[int, int]
    touching: float = 0.0
    stacked: float = 0.0
    filled: float = 0.0


CLUTTER = Hardness("desk_cleaning_clutter", (7, 10), (3, 4), touching=0.5, stacked=0.2)
FULL = Hardness("desk_cleaning_full", (8, 11), (4, 5), filled=0.45)


@dataclass(frozen=True)
class _LooseObject:
    name: str
    kind: str
    color: str


class _HardDeskCleaning(DeskCleaning):
    hardness: Hardness

    def _make(self, seed: int) -> Setting:
        return _setting(self._arm, seed, self.hardness)


class DeskCleaningClutter(_HardDeskCleaning):
    """7 to 10 objects (3 or 4 before a small arm), half of them touching others, a fifth on top of others."""

    name = "desk_cleaning_clutter"
    summary = "Put everything on a cluttered desk, where objects touch and lie on each other, into the container where it belongs."
    hardness = CLUTTER


class DeskCleaningFull(_HardDeskCleaning):
    """8 to 11 objects (4 or 5 before a small arm), nearly half of them in their containers already."""

    name = "desk_cleaning_full"
    summary = "Put the rest on the desk into containers that are half full."
    hardness = FULL


@lru_cache(maxsize=256)
def _setting(arm_name: str, seed: int, hard: Hardness) -> Setting:
    config, reach = settings(), load_arm(arm_name).work_radius[1]
    random = np.random.default_rng([crc32(hard.name.encode()), seed])
    span = hard.wide if reach >= config["layouts"][0]["work_radius"] else hard.narrow
    count = int(random.integers(span[0], span[1] + 1))
    for _ in range(_WORLDS):
        number = int(random.integers(2**31))
        try:
            world = cluttered_desk(arm_name, number, count, stacked=hard.stacked, containers=2, filled=hard.filled, touching=hard.touching)
        except DeskhandError:  # so many objects of such sizes find no room: draw others
            continue
        containers = [item for item in world.objects if item.kind in CONTAINER_KINDS]
        loose = [item for item in world.objects if item.kind not in CONTAINER_KINDS]
        objects = [_LooseObject(item.name, item.kind, _color(item)) for item in loose]
        rules = _rules(random, objects, containers, _inside(loose, containers))
        if rules:
            goal = {name: rule.container for rule in rules for name in rule.objects}
            placed = WorldSpec(world.objects, arm=arm_name, seed=seed)
            return Setting(placed, say(config, random, rules, objects), goal, tuple(rules))
    raise DeskhandError("internal_error", f"no scene of {hard.name} fits for seed {seed} and {arm_name}.")


def _color(item: ObjectSpec) -> str:
    return next(str(name) for name, rgb in settings()["colors"].items() if np.allclose(rgb, item.rgb))


def _inside(loose: Sequence[ObjectSpec], containers: Sequence[ObjectSpec]) -> dict[str, str]:
    """Which object lies in which container at the start."""
    found = {}
    for item in loose:
        for container in containers:
            if is_inside(_as_truth(item), _as_truth(container), container.wall):
                found[item.name] = container.kind
    return found


def _as_truth(item: ObjectSpec) -> TruthObject:
    return TruthObject(item.name, item.kind, item.size, item.pose)


def _rules(random: Random, objects: Sequence[_LooseObject], containers: Sequence[ObjectSpec], inside: dict[str, str]) -> list[Rule]:
    """As make_rules, but what lies in a container already belongs there; empty when the objects in them cannot be told apart so."""
    config, kinds = settings(), [item.kind for item in containers]
    if not inside:
        return make_rules(config, random, objects, kinds)
    for style in random.permutation(list(config["styles"])):
        groups = classes_of(config, str(style), objects)
        places = {label: {inside[name] for name in names if name in inside} for label, names in groups.items()}
        if any(len(found) > 1 for found in places.values()):
            continue
        where = {label: next(iter(found)) if found else str(random.choice(kinds)) for label, found in places.items()}
        rules = []
        for kind in random.permutation(kinds):
            labels = [label for label in groups if where[label] == kind]
            if labels:
                rules.append(Rule(rule_words(config, str(style), labels), str(kind), tuple(name for label in labels for name in groups[label])))
        if len(rules) == len(kinds):
            return rules
    return []
