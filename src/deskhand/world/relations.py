"""What spatial words mean, said once for perception, tools, language and plans.

Directions are as seen from the robot, which looks from its base along +x over the desk:

- ``left_of``: towards +y; ``right_of``: towards -y
- ``behind``: farther from the robot, towards +x; ``in_front_of``: nearer to the robot, towards -x

A direction holds when the centres are at least 10 mm apart along it and not farther apart across it; how far off does not matter.
``near``: the gap between the outlines, seen from above, is less than 50 mm. What is *put* left of something shall also be beside it
(:func:`stands_beside`): carried by the same, with a gap of at most 10 cm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from deskhand.geometry import Array
from deskhand.types import SceneObject
from deskhand.world.level import level

Relation = Literal["on", "in", "left_of", "right_of", "in_front_of", "behind", "near"]
RELATIONS: tuple[str, ...] = get_args(Relation)
DIRECTIONS: dict[str, tuple[float, float]] = {"left_of": (0.0, 1.0), "right_of": (0.0, -1.0), "in_front_of": (-1.0, 0.0), "behind": (1.0, 0.0)}
SIDEWAYS = (*DIRECTIONS, "near")
"""Relations of objects side by side."""
TABLE = "table"

LEAST_OFFSET = 0.01
"""[m] between the centres along a direction."""
BELOW_RIM = 0.004
"""What reaches further down than this [m] below the rim of a container is in it."""
NEAR_GAP = 0.05
"""[m] between outlines that are near each other."""
BESIDE_GAP = 0.10
"""[m] between outlines of what stands beside each other."""


@dataclass(frozen=True)
class Body:
    """What the words are about: the outline seen from above, and what carries it.

    Attributes:
        centre: (x, y) [m, world].
        size: (along, across) [m] of its outline, a rectangle.
        yaw: heading [rad] of ``along``.
        support: id of what carries it, ``table`` or ``gripper``; ``relation``: on, in, leaning or held.
    """

    id: str
    centre: Array
    size: tuple[float, float]
    yaw: float
    support: str = TABLE
    relation: str = "on"

    @classmethod
    def of(cls, item: SceneObject) -> Body:
        """From an object as perception knows it."""
        lies = level(item.pose, item.size)
        # A leaning one covers what its whole box covers.
        rotation = item.pose[:3, :3]
        ways = np.array([[np.cos(lies.yaw), np.sin(lies.yaw)], [-np.sin(lies.yaw), np.cos(lies.yaw)]])
        along, across = (float(np.abs(way @ rotation[:2]) @ np.asarray(item.size)) for way in ways)
        return cls(item.id, np.asarray(item.position[:2], dtype=float), (along, across), lies.yaw, item.support or TABLE, item.relation)

    @classmethod
    def seen(cls, item: Mapping[str, Any]) -> Body:
        """From an object as tools describe it (tools/objects.py)."""
        size, centre = item["size"], np.asarray(item["position"][:2], dtype=float)
        yaw, support = float(item.get("yaw") or 0.0), str(item.get("support") or TABLE)
        return cls(str(item.get("id", "")), centre, (float(size[0]), float(size[1])), yaw, support, str(item.get("relation") or "on"))

    def distance(self, point: Array) -> float:
        """From ``point`` (2,) [m, world] to what of the outline is nearest to it [m]; 0 within it."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        away = np.array([[c, s], [-s, c]]) @ (np.asarray(point) - self.centre)
        return float(np.linalg.norm(np.maximum(np.abs(away) - np.array(self.size) / 2, 0.0)))

    def spine_distance(self, point: Array) -> float:
        """From ``point`` (2,) [m, world] to the nearest point of the middle line [m], about which a gripper closes; the centre of what is as wide as long."""
        along = np.array([np.cos(self.yaw), np.sin(self.yaw)]) if self.size[0] >= self.size[1] else np.array([-np.sin(self.yaw), np.cos(self.yaw)])
        half = abs(self.size[0] - self.size[1]) / 2
        away = np.asarray(point) - self.centre
        return float(np.linalg.norm(away - np.clip(away @ along, -half, half) * along))

    def corners(self) -> Array:
        """Of its outline (4, 2) [m, world]."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        signs = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]], dtype=float)
        return np.asarray(self.centre + (signs * np.asarray(self.size) / 2) @ np.array([[c, s], [-s, c]]))


def offset(item: Body, other: Body, direction: str) -> tuple[float, float]:
    """How far [m] the centre of ``item`` is from that of ``other`` along a direction, and across it."""
    x, y = DIRECTIONS[direction]
    dx, dy = item.centre - other.centre
    return float(dx * x + dy * y), float(dy * x - dx * y)


def gap(item: Body, other: Body) -> float:
    """Distance [m] of two outlines seen from above, 0 when they overlap; by separating axes, so at most the true distance."""
    first, second, between = item.corners(), other.corners(), other.centre - item.centre
    axes = [np.array([np.cos(yaw + turn), np.sin(yaw + turn)]) for yaw in (item.yaw, other.yaw) for turn in (0.0, np.pi / 2)]
    length = float(np.linalg.norm(between))
    axes += [between / length] if length > 1e-6 else []
    widest = 0.0
    for axis in axes:
        p, q = first @ axis, second @ axis
        widest = max(widest, float(q.min() - p.max()), float(p.min() - q.max()))
    return widest


def sideways(item: Body, other: Body, relation: str) -> bool:
    """Whether ``item`` is ``near`` the other or in that direction of it."""
    if relation == "near":
        return gap(item, other) < NEAR_GAP
    along, across = offset(item, other, relation)
    return along >= LEAST_OFFSET and abs(across) <= along


def stands_beside(item: Body, other: Body, relation: str) -> bool:
    """Whether ``item`` stands where it would be put to stand so: carried by the same, in that direction, and not far off."""
    same = item.relation == "on" and item.support == other.support
    return same and sideways(item, other, relation) and gap(item, other) < (NEAR_GAP if relation == "near" else BESIDE_GAP)


def between(item: Body, ends: Sequence[Body]) -> bool:
    """Whether the centre is between those of two others, and at most a quarter of their distance off the line."""
    if len(ends) != 2:
        return False
    a, b = ends[0].centre, ends[1].centre
    length = float(np.linalg.norm(b - a))
    if length < 1e-6:
        return False
    way = (b - a) / length
    along, across = float((item.centre - a) @ way), float(way[0] * (item.centre - a)[1] - way[1] * (item.centre - a)[0])
    return 0.15 * length < along < 0.85 * length and abs(across) < length / 4


def loosely_between(item: Body, ends: Sequence[Body]) -> bool:
    """Whether it has the two others on opposite sides: their directions from it are more than a right angle apart."""
    if len(ends) != 2:
        return False
    a, b = ends[0].centre - item.centre, ends[1].centre - item.centre
    return bool(a @ b < 0)


def overhangs(item: Body, below: Body) -> bool:
    """Whether it stands on something of which nothing is seen below its centre. It would fall if that were all, so it hides a part of it."""
    return below.distance(item.centre) > LEAST_OFFSET
