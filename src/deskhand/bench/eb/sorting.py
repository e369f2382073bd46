"""What the expert does with a shape sorter: the piece over its hole, turned as the hole is, in whole cells and steps of angle."""

from __future__ import annotations

import itertools
import math

import cv2
import numpy as np

from deskhand.arms.config import load_arm
from deskhand.geometry import Array
from deskhand.sim.fixtures.kinds import hole_of
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.shapes import shape_pieces
from deskhand.sim.spec import ObjectSpec, Truth
from deskhand.tasks.eb_goals import InSorter
from deskhand.tasks.eb_manipulation import EbSetting, settings
from deskhand.types.action_cells import CELL, CORNER, TURNS, cells_of

ABOVE = 10  # cells above an object from which the hand comes down, and to which it lifts
OVER = 20  # cell at which it is carried
GAP = 0.002  # [m] between the finger tips and the board where it lets go
FINE = 1e4  # of contours that OpenCV takes, cells of 0.1 mm


def sorting_plan(setting: EbSetting, truth: Truth, goal: InSorter, yaw: int) -> list[list[int]]:
    """Eight actions: over the piece, down, close, up, over its hole, down until the piece is in it, open, up; ``yaw``: the hand's as it takes the piece."""
    item, spec = truth.get(goal.item), next(one for one in setting.world.objects if one.name == goal.item)
    sorter = next(one for one in setting.world.fixtures if one.name == goal.sorter)
    gripper = load_arm(setting.world.arm).gripper
    x, y, z = cells_of(item.pose[:3, 3])
    grasp = _place(x, y, z)
    closing = math.radians(3.0 * yaw - 180.0) + math.pi / 2
    along = np.array([math.cos(closing), math.sin(closing)])
    offset = item.pose[:2, 3] - grasp[:2]
    offset = offset - along * (along @ offset)  # the fingers bring its middle between them
    lies = math.atan2(item.pose[1, 0], item.pose[0, 0])
    best = max(_ways(spec, sorter, _hole(setting, sorter, goal.item), grasp, offset, lies, yaw), key=lambda way: way[0])
    _, to_x, to_y, turned = best
    down = math.ceil((sorter.size[2] + gripper.finger_depth + GAP - CORNER[2]) / CELL - 0.5)
    steps = [
        (x, y, z + ABOVE, yaw, 1),
        (x, y, z, yaw, 1),
        (x, y, z, yaw, 0),
        (x, y, z + ABOVE, yaw, 0),
        (to_x, to_y, OVER, turned, 0),
        (to_x, to_y, down, turned, 0),
    ]
    steps += [(to_x, to_y, down, turned, 1), (to_x, to_y, OVER, turned, 1)]
    return [[at_x, at_y, height, 0, 60, turn, grip] for at_x, at_y, height, turn, grip in steps]


def _place(x: int, y: int, z: int) -> Array:
    return np.array([low + (value + 0.5) * CELL for value, low in zip((x, y, z), CORNER, strict=True)])


def _hole(setting: EbSetting, sorter: FixtureSpec, name: str) -> Array:
    """Corners (K, 2) [m, world] of the hole that a piece belongs through."""
    shape = next(one.shape or "block" for one in setting.world.objects if one.name == name)
    kinds = {kind.get("shape", "block"): key for key, kind in settings()["shapes"].items()}
    number = list(settings()["sorter"]["holes"]).index(kinds[shape])
    corners = hole_of(sorter.recesses[number], sorter.clearance)
    return np.asarray(corners @ sorter.pose[:2, :2].T + sorter.pose[:2, 3])


def _ways(spec: ObjectSpec, sorter: FixtureSpec, hole: Array, grasp: Array, offset: Array, lies: float, yaw: int) -> list[tuple[float, int, int, int]]:
    """(least distance [m] of the piece's corners from the hole's edge, x, y, yaw) of whole cells and angles about the hole."""
    corners = _corners(spec)
    contour = np.round((hole - hole.mean(axis=0)) * FINE).astype(np.int32)
    middle = cells_of([*hole.mean(axis=0), 0.0])[:2]
    ways = []
    for step in range(-TURNS // 4, TURNS // 4 + 1):  # the hand turns a quarter either way
        turn = math.radians(3.0 * step)
        c, s = math.cos(turn), math.sin(turn)
        at, heading = np.array([[c, -s], [s, c]]) @ offset, lies + turn
        c, s = math.cos(heading), math.sin(heading)
        drawn = corners @ np.array([[c, s], [-s, c]])
        for x, y in itertools.product(range(middle[0] - 1, middle[0] + 2), range(middle[1] - 1, middle[1] + 2)):
            placed = (drawn + _place(x, y, 0)[:2] + at - hole.mean(axis=0)) * FINE
            inside = min(cv2.pointPolygonTest(contour, (float(point[0]), float(point[1])), True) for point in placed)
            ways.append((inside / FINE, x, y, (yaw + step) % TURNS))
    return ways


def _corners(spec: ObjectSpec) -> Array:
    """Corners (K, 2) [m] of what a piece covers from above, about its middle."""
    if not spec.shape:
        return np.asarray(np.array([(a, b) for a in (-1, 1) for b in (-1, 1)]) * np.asarray(spec.size[:2]) / 2)
    return np.asarray(np.vstack(shape_pieces(spec.shape, spec.size))[:, :2])
