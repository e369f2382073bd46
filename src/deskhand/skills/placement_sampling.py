"""Where and how a held object can be released: in a container, on another object, or at a place on the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deskhand.arms.gripper import GripperConfig
from deskhand.geometry import Array, inverse, make_transform, rotation_about, transform_points
from deskhand.grasping.collision import palm_box, released_opening
from deskhand.perception.fit.surface import box_points, complete_surface
from deskhand.skills.belief import Held
from deskhand.skills.heights import CELL, HeightMap
from deskhand.types import Scene, SceneObject
from deskhand.world.level import level
from deskhand.world.relations import BELOW_RIM

YAWS = np.deg2rad(np.arange(0, 360, 30))
GRID = 0.014  # [m] between the places that are tried in a container
DROP = 0.006  # [m] between what is released and what it falls on
LEVEL = 0.004  # [m] that the support of something put down may differ from what was asked
HAND_OVER = 0.004  # [m] between a hand that does not fit between the walls and the rim: more than plans keep from obstacles
STACKED = 0.02  # [m] of height that a place on the floor of a container is worth
DISHED = 0.6  # height of a round container as a share of its width, below which it is a plate or a bowl: what it holds belongs in the middle
ON_RIM = 0.5  # [m] of height that it costs to come to lie on the rim or on contents that reach it: that is not in
MIDDLE = 0.05  # [m] of height that the middle of one is worth over its edge
FAR = 0.03  # [m] that an object may fall without being thrown about
OFF_WALL = 0.003  # [m] between what is let down and the walls
APART_WALL = 0.012  # [m] that it keeps from them where there is room: object and walls are each known to 6.5 mm (95 %), and a wall that is hit is pushed away
UPRIGHT = 1e-3  # sine of a lean that counts as none
LYING = 0.7  # cosine between the axis of something round and the vertical below which it lies
OVER_RIM = 0.02  # [m] of room below the hand on its way


@dataclass(frozen=True)
class Spot:
    """A way to release.

    Attributes:
        release: world_T_tcp when the fingers open.
        hover: world_T_tcp straight above it.
        position: (2,) of the object's centre [m].
        cost: lower is better.
        fall: height that the object falls [m].
        inside: whether all of it is between the walls of the container.
    """

    release: Array
    hover: Array
    position: Array
    cost: float
    fall: float = 0.0
    inside: bool = True


def rest_of(held: Held, spot: Spot) -> Array:
    """The pose (4, 4) in which it should come to rest when it is let go at ``spot``."""
    rest = spot.release @ held.tcp_T_object
    rest[2, 3] -= spot.fall
    return np.asarray(rest)


def spots_in(
    scene: Scene, container: SceneObject, held: Held, gripper: GripperConfig, base: Array, tilt: float = 0.0, limit: int = len(YAWS), axis: Array | None = None
) -> list[Spot]:
    """Best first: low above the floor or the contents, the object within the walls, the gripper clear of them.

    Where the gripper does not fit between the walls the release is above the rim. ``tilt`` [rad] leans the gripper away from ``base``.
    ``axis``: a point on the base's axis of an arm that can tilt its hand only towards and away from it.
    """
    floor_map = HeightMap(scene, container.position, leave_out=(held.object.id,))
    size = np.asarray(container.size, dtype=float)
    inner = size[:2] / 2 - max(container.wall, 0.002)
    dished = container.shape == "cylinder" and size[2] < DISHED * size[0]
    floor = container.bottom + container.wall
    room = np.maximum(inner - 0.012, 0.0)
    x, y = (GRID * np.arange(-(half // GRID), half // GRID + 1) if dished else np.arange(-half, half + 1e-9, GRID) for half in room)
    local = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    centres = transform_points(container.pose, np.column_stack([local, np.zeros(len(local))]))[:, :2]
    outward = container.position - base
    lean = rotation_about([-outward[1], outward[0], 0.0], -tilt) if tilt else np.eye(3)
    item, hand = _held_points(held), _hand_points(held, gripper)
    spots: list[Spot] = []
    for yaw in YAWS:
        turn = _aimed(lean @ rotation_about([0, 0, 1], float(yaw)) @ held.grasp.pose[:3, :3], held, container.position, axis)
        object_points, hand_points = _underside(item @ turn.T), _underside(hand @ turn.T)
        middle = (turn @ held.tcp_T_object[:3, 3])[:2]
        places = centres - middle  # of the tcp, so that the object's centre comes to the grid
        heights = np.maximum(floor_map.rest_height(object_points, places) + DROP, floor_map.rest_height(hand_points, places) + HAND_OVER)
        in_container = (np.concatenate([object_points[:, :2], np.zeros((len(object_points), 1))], axis=1) @ container.pose[:3, :3])[:, :2]
        shifted = local[:, None] + (in_container - (np.append(middle, 0.0) @ container.pose[:3, :3])[:2])[None]
        beyond = (np.abs(shifted) - inner + OFF_WALL).max(axis=(1, 2))
        over, near = np.maximum(beyond, 0.0), np.clip(beyond + APART_WALL - OFF_WALL, 0.0, APART_WALL)
        under = floor_map.exact_range(object_points, places)
        fall = heights + object_points[:, 2].min() - under[1]
        # low, level, on the floor rather than on other objects, along the walls so that room is left
        stacked = under[1] - floor
        cost = stacked + 0.5 * (under[1] - under[0]) + 0.6 * fall + 3.0 * np.maximum(fall - FAR, 0.0) + 6.0 * over + STACKED * (stacked > 0.008)
        cost = cost + ON_RIM * (under[1] > container.top - BELOW_RIM)
        aside = np.abs(local / np.maximum(inner, 1e-3)).max(axis=1)
        cost = cost + (MIDDLE * aside if dished else 0.6 * near - 0.006 * aside) + 0.002 * abs(np.sin(yaw / 2))
        for row in np.argsort(cost)[:3]:
            exact = _aimed(turn, held, centres[row], axis)
            place = np.append(centres[row] - (exact @ held.tcp_T_object[:3, 3])[:2], heights[row])
            points = np.vstack([object_points, hand_points])
            spots.append(_spot(floor_map, exact, place, centres[row], float(cost[row]), points, float(fall[row]), bool(over[row] < 0.004 + OFF_WALL)))
    spots.sort(key=lambda spot: spot.cost)
    return spots[:limit]


def spots_at(
    scene: Scene,
    place: Array,
    height: float,
    held: Held,
    gripper: GripperConfig,
    ignore: tuple[str, ...] = (),
    limit: int = len(YAWS),
    axis: Array | None = None,
) -> list[Spot]:
    """Ways to put the object down with its centre at ``place`` (x, y) on something that is ``height`` [m] high; empty when that is not free.

    ``axis``: as for :func:`spots_in`.
    """
    ground = HeightMap(scene, place, leave_out=(held.object.id, *ignore), margin=0.005)
    item, hand = _held_points(held), _hand_points(held, gripper)
    spots = []
    for yaw in YAWS:
        turn = _aimed(rotation_about([0, 0, 1], float(yaw)) @ held.grasp.pose[:3, :3], held, place, axis)
        object_points, hand_points = _underside(item @ turn.T), _underside(hand @ turn.T)
        target = np.asarray(place, dtype=float)[:2] - (turn @ held.tcp_T_object[:3, 3])[:2]
        stands = height - object_points[:, 2].min()
        rest = max(float(ground.rest_height(object_points, target[None])[0]), float(ground.rest_height(hand_points, target[None])[0]) - DROP / 2)
        if rest > stands + LEVEL:
            continue
        pose = np.append(target, max(rest, stands) + DROP / 2)
        spots.append(_spot(ground, turn, pose, np.asarray(place)[:2], abs(float(np.sin(yaw / 2))), np.vstack([object_points, hand_points])))
    return sorted(spots, key=lambda spot: spot.cost)[:limit]


def spots_for_pose(scene: Scene, place: Array, yaw: float, height: float, held: Held, gripper: GripperConfig, beside: tuple[str, ...] = ()) -> list[Spot]:
    """Ways to put the object down with its centre at ``place`` (x, y) and its longer side along ``yaw`` [rad], or as its symmetry allows.

    ``beside``: ids of objects that stand where they are known to, next to which the object itself may come as close as it is told; the gripper may not.
    """
    loose = HeightMap(scene, place, half=0.16, leave_out=(held.object.id, *beside), margin=0.003)
    ground = HeightMap(scene, place, half=0.16, leave_out=(held.object.id,), margin=0.002)
    item, hand = _held_points(held), _hand_points(held, gripper)
    now = held.grasp.pose[:3, :3] @ held.tcp_T_object[:3, :3]
    as_held = np.eye(4)
    as_held[:3, :3] = now
    heading = level(as_held, held.object.size).yaw
    spots = []
    for turn in symmetric_turns(held.object):
        rotation = rotation_about([0, 0, 1], yaw + turn - heading) @ held.grasp.pose[:3, :3]
        object_points, hand_points = _underside(item @ rotation.T), _underside(hand @ rotation.T)
        target = np.asarray(place, dtype=float)[:2] - (rotation @ held.tcp_T_object[:3, 3])[:2]
        stands = height - object_points[:, 2].min()
        rest = max(float(loose.rest_height(object_points, target[None])[0]), float(ground.rest_height(hand_points, target[None])[0]) - DROP / 2)
        if rest > stands + LEVEL:
            continue
        pose = np.append(target, max(rest, stands) + DROP / 2)
        around = abs(float(np.arctan2(np.sin(yaw + turn - heading), np.cos(yaw + turn - heading))))
        spots.append(_spot(ground, rotation, pose, np.asarray(place)[:2], around, np.vstack([object_points, hand_points])))
    return sorted(spots, key=lambda spot: spot.cost)


def symmetric_turns(item: SceneObject) -> list[float]:
    """Turns [rad] about the vertical after which the object looks the same: of a square four, of a rectangle two, of what is round many."""
    if item.shape in ("cylinder", "sphere") and abs(item.pose[2, 2]) > LYING:
        return [float(angle) for angle in YAWS]
    square = item.shape == "box" and not level(item.pose, item.size).oblong
    return [0.0, np.pi / 2, np.pi, -np.pi / 2] if square else [0.0, np.pi]


def _spot(ground: HeightMap, turn: Array, place: Array, position: Array, cost: float, points: Array, fall: float = DROP, inside: bool = True) -> Spot:
    release = make_transform(turn, place)
    hover = release.copy()
    hover[2, 3] = max(place[2] + 0.03, ground.highest_near(position, 0.10) + OVER_RIM - float(points[:, 2].min()))
    return Spot(release, hover, position, cost, fall, inside)


def _aimed(turn: Array, held: Held, centre: Array, axis: Array | None) -> Array:
    """The gripper's rotation, turned about the vertical through the object's ``centre`` until it leans along the way from ``axis`` to the tcp."""
    if axis is None or float(np.hypot(turn[0, 2], turn[1, 2])) < UPRIGHT:
        return turn
    for _ in range(10):
        outward = np.asarray(centre)[:2] - (turn @ held.tcp_T_object[:3, 3])[:2] - axis[:2]
        off = float(np.arctan2(outward[1], outward[0]) - np.arctan2(turn[1, 2], turn[0, 2]))
        off = (off + np.pi / 2) % np.pi - np.pi / 2  # towards the base will do as well as away from it
        turn = rotation_about([0, 0, 1], off) @ turn
        if abs(off) < 1e-6:
            break
    return turn


def _held_points(held: Held) -> Array:
    """Surface of what is held (N, 3), in the tcp frame."""
    surface = complete_surface(held.object, 0.006).body
    return transform_points(held.tcp_T_object @ inverse(held.object.pose), surface)


def _hand_points(held: Held, gripper: GripperConfig) -> Array:
    """Surface of the gripper when it has let go (N, 3), in the tcp frame."""
    opened = released_opening(held.width, gripper)
    parts = [part.points(box_points(2 * part.half[0], 0.008) + part.centre[0]) for part in gripper.finger_parts(np.atleast_1d(opened))]
    centre, half = palm_box(gripper)
    hand = np.vstack([*parts, box_points(2 * half, 0.012) + centre])
    gap = float(gripper.stand_off(np.array(opened), np.array(held.width)))
    return np.vstack([hand, hand - [0.0, gap, 0.0]]) if gap else hand


def _underside(points: Array) -> Array:
    """The lowest of the points (N, 3) in each cell of the height map's size: the rest cannot touch first."""
    order = np.lexsort((points[:, 2], *np.floor(points[:, :2] / CELL).T))
    cells = np.floor(points[order, :2] / CELL)
    first = np.append(True, np.any(np.diff(cells, axis=0) != 0, axis=1))
    return np.asarray(points[order][first])
