"""Free instructions about the desk: cases of config/tasks/free_instructions.yaml, each with a scene, what is said, and what must be true at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_about
from deskhand.sim.fields import Field
from deskhand.sim.objectfile import object_from
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, Truth, WorldSpec
from deskhand.tasks.base import SILENT, ObjectScore, Remark, Score, SeededTask, Word
from deskhand.tasks.checks import CHECKS, OTHER_KEYS, JudgedDesk, check
from deskhand.tasks.desk_cleaning import laid_out
from deskhand.tasks.placement import footprint_of
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FILE = "config/tasks/free_instructions.yaml"
Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """One seed of the task."""

    name: str
    share: str
    world: WorldSpec
    says: tuple[str, ...]
    remarks: tuple[Remark, ...]
    want: dict[str, Any]
    colors: dict[str, str]

    @property
    def instruction(self) -> str:
        """All that is said to begin with."""
        return " … ".join(self.says)


@cache
def settings() -> dict[str, Any]:
    """The file.

    Raises:
        DeskhandError: ``config_error`` naming the case whose ``want`` has an unknown key or whose scene there is not.
    """
    data: dict[str, Any] = read_yaml(resource_path(FILE))
    for case in data["cases"]:
        unknown = set(case["want"]) - {*CHECKS, *OTHER_KEYS}
        if unknown or case["scene"] not in data["scenes"]:
            what = f"unknown in want: {', '.join(sorted(unknown))}" if unknown else f"there is no scene {case['scene']!r}"
            raise DeskhandError("config_error", f"{FILE}: case {case['name']}: {what}.", hint=f"Known: {', '.join((*CHECKS, *OTHER_KEYS))}.")
    return data


class FreeInstructions(SeededTask[Case]):
    """Seed s: case s mod their number, in its variation s div that."""

    name = "free_instructions"
    summary = "Follow free instructions about the desk: sorting, arranging, questions, corrections, undoing, refusing."

    def _make(self, seed: int) -> Case:
        return _case(self._arm, seed)

    def instructions(self, seed: int) -> tuple[str, ...]:
        """See Task."""
        return self.setting(seed).says

    def remarks(self, seed: int) -> tuple[Remark, ...]:
        """See Task."""
        return self.setting(seed).remarks

    def group(self, seed: int) -> str:
        """See Task: whether the case was there while the offline brain was made (``dev``) or held out."""
        return self.setting(seed).share

    def score(self, seed: int, start: Truth, end: Truth, word: Word = SILENT) -> Score:
        """See Task. A row for each kind of check; success needs all of them."""
        case = self.setting(seed)
        found = check(JudgedDesk(case.world, start, end, word, case.colors), case.want)
        rows = tuple(
            ObjectScore(key, "check", str(case.want.get(key, "")), "; ".join(problems), not problems, "; ".join(problems)) for key, problems in found.items()
        )
        right = sum(row.right for row in rows)
        return Score(right == len(rows), right / len(rows), rows, tuple(problem for problems in found.values() for problem in problems))


@cache
def _case(arm: str, seed: int) -> Case:
    data = settings()
    case = data["cases"][seed % len(data["cases"])]
    random = np.random.default_rng([crc32(case["name"].encode()), seed // len(data["cases"])])
    objects = data["scenes"][case["scene"]]
    says = case["say"]
    return Case(
        case["name"],
        case["share"],
        WorldSpec(_strewn(objects, data["jitter"], laid_out(load_arm(arm)), random), arm=arm, seed=seed),
        (says,) if isinstance(says, str) else tuple(says),
        tuple(Remark(item["say"], item.get("asked", ""), item.get("after", "")) for item in case.get("person", ())),
        case["want"],
        {item["name"]: str(item["color"]) for item in objects},
    )


def _strewn(objects: Sequence[dict[str, Any]], jitter: dict[str, float], config: dict[str, Any], random: Random) -> tuple[ObjectSpec, ...]:
    """The objects, those with a pose near it, the others anywhere in reach with room between them."""
    for _ in range(200):
        specs: list[ObjectSpec] = []
        for data in sorted(objects, key=lambda item: "pose" not in item):
            spec = object_from(Field({"pose": [0.0, 0.0], **data}, data["name"], FILE), specs, resource_path("config"))
            placed = _near(spec, jitter, random) if "pose" in data else _anywhere(spec, specs, config, random)
            if placed is None:
                break
            specs.append(placed)
        else:
            return tuple(specs)
    raise DeskhandError("config_error", f"{FILE}: there is no room for {', '.join(item['name'] for item in objects)}.")


def _near(spec: ObjectSpec, jitter: dict[str, float], random: Random) -> ObjectSpec:
    """Containers and what is in them stay in place; the rest is shifted and turned a little."""
    if spec.kind in CONTAINER_KINDS or spec.pose[2, 3] > spec.size[2] / 2 + 0.004:
        return spec
    pose = spec.pose.copy()
    pose[:3, :3] = rotation_about([0, 0, 1], float(random.uniform(-1, 1)) * jitter["yaw"]) @ pose[:3, :3]
    pose[:2, 3] += random.uniform(-1, 1, 2) * jitter["position"]
    return replace(spec, pose=pose)


def _anywhere(spec: ObjectSpec, others: Sequence[ObjectSpec], config: dict[str, Any], random: Random) -> ObjectSpec | None:
    region, base = config["region"], np.asarray(config["base"])
    for _ in range(200):
        pose = spec.pose.copy()
        pose[:3, :3] = rotation_about([0, 0, 1], float(random.uniform(-np.pi, np.pi))) @ pose[:3, :3]
        pose[:2, 3] = random.uniform(*region["x"]), random.uniform(*region["y"])
        radius = float(np.linalg.norm(pose[:2, 3] - base))
        placed = replace(spec, pose=pose)
        if config["reach"][0] <= radius <= config["reach"][1] and all(_apart(placed, other, config) for other in others):
            return placed
    return None


def _apart(a: ObjectSpec, b: ObjectSpec, config: dict[str, Any]) -> bool:
    one, other = footprint_of(a), footprint_of(b)
    tall = max(one.height, other.height) > config["tall"]
    gap = config["clearance_container" if {a.kind, b.kind} & set(CONTAINER_KINDS) else "clearance_tall" if tall else "clearance"]
    return one.apart(other, gap)
