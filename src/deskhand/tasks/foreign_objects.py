"""Objects that others made (``config/foreign_objects.yaml``): which there are, where their model files lie, and desks with them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_rpy
from deskhand.sim.model_file import SUFFIX, load_model
from deskhand.sim.spec import ObjectSpec, WorldSpec
from deskhand.tasks.placement import Footprint
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

Random = np.random.Generator
CONFIG = "config/foreign_objects.yaml"
HELD_BY = ("body", "rim", "handle")
SPLITS = ("dev", "wide", "judged", "all")
ROOM = 0.008  # [m] that the open hand must be wider than what it takes
LOWEST = 0.009  # [m] of an object that fingers can take from above
TURN = np.deg2rad(50.0)  # to either side of straight ahead
DROP = 0.001  # [m] above the desk at the start
BASE = 0.07  # [m] half the side of the square on which an arm stands, at most
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_TRIES = 400


@dataclass(frozen=True)
class Kind:
    """One line of the file; see its head."""

    name: str
    package: str
    split: str
    file: str
    density: float
    up: tuple[float, float, float] | None = None
    held_by: str = "body"
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    texture: str = ""
    rgb: tuple[float, float, float] = (0.6, 0.6, 0.6)
    called: tuple[str, ...] = ()


@cache
def settings() -> dict[str, Any]:
    """``config/foreign_objects.yaml``."""
    data: dict[str, Any] = read_yaml(resource_path(CONFIG))
    return data


@cache
def catalogue() -> Mapping[str, Kind]:
    """All kinds by name.

    Raises:
        DeskhandError: ``config_error`` naming the entry that is wrong.
    """
    data, kinds = settings(), {}
    for name, entry in data["kinds"].items():
        try:
            extra: dict[str, Any] = {key: tuple(map(float, entry[key])) for key in ("scale", "rgb") if key in entry}
            extra |= {key: str(entry[key]) for key in ("held_by", "texture") if key in entry}
            extra["called"] = tuple(map(str, entry.get("called", ())))
            up = _AXES[entry["up"]] if "up" in entry else None
            density = float(data["packages"][entry["package"]]["density"])
            kinds[name] = Kind(name, entry["package"], entry["split"], entry["file"], density, up, **extra)
        except (KeyError, TypeError, ValueError) as error:
            raise DeskhandError("config_error", f"{CONFIG}: {name} is wrong: {error!r}.", hint="See the head of the file.") from error
    return kinds


def home() -> Path:
    """Where model files lie: below the user's cache, or in ``DESKHAND_FOREIGN``."""
    if given := os.environ.get("DESKHAND_FOREIGN"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "deskhand" / "foreign"


def model_path(name: str) -> Path:
    """The model file of a kind, whether it is there or not."""
    return home() / "models" / f"{name}{SUFFIX}"


def installed(split: str) -> list[Kind]:
    """The kinds of a split (one of :data:`SPLITS`, or names with commas) whose model files are there, in the order of the file.

    Raises:
        DeskhandError: ``invalid_input`` for another split or name, ``missing_dependency`` where one is not installed.
    """
    known = catalogue()
    names = [kind.name for kind in known.values() if split in (kind.split, "all")] if split in SPLITS else split.split(",")
    if unknown := sorted(set(names) - set(known)):
        raise DeskhandError("invalid_input", f"there is no foreign object {', '.join(unknown)}; valid: {', '.join(SPLITS)}, or names of {CONFIG}.")
    if missing := [name for name in names if not model_path(name).is_file()]:
        raise DeskhandError("missing_dependency", f"{', '.join(missing[:4])} and {len(missing)} in all are not in {home()}.", hint=HINT)
    return [known[name] for name in names]


HINT = "Run `deskhand bench foreign install`; it says what it gets and under which licences."


@lru_cache(maxsize=1024)
def holdable(name: str, width: float) -> tuple[tuple[int, float], ...]:
    """The rests (index, share) of a kind in which a hand that opens ``width`` [m] can take it from above: by its body, or by rim or handle."""
    kind, model = catalogue()[name], load_model(model_path(name))
    fit = [
        (number, float(share))
        for number, (rotation, share) in enumerate(zip(model.rests, model.shares, strict=True))
        if kind.held_by != "body" or (_narrowest(model.vertices @ rotation.T) < width - ROOM and float(np.ptp(model.vertices @ rotation[2])) > LOWEST)
    ]
    total = sum(share for _, share in fit)
    return tuple((number, share / total) for number, share in fit)


def graspable(split: str, arm: ArmConfig) -> list[Kind]:
    """The installed kinds of a split of which the arm's hand can take one in some rest."""
    return [kind for kind in installed(split) if holdable(kind.name, arm.gripper.width_max)]


def _narrowest(points: Array) -> float:
    """The least width [m] of an outline from above, over all directions."""
    angles = np.arange(0, np.pi, np.pi / 36)
    return float(np.ptp(points[:, :2] @ np.stack([np.cos(angles), np.sin(angles)]), axis=0).min())


@dataclass(frozen=True)
class Laid:
    """An object turned as it rests, before it has a place: world_R_object, and its box then."""

    kind: str
    rotation: Array
    low: Array
    high: Array

    def at(self, x: float, y: float, name: str) -> ObjectSpec:
        """Resting at a place of the desk."""
        model = load_model(model_path(self.kind))
        pose = make_transform(self.rotation, (x, y, DROP - float(self.low[2])))
        return ObjectSpec(name, "mesh", model.size, (0.5, 0.5, 0.5), max(0.002, model.mass), pose, mesh=model_path(self.kind))

    def footprint(self, x: float, y: float) -> Footprint:
        """The rectangle that it covers at a place."""
        centre, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return Footprint(x + float(centre[0]), y + float(centre[1]), float(half[0]), float(half[1]), 0.0, float(2 * half[2]))


def lay(kind: Kind, arm: ArmConfig, random: Random) -> Laid:
    """One of the rests in which the arm can take it, as usual as it is, turned anyhow."""
    model = load_model(model_path(kind.name))
    rests = holdable(kind.name, arm.gripper.width_max)
    number = rests[int(random.choice(len(rests), p=[share for _, share in rests]))][0]
    rotation = rotation_rpy(0.0, 0.0, random.uniform(-np.pi, np.pi)) @ model.rests[number]
    points = model.vertices @ rotation.T
    return Laid(kind.name, rotation, points.min(axis=0), points.max(axis=0))


def single_world(arm_name: str, seed: int, split: str) -> WorldSpec:
    """One foreign object on an empty desk where the arm works: the next of the split, by seed."""
    arm, random = load_arm(arm_name), np.random.default_rng([crc32(b"foreign"), seed])
    kinds = graspable(split, arm)
    laid = lay(kinds[seed % len(kinds)], arm, random)
    placed = strewn(arm, random, [laid], [], 0.0)
    assert placed is not None
    return WorldSpec(tuple(placed), arm=arm_name, seed=seed)


def cluttered_world(
    arm_name: str, seed: int, split: str, count: int, taken: Sequence[Footprint] = (), gap: float = 0.004, held_by: Sequence[str] = HELD_BY
) -> WorldSpec:
    """``count`` foreign objects close together, within the reach of the arm and beside what is ``taken``.

    Raises:
        DeskhandError: ``invalid_input`` when they find no room.
    """
    arm, random = load_arm(arm_name), np.random.default_rng([crc32(b"foreign clutter"), seed])
    kinds = [kind for kind in graspable(split, arm) if kind.held_by in held_by]
    for _ in range(60):
        chosen = [kinds[int(number)] for number in random.choice(len(kinds), count, replace=count > len(kinds))]
        placed = strewn(arm, random, [lay(kind, arm, random) for kind in chosen], taken, gap)
        if placed is not None:
            return WorldSpec(tuple(placed), arm=arm_name, seed=seed)
    raise DeskhandError("invalid_input", f"{count} foreign objects find no room within the reach of {arm_name}.", hint="Ask for fewer.")


def heaped_world(arm_name: str, seed: int, split: str, count: int, spread: float = 0.09, room: float = np.inf, floor: float = 0.0) -> WorldSpec:
    """``count`` foreign objects dropped on each other where the arm works, each within ``spread`` [m] of its middle: they touch, lean and lie on each other.

    ``room``: none reaches farther than this from the middle [m]; ``floor``: they are dropped onto something as high [m].
    """
    arm, random = load_arm(arm_name), np.random.default_rng([crc32(b"foreign heap"), seed])
    kinds = graspable(split, arm)
    middle = arm.world_T_base[:2, 3] + [sum(arm.work_radius) / 2, 0.0]
    dropped: list[tuple[Array, float, float]] = []  # place, top and half width of each
    items = []
    for number in range(count):
        laid = lay(kinds[int(random.integers(len(kinds)))], arm, random)
        while (half := float(np.linalg.norm((laid.high - laid.low)[:2])) / 2) > room:
            laid = lay(kinds[int(random.integers(len(kinds)))], arm, random)
        reach = min(spread, room - half)
        place = middle + random.uniform(-reach, reach, 2)
        lift = max((top + 0.003 for other, top, wide in dropped if np.linalg.norm(place - other) < half + wide), default=floor)
        item = laid.at(float(place[0]), float(place[1]), f"{laid.kind}_{number + 1}")
        pose = item.pose.copy()
        pose[2, 3] += lift
        items.append(replace(item, pose=pose))
        dropped.append((place, lift + float(laid.high[2] - laid.low[2]), half))
    return WorldSpec(tuple(items), arm=arm_name, seed=seed)


def strewn(arm: ArmConfig, random: Random, laid: Sequence[Laid], taken: Sequence[Footprint], gap: float) -> list[ObjectSpec] | None:
    """Each somewhere within the arm's work radius, ``gap`` [m] or more from the others and from what is ``taken``; None when they find no room."""
    base_x, base_y = (float(value) for value in arm.world_T_base[:2, 3])
    spots = [Footprint(base_x, base_y, BASE, BASE, 0.0), *taken]
    low, high = arm.work_radius
    placed: list[tuple[int, ObjectSpec]] = []
    for number in sorted(range(len(laid)), key=lambda number: -float(np.prod((laid[number].high - laid[number].low)[:2]))):
        item = laid[number]
        for _ in range(_TRIES):
            radius, angle = random.uniform(low + 0.02, high - 0.02), random.uniform(-TURN, TURN)
            x, y = base_x + radius * np.cos(angle), base_y + radius * np.sin(angle)
            spot = item.footprint(x, y)
            if abs(spot.y) < 0.26 and all(spot.apart(other, gap) for other in spots):
                spots.append(spot)
                placed.append((number, item.at(x, y, f"{item.kind}_{number + 1}")))
                break
        else:
            return None
    return [item for _, item in sorted(placed, key=lambda pair: pair[0])]


def kind_of(name: str) -> str:
    """The kind of an object that :func:`strewn` named."""
    return name.rpartition("_")[0]
