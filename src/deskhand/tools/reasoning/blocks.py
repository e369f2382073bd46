"""Which of the seen objects are blocks, which of them go where in a structure, and where on the desk there is room for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from deskhand.errors import DeskhandError
from deskhand.planning.structures import Blocks, Slot, footprint, levels
from deskhand.skills.robot import Robot
from deskhand.tools.poses import hand_poses
from deskhand.types import Scene, SceneObject
from deskhand.world.spatial import footprint as corners_of

CUBE = 1.35  # a cube's longest side over its shortest, at most, as seen
PLANK = 1.8  # a plank's length over its width, at least
SAME = 0.16  # share that the heights of cubes side by side may differ by
SIDES = (0.015, 0.13)  # [m] of what counts as a block
ROOM = 0.042  # [m] of free desk around a structure, for the fingers
AMPLE = 0.07  # [m] beyond which more room is no better
OVER = (0.041, 0.025)  # [m] that the hand comes above where the topmost block is held
SITES = 16  # places that the arm is asked for
ROUND = 5.0  # cost of what looks round
COLOR = 100.0  # cost of a wrong colour: never taken
ALIKE = {"orange": {"red", "yellow", "brown"}, "red": {"orange"}, "purple": {"blue", "pink"}, "pink": {"purple"}, "yellow": {"orange"}}
"""Colours that light makes look like each other: taken when no block has the very colour."""


@dataclass(frozen=True)
class Site:
    """The origin (x, y) [m] and turn [rad] of a structure's frame on the desk."""

    x: float
    y: float
    yaw: float

    def place(self, slot: Slot) -> tuple[float, float, float]:
        """x, y [m] and yaw [rad] in ``world``."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return self.x + c * slot.x - s * slot.y, self.y + s * slot.x + c * slot.y, self.yaw + slot.yaw


def shape_of(item: SceneObject) -> str:
    """``cube``, ``plank`` or empty: by its form, whatever it is called."""
    long, middle, short = sorted(map(float, item.size), reverse=True)
    if item.is_container or item.shape not in ("box", "cylinder") or short < SIDES[0] * 0.75 or long > SIDES[1]:
        return ""
    if item.shape == "cylinder" and (abs(item.pose[2, 2]) < 0.9 or item.label in ("can", "cup") or item.size[2] > 1.1 * item.size[0]):
        return ""  # a small cube that is turned may look round: one about as high as wide is taken where no other is left
    if long <= CUBE * short and short >= SIDES[0]:
        return "cube"
    return "plank" if long >= PLANK * middle and middle >= SIDES[0] else ""


def blocks_in(scene: Scene) -> list[SceneObject]:
    """Blocks that can be taken: nothing lies on them, and they lie in nothing."""
    carriers = {item.support for item in scene.objects if item.relation != "held"}
    return [item for item in scene.objects if shape_of(item) and item.id not in carriers and item.relation != "in"]


def measures(blocks: Sequence[SceneObject]) -> Blocks:
    """Edge of the cubes and the size of the longest plank, as seen.

    Raises:
        DeskhandError: ``impossible`` when there is no cube.
    """
    cubes = [float(np.median(item.size)) for item in blocks if shape_of(item) == "cube"]
    if not cubes:
        raise DeskhandError("impossible", f"I see no cubes to build with; seen: {', '.join(item.id for item in blocks) or 'no blocks'}.")
    planks = [item for item in blocks if shape_of(item) == "plank"]
    long = max(planks, key=lambda item: float(max(item.size)), default=None)
    return Blocks(float(np.median(cubes)), (float(max(long.size)), float(min(long.size))) if long is not None else None)


def chosen(slots: Sequence[Slot], blocks: Sequence[SceneObject], site: Site) -> list[SceneObject]:
    """A block for every slot, of its shape and colour, rather the near ones; side by side only such as are equally high.

    Raises:
        DeskhandError: ``impossible`` saying what is missing.
    """
    edge = float(np.median([item.size[2] for item in blocks if shape_of(item) == "cube"]))
    beside = len(set(levels(slots))) < len(slots)
    cost = np.full((len(slots), len(blocks)), 2 * COLOR)
    for i, slot in enumerate(slots):
        for j, item in enumerate(blocks):
            if shape_of(item) != slot.shape or (beside and slot.shape == "cube" and abs(float(item.size[2]) - edge) > SAME * edge):
                continue
            wrong = 0.0 if slot.color in ("", item.color) else 10.0 if item.color in ALIKE.get(slot.color, set()) else COLOR
            x, y, _ = site.place(slot)
            wrong += ROUND * (item.shape != "box")
            cost[i, j] = wrong + math.hypot(float(item.position[0]) - x, float(item.position[1]) - y) + (0.2 - float(item.size[0]) * (not beside))
    rows, columns = linear_sum_assignment(cost)
    if len(rows) < len(slots) or cost[rows, columns].max() >= COLOR:
        need = ", ".join(_wanted(slots, shape) for shape in ("cube", "plank") if any(slot.shape == shape for slot in slots))
        have = ", ".join(f"{item.color} {shape_of(item)} ({item.id})" for item in blocks)
        raise DeskhandError("impossible", f"this takes {need}; I see {have or 'no blocks'}.")
    return [blocks[int(j)] for j in columns]


def _wanted(slots: Sequence[Slot], shape: str) -> str:
    of = [slot for slot in slots if slot.shape == shape]
    colors = [slot.color for slot in of if slot.color]
    return f"{len(of)} {shape}{'s' * (len(of) > 1)}" + (f" ({', '.join(colors)})" if colors else "")


def find_site(robot: Robot, scene: Scene, slots: Sequence[Slot], blocks: Blocks) -> Site:
    """Where the structure has room, as far from everything as need be, and where the gripper reaches its bottom and over its top.

    Raises:
        DeskhandError: ``no_free_space`` when there is no such place.
    """
    base = robot.arm.world_T_base[:2, 3]
    least, most = robot.arm.work_radius
    size = footprint(slots, blocks)
    top = (max(levels(slots)) + 1) * blocks.edge
    best_radius = least + 0.42 * (most - least)
    outlines = [corners_of(item) for item in scene.objects if item.bottom < 0.03]
    objects = [(outline, outline.mean(axis=0), float(np.ptp(outline, axis=0).max())) for outline in outlines]
    ranked = []
    for radius in np.arange(least, most + 1e-9, (most - least) / 12):
        for angle in np.deg2rad(np.arange(-60, 61, 5)):
            for yaw in {float(angle), 0.0}:
                site = Site(float(base[0] + radius * np.cos(angle)), float(base[1] + radius * np.sin(angle)), yaw)
                corners = _corners(site, size)
                reach = np.linalg.norm(corners - base, axis=1)
                if reach.max() > most + 0.01 or reach.min() < least - 0.02:
                    continue
                centre, around = np.array([site.x, site.y]), math.hypot(*size) / 2 + AMPLE
                near = [obj for obj, middle, half in objects if math.hypot(*(middle - centre)) < around + half]
                gap = min((_gap(corners, obj) for obj in near), default=AMPLE)
                if gap > ROOM:
                    ranked.append((-min(gap, AMPLE) + 0.4 * abs(float(radius) - best_radius) + 0.03 * abs(float(angle)), site))
    best = [site for _, site in sorted(ranked, key=lambda item: item[0])[:SITES]]
    for over in OVER:  # where the hand comes well over the top if there is such a place, else where it just does
        for site in best:
            if _reached(robot, site, size, blocks.edge, top + over):
                return site
    raise DeskhandError(
        "no_free_space",
        f"there is no free place within reach for something of {100 * size[0]:.0f} by {100 * size[1]:.0f} cm, {100 * top:.0f} cm high.",
        hint="Clear a part of the desk first.",
    )


def _corners(site: Site, size: tuple[float, float]) -> np.ndarray:
    c, s = math.cos(site.yaw), math.sin(site.yaw)
    local = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * [size[0] / 2, size[1] / 2]
    return np.asarray(local @ np.array([[c, s], [-s, c]]) + [site.x, site.y])


def _gap(corners: np.ndarray, item: np.ndarray) -> float:
    """Distance [m] between two outlines by the axes of the first and the line between them; at most the true one."""
    first, second = corners[0] - corners[1], corners[1] - corners[2]
    between = item.mean(axis=0) - corners.mean(axis=0)
    gap = 0.0
    for axis in (first, second, between):
        unit = axis / max(1e-9, float(np.linalg.norm(axis)))
        a, b = corners @ unit, item @ unit
        gap = max(gap, float(b.min() - a.max()), float(a.min() - b.max()))
    return gap


def _reached(robot: Robot, site: Site, size: tuple[float, float], edge: float, height: float) -> bool:
    """Whether the gripper, looking down, comes to the ends on the desk and to half an edge below ``height`` in the middle."""
    end = max(0.0, size[1] / 2 - edge / 2)
    c, s = math.cos(site.yaw), math.sin(site.yaw)
    low = {(site.x - s * side * end, site.y + c * side * end) for side in (-1, 1)}
    points = [*((x, y, edge / 2) for x, y in low), (site.x, site.y, height - edge / 2)]
    for point in points:
        try:
            if not any(robot.solve_ik(pose, check_collisions=False) for pose in hand_poses(robot.arm, list(point), "down", site.yaw)[:1]):
                return False
        except DeskhandError as error:
            if error.code != "no_ik_solution":
                raise
            return False
    return True
