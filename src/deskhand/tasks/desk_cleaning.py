"""Clean the desk: everything on it goes into the container where it belongs, as the instruction says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_rpy
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, Truth, WorldSpec, pose_at
from deskhand.tasks.base import SILENT, ObjectScore, Score, SeededTask, Word
from deskhand.tasks.placement import AT_REST, FLOOR, UPRIGHT, footprint_of, tilt, where_is
from deskhand.tasks.wording import Rule, make_rules, say
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

Random = np.random.Generator


@cache
def settings() -> dict[str, Any]:
    """``config/tasks/desk_cleaning.yaml``."""
    data: dict[str, Any] = read_yaml(resource_path("config/tasks/desk_cleaning.yaml"))
    return data


@dataclass(frozen=True)
class Setting:
    """One seed of the task: the world, what is said, and where each object belongs."""

    world: WorldSpec
    instruction: str
    goal: dict[str, str]
    rules: tuple[Rule, ...]


class DeskCleaning(SeededTask[Setting]):
    """4 to 8 objects of nine kinds, 2 or 3 containers, a rule by kind, colour or group in one of many wordings."""

    name = "desk_cleaning"
    summary = "Put everything on the desk into the container where it belongs."

    def _make(self, seed: int) -> Setting:
        return _setting(self._arm, seed)

    def score(self, seed: int, start: Truth, end: Truth, word: Word = SILENT) -> Score:
        """See Task. Every object in its container and at rest, nothing dropped, every container upright and on the desk."""
        setting = self.setting(seed)
        walls = {item.name: item.wall for item in setting.world.objects if item.kind in CONTAINER_KINDS}
        containers = {name: (end.get(name), wall) for name, wall in walls.items()}
        problems = []
        for name, (container, _) in containers.items():
            if tilt(container) > UPRIGHT:
                problems.append(f"{name} is knocked over")
            elif container.pose[2, 3] < FLOOR:
                problems.append(f"{name} has fallen off the desk")
        rows = []
        for name, wanted in setting.goal.items():
            item = end.get(name)
            found = where_is(item, containers, end.in_hand)
            reason = "" if found == wanted else f"is {_said(found)}, belongs in {wanted}"
            if not reason and item.velocity > AT_REST:
                reason = f"still moves at {item.velocity:.2f} m/s"
            rows.append(ObjectScore(name, item.kind, wanted, found, not reason, reason))
            if found == "floor":
                problems.append(f"{name} was dropped")
        right = sum(row.right for row in rows)
        return Score(right == len(rows) and not problems, right / len(rows), tuple(rows), tuple(problems))


def _said(found: str) -> str:
    return {"table": "on the table", "floor": "on the floor", "hand": "in the gripper"}.get(found, f"in {found}")


@lru_cache(maxsize=256)
def _setting(arm_name: str, seed: int) -> Setting:
    config = laid_out(load_arm(arm_name))
    random = np.random.default_rng([crc32(b"desk_cleaning"), seed])
    low, high = config["objects"]
    # How many is drawn once: what is hard to fit would else be rare.
    count, three = int(random.integers(low, high + 1)), bool(random.random() < config["three_containers"])
    for _ in range(500):
        containers = _containers(config, random, three)
        items = _objects(config, random, count)
        placed = _strew(config, random, containers, items)
        rules = make_rules(config, random, items, [item.kind for item in containers]) if placed else None
        if placed and rules:
            names = {item.kind: item.name for item in containers}
            goal = {item.name: names[rule.container] for item in placed for rule in rules if item.name in rule.objects}
            objects = (*containers, *placed)
            return Setting(WorldSpec(objects, arm=arm_name, seed=seed), say(config, random, rules, placed), goal, tuple(rules))
    raise DeskhandError("internal_error", f"no scene of desk_cleaning fits for seed {seed} and {arm_name}; config/tasks/desk_cleaning.yaml asks for too much.")


def laid_out(arm: ArmConfig) -> dict[str, Any]:
    """The settings with the first of ``layouts`` that the arm's reach allows; its places moved to where the arm stands."""
    config = settings()
    most = arm.work_radius[1]
    layout = next((item for item in config["layouts"] if most >= item["work_radius"]), None)
    if layout is None:
        raise DeskhandError("config_error", f"{arm.name} reaches {most:g} m; desk_cleaning needs {config['layouts'][-1]['work_radius']:g} m.")
    x, y = (float(value) for value in arm.world_T_base[:2, 3])

    def moved(place: dict[str, Any]) -> dict[str, Any]:
        shifted = {"x": x, "y": y}
        return {key: (np.asarray(value, dtype=float) + shifted[key]).tolist() for key, value in place.items()}

    placed = {key: moved(layout[key]) for key in ("region", "place_alone", "place_pair") if key in layout}
    return {**config, **layout, **placed, "base": [x, y], "reach": list(arm.work_radius)}


