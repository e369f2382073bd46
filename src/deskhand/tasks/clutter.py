"""Cluttered desks from a seed: objects side by side and touching, on top of each other, leaning, in containers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about, rotation_rpy
from deskhand.grasping.wrist import WristReach
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.tasks.desk_cleaning import laid_out, size_and_mass
from deskhand.tasks.placement import Footprint, footprint_of

Random = np.random.Generator
CARRIERS = ("block", "box", "sponge", "eraser", "can")
"""Kinds with a level top that others can stand on."""
ROUND = ("ball",)
LYING = ("pen", "marker")
MOST_LEVELS = 3  # of objects on each other
BASE = 0.07  # [m] half the side of the square on which an arm stands, at most
_TOUCH = 0.0008  # [m] between objects that are said to touch: what overlaps flies apart
_TRIES = 100  # of a place for an object
_DESKS = 100
_DENSEST = 0.6  # share of the region that objects may cover


def cluttered_desk(
    arm: str,
    seed: int,
    count: int = 10,
    *,
    stacked: float = 0.0,
    containers: int = 0,
    filled: float = 0.0,
    kinds: tuple[str, ...] | None = None,
    touching: float = 0.4,
) -> WorldSpec:
    """A desk full of objects within the reach of ``arm``; the same arguments give the same desk.

    Kinds, sizes, colours and containers are those of ``config/tasks/desk_cleaning.yaml``.

    Args:
        arm: name in config/arms or a YAML file.
        seed: 0 or more.
        count: objects, containers not counted.
        stacked: share of them that stands on others (pens and markers lean against others), up to three on each other.
        containers: how many (0 to 3; a small arm has room for 2).
        filled: share of the objects that lies in the containers.
        kinds: of the objects; default: all.
        touching: share of the others that is pushed against a neighbour; the rest keeps 5 mm or more.

    Raises:
        DeskhandError: ``invalid_input`` for arguments that make no desk, or when so many objects find no room.
    """
    config = laid_out(load_arm(arm))
    above = _above(arm)
    _check(config, (seed, count, containers), (stacked, filled, touching), kinds)
    random = np.random.default_rng([crc32(b"clutter"), seed])
    for _ in range(_DESKS):
        objects = _objects(config, random, count, kinds)
        if _area(objects) * (1 - stacked - filled) > _DENSEST * float(np.prod([np.ptp(config["region"][axis]) for axis in "xy"])):
            break
        desk = _Desk(config, random, touching, above)
        if desk.fill(objects, round(count * stacked), containers, round(count * filled)):
            return WorldSpec(tuple(desk.objects), arm=arm, seed=seed)
    raise DeskhandError("invalid_input", f"{count} objects with {containers} containers find no room within the reach of {arm}.", hint="Ask for fewer objects.")


def _check(config: dict[str, Any], numbers: tuple[int, int, int], shares: tuple[float, float, float], kinds: tuple[str, ...] | None) -> None:
    """Refuse arguments that make no desk; ``numbers``: seed, count, containers; ``shares``: stacked, filled, touching."""
    (seed, count, containers), (stacked, filled, touching) = numbers, shares
    most = 3 if "place_pair" in config else 2
    known = config["kinds"]
    problems = [
        (min(seed, count) < 0, f"seed and count must be 0 or more, got {seed} and {count}"),
        (not 0 <= containers <= most, f"containers must be 0 to {most} for this arm, got {containers}"),
        (min(shares) < 0 or max(stacked + filled, touching) > 1, f"stacked + filled and touching must be 0 to 1, got {stacked} + {filled} and {touching}"),
        (filled > 0 and containers == 0, "there is no container to fill"),
        (kinds is not None and not (kinds and set(kinds) <= set(known)), f"kinds must be of {', '.join(known)}, got {kinds}"),
        (bool(kinds) and round(count * stacked) > 0 and not set(kinds or ()) & set(CARRIERS), f"to stack, one kind must be of {', '.join(CARRIERS)}"),
    ]
    for wrong, text in problems:
        if wrong:
            raise DeskhandError("invalid_input", f"{text}.")


def _objects(config: dict[str, Any], random: Random, count: int, kinds: tuple[str, ...] | None) -> list[ObjectSpec]:
    """Objects that have no place yet."""
    chosen = [str(kind) for kind in random.choice(list(kinds or config["kinds"]), count)]
    result = []
    for number, kind in enumerate(chosen):
        size, mass = size_and_mass(config["kinds"][kind], random)
        rgb = config["colors"][str(random.choice(list(config["colors"])))]
        result.append(ObjectSpec(f"{kind}_{chosen[: number + 1].count(kind)}", kind, size, tuple(rgb), mass, np.eye(4)))
    return result


def _area(objects: list[ObjectSpec]) -> float:
    """[m2] that objects cover when they stand or lie side by side."""
    return sum(float(np.prod(sorted(item.size)[1:])) if item.kind in LYING else item.size[0] * item.size[1] for item in objects)


@dataclass(frozen=True)
class _Spot:
    """What stands at a place: its footprint, the height of its top [m], its level (1 on the desk)."""

    item: ObjectSpec
    footprint: Footprint
    top: float
    level: int = 1
    carries: bool = False


class _Above:
    """Where a hand that looks straight down may be: a stack may be too high for a small arm where it still reaches the table."""

    def __init__(self, arm: ArmConfig) -> None:
        self._wrist, self._base = WristReach(RobotModel.load(arm)), arm.world_T_base[:2, 3]

    def reaches(self, item: ObjectSpec) -> bool:
        """Whether a hand can close on the middle of ``item``, and come there from 5 cm higher."""
        x, y, z = item.pose[:3, 3]
        outward = np.arctan2(y - self._base[1], x - self._base[0])
        down = make_transform(rotation_rpy(np.pi, 0.0, float(outward)), (x, y, z))
        return bool(self._wrist.within(down[None])[0])


@lru_cache(maxsize=8)
def _above(arm: str) -> _Above:
    return _Above(load_arm(arm))


class _Desk:
    """Places objects one after the other; gives up when one finds no room."""

    def __init__(self, config: dict[str, Any], random: Random, touching: float, above: _Above) -> None:
        self.config, self.random, self.touching, self._above = config, random, touching, above
        self.objects: list[ObjectSpec] = []
        self._spots: list[_Spot] = []
        self._walls: list[Footprint] = []
        self._leant: list[Footprint] = []

    def fill(self, objects: list[ObjectSpec], stacked: int, containers: int, filled: int) -> bool:
        """True when all found a place."""
        boxes = [self._container(number, kind) for number, kind in enumerate(map(str, self.random.permutation(list(self.config["containers"]))[:containers]))]
        inside = [objects.pop(int(self.random.integers(len(objects)))) for _ in range(filled)]
        upper = self._uppers(objects, stacked)
        lower = [item for item in objects if not any(item is other for other in upper)]
        return (
            len(upper) == stacked
            and all(self._put_inside(item, boxes[number % len(boxes)]) for number, item in enumerate(inside))
            and all(self._put_down(item) for item in sorted(lower, key=lambda item: -max(item.size)))
            and all(self._put_on(item) for item in sorted(upper, key=lambda item: item.kind in LYING))
        )

    def _uppers(self, objects: list[ObjectSpec], stacked: int) -> list[ObjectSpec]:
        """Objects to put on others; some carriers stay below."""
        may = [item for item in self.random.permutation(np.array(objects, dtype=object)) if item.kind not in ROUND]
        carriers = [item for item in may if item.kind in CARRIERS]
        below = carriers[: max(1, -(-stacked // (MOST_LEVELS - 1)))] if carriers and stacked else carriers
        return [item for item in may if not any(item is other for other in below)][:stacked]

    # ------------------------------------------------------------ on the desk

    def _container(self, number: int, kind: str) -> ObjectSpec:
        data, side = self.config["containers"][kind], (-1.0 if number % 2 else 1.0)
        third = number == 2  # beside the first
        place = self.config["place_pair"] if third or (number == 0 and len(self._walls) == 0 and "place_pair" in self.config) else self.config["place_alone"]
        span = place["x"][1 if third else 0] if isinstance(place["x"][0], list) else place["x"]
        x, y = self.random.uniform(*span), side * self.random.uniform(*place["y"])
        yaw = self.random.uniform(-1, 1) * self.config["container_yaw"]
        item = ObjectSpec(kind, kind, tuple(data["size"]), tuple(data["rgb"]), data["mass"], pose_at(x, y, data["size"][2] / 2, yaw), data["wall"])
        self.objects.append(item)
        self._walls.append(footprint_of(item))
        return item

    def _put_down(self, item: ObjectSpec) -> bool:
        neighbours = [spot.footprint for spot in self._spots]
        for _ in range(_TRIES):
            x, y = self.random.uniform(*self.config["region"]["x"]), self.random.uniform(*self.config["region"]["y"])
            placed = _standing(item, x, y, self.random.uniform(-np.pi, np.pi))
            gap = 0.005
            if neighbours and self.random.random() < self.touching:
                placed, gap = self._pushed(item, neighbours[int(self.random.integers(len(neighbours)))]), _TOUCH
            spot = footprint_of(placed)
            if self._reachable(spot) and all(spot.apart(other, gap) for other in neighbours) and all(spot.apart(wall, 0.02) for wall in self._walls):
                self._add(placed, spot)
                return True
        return False

    def _pushed(self, item: ObjectSpec, neighbour: Footprint) -> ObjectSpec:
        """``item`` moved against ``neighbour`` from a random side, half of the times flush with it."""
        angle = self.random.uniform(-np.pi, np.pi)
        flush = self.random.random() < 0.5
        if flush:
            angle = neighbour.yaw + np.pi / 2 * int(self.random.integers(4))
        direction = np.array([np.cos(angle), np.sin(angle)])
        yaw = neighbour.yaw + np.pi / 2 * int(self.random.integers(2)) if flush else self.random.uniform(-np.pi, np.pi)
        slide = self.random.uniform(-0.4, 0.4) * min(neighbour.half_x, neighbour.half_y) * np.array([-direction[1], direction[0]])
        near, far = 0.0, 0.25
        for _ in range(14):
            middle = (near + far) / 2
            x, y = [neighbour.x, neighbour.y] + slide + direction * middle
            near, far = (near, middle) if footprint_of(_standing(item, x, y, yaw)).distance(neighbour) > _TOUCH else (middle, far)
        x, y = [neighbour.x, neighbour.y] + slide + direction * far
        return _standing(item, x, y, yaw)

    def _reachable(self, spot: Footprint) -> bool:
        x, y = self.config["base"]
        radius = float(np.hypot(spot.x - x, spot.y - y))
        near, far = self.config["reach"]
        return bool(near <= radius <= far) and spot.apart(Footprint(x, y, BASE, BASE, 0.0), 0.005)

    def _add(self, item: ObjectSpec, spot: Footprint, level: int = 1) -> None:
        self.objects.append(item)
        top = float(item.pose[2, 3] + np.abs(item.pose[2, :3]) @ np.asarray(item.size) / 2)
        self._spots.append(_Spot(item, spot, top, level))

    # ------------------------------------------------------------ on others

    def _put_on(self, item: ObjectSpec) -> bool:
        carriers = [number for number, spot in enumerate(self._spots) if spot.item.kind in CARRIERS and spot.level < MOST_LEVELS and not spot.carries]
        for number in self.random.permutation(carriers):
            below = self._spots[number]
            placed = self._leaning(item, below) if item.kind in LYING else self._stood(item, below)
            if placed is not None:
                self._spots[number] = replace(below, carries=True)
                self._add(placed, footprint_of(placed) if item.kind not in LYING else below.footprint, MOST_LEVELS if item.kind in LYING else below.level + 1)
                return True
        return False

    def _stood(self, item: ObjectSpec, below: _Spot) -> ObjectSpec | None:
        """On the middle of ``below``, its centre of mass well above it."""
        area = np.array([below.footprint.half_x, below.footprint.half_y])
        if min(item.size[:2]) > 3.2 * area.min() or (below.item.kind == "can" and item.kind in CARRIERS and max(item.size[:2]) > 4 * area.min()):
            return None
        c, s = np.cos(below.footprint.yaw), np.sin(below.footprint.yaw)
        shift = np.array([[c, -s], [s, c]]) @ (self.random.uniform(-0.25, 0.25, 2) * area)
        yaw = below.footprint.yaw + np.pi / 2 * int(self.random.integers(2)) + self.random.normal(0.0, 0.3)
        placed = _standing(item, below.footprint.x + shift[0], below.footprint.y + shift[1], yaw, below.top + _TOUCH)
        spot = footprint_of(placed)
        # What stands beside may be as high: nothing may overlap.
        clear = all(other is below or other.top < below.top or spot.apart(other.footprint, 0.003) for other in self._spots)
        return placed if clear and self._above.reaches(placed) else None

    def _leaning(self, item: ObjectSpec, below: _Spot) -> ObjectSpec | None:
        """A pen with one end on the desk and its middle on the top edge of ``below``."""
        radius, length = item.size[0] / 2, item.size[2]
        if below.level != 1 or not 0.02 < below.top < 0.06 or below.item.kind == "can":
            return None
        for turn in self.random.permutation(4):
            side = below.footprint.half_x if turn % 2 == 0 else below.footprint.half_y
            angle = below.footprint.yaw + np.pi / 2 * turn
            away = np.array([np.cos(angle), np.sin(angle)])
            slope = float(np.arctan2(below.top, self.random.uniform(0.62, 0.78) * length))
            # The axis runs one radius above the edge; its lower end is one radius above the desk.
            rise = (length / 2 * np.sin(slope)) + radius * np.cos(slope) + _TOUCH
            edge = np.array([below.footprint.x, below.footprint.y]) + away * side
            out = (below.top + radius / np.cos(slope) + 2 * _TOUCH - rise) / np.tan(slope)
            x, y = edge + away * out
            pose = make_transform(rotation_rpy(0.0, 0.0, angle) @ rotation_about((0, 1, 0), np.pi / 2 + slope), (x, y, rise))
            flat = Footprint(x, y, length / 2 * np.cos(slope), radius, angle)
            foot = footprint_of(_standing(item, float(x + away[0] * length / 4), float(y + away[1] * length / 4), angle))
            others = [spot for spot in self._spots if spot is not below]
            free = all(flat.apart(spot.footprint, 0.004) for spot in others) and all(flat.apart(wall, 0.02) for wall in self._walls)
            if free and all(flat.apart(other, 0.004) for other in self._leant) and self._reachable(foot):
                self._leant.append(flat)
                return replace(item, pose=pose)
        return None

    # ------------------------------------------------------------ in containers

    def _put_inside(self, item: ObjectSpec, container: ObjectSpec) -> bool:
        """On the floor of ``container`` where there is room, else dropped onto what lies there."""
        inner = np.asarray(container.size[:2]) / 2 - container.wall - 0.003
        inside = [other for other in self.objects if other.kind not in self.config["containers"] and _holds(container, other)]
        highest = max((footprint_of(other).height + float(other.pose[2, 3]) for other in inside), default=0.0)
        for height in (container.wall + _TOUCH, highest + 0.002):
            for _ in range(60):
                u, v = self.random.uniform(-inner, inner)
                x, y = container.pose[:2, :2] @ [u, v] + container.pose[:2, 3]
                placed = _standing(item, x, y, self.random.uniform(-np.pi, np.pi), height)
                spot = footprint_of(placed)
                local: Array = (spot.corners() - container.pose[:2, 3]) @ container.pose[:2, :2]
                free = height > container.wall + _TOUCH or all(spot.apart(footprint_of(other), 0.002) for other in inside)
                if free and bool((np.abs(local) <= inner).all()):
                    self.objects.append(placed)
                    return True
        return False


def _holds(container: ObjectSpec, item: ObjectSpec) -> bool:
    local = container.pose[:2, :2].T @ (item.pose[:2, 3] - container.pose[:2, 3])
    return bool((np.abs(local) < np.asarray(container.size[:2]) / 2).all())


def _standing(item: ObjectSpec, x: float, y: float, yaw: float, support: float = 0.0) -> ObjectSpec:
    """``item`` on a level at height ``support`` [m]; pens and markers lie."""
    if item.kind in LYING:
        return replace(item, pose=make_transform(rotation_rpy(0.0, np.pi / 2, yaw), (x, y, support + item.size[0] / 2)))
    return replace(item, pose=pose_at(x, y, support + item.size[2] / 2, yaw))
