"""Where objects are relative to each other: clearances of footprints for making scenes, "inside a container" for judging them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deskhand.geometry import Array, inverse
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.shapes import shape_pieces
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, TruthObject

UPRIGHT = np.deg2rad(12.0)
"""A container tilted by more than this counts as knocked over [rad]."""
AT_REST = 0.03
"""Slower than this is at rest [m/s]."""
FLOOR = -0.03
"""Below this height of its centre an object has fallen off the desk [m]."""

RIM = 0.01
"""From the top of the case of a drawer down to the rim of the drawer, at least [m]."""


@dataclass(frozen=True)
class Footprint:
    """A rectangle on the desk: centre, half sides [m], turned by ``yaw`` [rad]."""

    x: float
    y: float
    half_x: float
    half_y: float
    yaw: float
    height: float = 0.0

    def corners(self) -> Array:
        """(4, 2) [m]"""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        local = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * [self.half_x, self.half_y]
        return np.asarray(local @ np.array([[c, s], [-s, c]]) + [self.x, self.y])

    def distance(self, other: Footprint) -> float:
        """Gap [m] between two footprints along the best separating side; negative when they overlap."""
        gaps = []
        mine, theirs = self.corners(), other.corners()
        for yaw in (self.yaw, other.yaw):
            for axis in (np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])):
                a, b = mine @ axis, theirs @ axis
                gaps.append(max(a.min() - b.max(), b.min() - a.max()))
        return float(max(gaps))

    def apart(self, other: Footprint, gap: float) -> bool:
        """True when at least ``gap`` [m] lies between the two; circles around them settle it quickly where they are far."""
        reach = np.hypot(self.half_x, self.half_y) + np.hypot(other.half_x, other.half_y) + gap
        return bool((self.x - other.x) ** 2 + (self.y - other.y) ** 2 >= reach**2) or self.distance(other) >= gap


def footprint_of(item: ObjectSpec) -> Footprint:
    """The rectangle that an object, standing or lying along one of its axes, covers."""
    rotation, half = item.pose[:3, :3], np.asarray(item.size) / 2
    up = int(np.argmax(np.abs(rotation[2])))
    first, second = (axis for axis in range(3) if axis != up)
    yaw = float(np.arctan2(rotation[1, first], rotation[0, first]))
    return Footprint(item.pose[0, 3], item.pose[1, 3], float(half[first]), float(half[second]), yaw, float(2 * half[up]))


def outline(item: TruthObject) -> Array:
    """Points (N, 3) in ``world`` on the hull of an object: corners of a cuboid or of a generated shape, rims of a cylinder, poles of a ball."""
    half = np.asarray(item.size) / 2
    if item.kind == "ball":
        return np.asarray(np.vstack([np.eye(3), -np.eye(3)]) * half + item.pose[:3, 3])
    if item.kind in ("can", "cup", "pen", "marker"):
        angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
        ring = np.column_stack([half[0] * np.cos(angles), half[1] * np.sin(angles)])
        local = np.vstack([np.column_stack([ring, np.full(16, z)]) for z in (-half[2], half[2])])
    elif item.shape:
        local = np.vstack(shape_pieces(item.shape, item.size))
    else:
        local = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    return np.asarray(local @ item.pose[:3, :3].T + item.pose[:3, 3])


def tilt(item: TruthObject) -> float:
    """Angle [rad] between an object's z axis and up."""
    return float(np.arccos(np.clip(item.pose[2, 2], -1.0, 1.0)))


def is_inside(item: TruthObject, container: TruthObject, wall: float) -> bool:
    """True when ``item`` lies in the upright ``container``: its centre and its lowest point within the inner walls, its lowest point below the rim."""
    if container.kind not in CONTAINER_KINDS or tilt(container) > UPRIGHT:
        return False
    container_T_world = inverse(container.pose)
    points = outline(item) @ container_T_world[:3, :3].T + container_T_world[:3, 3]
    centre = container_T_world[:3, :3] @ item.pose[:3, 3] + container_T_world[:3, 3]
    half = np.asarray(container.size) / 2
    inner = half[:2] - wall
    # A cuboid on edge or a ball has one lowest point, a flat one several: take their middle.
    low = points[:, 2].min()
    lowest = points[points[:, 2] <= low + 0.002].mean(axis=0)
    below_rim = -half[2] - 0.005 <= low <= half[2] - 0.003
    return bool(below_rim and np.all(np.abs(centre[:2]) <= inner) and np.all(np.abs(lowest[:2]) <= inner))


def in_bowl(item: TruthObject, bowl: FixtureSpec) -> bool:
    """True when ``item`` lies in a bowl that stands fast: its centre over the bowl, its lowest point below the rim."""
    low = float(outline(item)[:, 2].min() - bowl.pose[2, 3])
    return bool(np.hypot(*(item.pose[:2, 3] - bowl.pose[:2, 3])) <= min(bowl.size[:2]) / 2 and -0.005 <= low <= bowl.size[2] - 0.003)


def in_drawer(item: TruthObject, drawer: FixtureSpec, opened: float) -> bool:
    """True when ``item`` lies in a drawer that is out by ``opened`` [m]: all of it between the walls of its tray, its lowest point below their rim."""
    points = (outline(item) - drawer.pose[:3, 3]) @ drawer.pose[:3, :3] + [opened, 0.0, 0.0]
    low = float(points[:, 2].min())
    return bool(np.all(np.abs(points[:, :2]) <= np.asarray(drawer.size[:2]) / 2) and -0.005 <= low <= drawer.size[2] - RIM)


def where_is(item: TruthObject, containers: dict[str, tuple[TruthObject, float]], in_hand: tuple[str, ...]) -> str:
    """Name of the container (``name -> (container, wall)``) that holds ``item``, else ``hand``, ``floor`` or ``table``."""
    if item.name in in_hand:
        return "hand"
    for name, (container, wall) in containers.items():
        if is_inside(item, container, wall):
            return name
    return "floor" if item.pose[2, 3] < FLOOR else "table"