def _containers(config: dict[str, Any], random: Random, three: bool) -> list[ObjectSpec]:
    """Two containers, one a side, or three, two of them on one side."""
    kinds = [str(kind) for kind in random.permutation(list(config["containers"]))]
    side = float(random.choice([-1.0, 1.0]))
    alone = config["place_alone"]
    if three:
        pair = config["place_pair"]
        places = [(x, side * random.uniform(*pair["y"])) for x in (random.uniform(*span) for span in pair["x"])]
    else:
        kinds = kinds[:2]
        places = [(random.uniform(*alone["x"]), side * random.uniform(*alone["y"]))]
    places.append((random.uniform(*alone["x"]), -side * random.uniform(*alone["y"])))
    result = []
    for kind, (x, y) in zip(kinds, places, strict=True):
        data = config["containers"][kind]
        yaw = random.uniform(-1, 1) * config["container_yaw"]
        pose = pose_at(x, y, data["size"][2] / 2, yaw)
        result.append(ObjectSpec(kind, kind, tuple(data["size"]), tuple(data["rgb"]), data["mass"], pose, data["wall"]))
    return result


@dataclass(frozen=True)
class LooseObject:
    """An object before it has a place."""

    name: str
    kind: str
    color: str
    size: tuple[float, float, float]
    mass: float


def _objects(config: dict[str, Any], random: Random, count: int) -> list[LooseObject]:
    """A random mix: ``kinds_at_least`` different kinds where there are that many objects."""
    kinds = list(config["kinds"])
    different = int(random.integers(min(count, config["kinds_at_least"]), min(count, len(kinds)) + 1))
    chosen = [str(kind) for kind in random.choice(kinds, different, replace=False)]
    chosen += [str(kind) for kind in random.choice(chosen, count - different)]
    objects, numbers = [], dict.fromkeys(kinds, 0)
    for kind in chosen:
        numbers[kind] += 1
        color = str(random.choice(list(config["colors"])))
        size, mass = size_and_mass(config["kinds"][kind], random)
        objects.append(LooseObject(f"{kind}_{numbers[kind]}", kind, color, size, mass))
    return objects


def size_and_mass(data: dict[str, Any], random: Random) -> tuple[tuple[float, float, float], float]:
    """Extents (x, y, z) [m] and mass [kg] of an object, drawn from the ranges of its kind."""

    def draw(span: list[float]) -> float:
        return float(random.uniform(span[0], span[1]))

    form = data["form"]
    if form == "cube":
        edge = draw(data["edge"])
        return (edge, edge, edge), data["density"] * edge**3
    if form == "ball":
        diameter = draw(data["diameter"])
        return (diameter, diameter, diameter), draw(data["mass"])
    if form == "cuboid":
        x, y, z = (draw(span) for span in data["size"])
        return (x, y, z), draw(data["mass"])
    diameter = draw(data["diameter"])
    return (diameter, diameter, draw(data["height" if form == "standing" else "length"])), draw(data["mass"])


def _strew(config: dict[str, Any], random: Random, containers: list[ObjectSpec], objects: list[LooseObject]) -> list[ObjectSpec]:
    """Objects at random places and turns, none nearer to another than the clearances; empty when they do not fit."""
    taken = [(footprint_of(item), True) for item in containers]
    placed: list[ObjectSpec] = []
    # Long objects first: they need the room.
    for obj in sorted(objects, key=lambda obj: -max(obj.size)):
        for _ in range(300):
            item = _at_random(config, random, obj)
            spot = footprint_of(item)
            radius = float(np.hypot(spot.x - config["base"][0], spot.y - config["base"][1]))
            if config["reach"][0] <= radius <= config["reach"][1] and all(
                spot.apart(other, _clearance(config, max(spot.height, other.height), is_container)) for other, is_container in taken
            ):
                taken.append((spot, False))
                placed.append(item)
                break
        else:
            return []
    return placed


def _clearance(config: dict[str, Any], height: float, is_container: bool) -> float:
    return float(config["clearance_container"] if is_container else config["clearance_tall"] if height > config["tall"] else config["clearance"])


def _at_random(config: dict[str, Any], random: Random, item: LooseObject) -> ObjectSpec:
    x, y = random.uniform(*config["region"]["x"]), random.uniform(*config["region"]["y"])
    yaw = random.uniform(-np.pi, np.pi)
    if config["kinds"][item.kind]["form"] == "lying":
        pose = pose_at(x, y, item.size[0] / 2)
        pose[:3, :3] = rotation_rpy(0.0, np.pi / 2, yaw)
    else:
        pose = pose_at(x, y, item.size[2] / 2, yaw)
    return ObjectSpec(item.name, item.kind, item.size, tuple(config["colors"][item.color]), item.mass, pose)
