"""The open hand as boxes, and how far it stays from the rest of the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from deskhand.arms.gripper import Boxes, Floats, GripperConfig, PivotGripper
from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.fit.surface import Surfaces, box_points
from deskhand.perception.voxel_downsample import thin
from deskhand.types import Scene, SceneObject

OPEN_MORE = (0.018, 0.010, 0.006)  # [m] that the hand opens wider than what it grasps: much where there is room, less between neighbours
BEHIND = 0.08  # [m] of free room behind the palm: the wrist, and the way in
OBSTACLE_SPACING = 0.007
Planes = tuple[Floats, ...]
EDGE = 0.008  # [m] around an object within which a point of the cloud is its
SIBLING = 0.005  # [m] between objects of one colour that may be parts of one


def opening(width: float | Array, gripper: GripperConfig, more: float = OPEN_MORE[0]) -> Array:
    """How wide [m] the pads open to grasp something ``width`` [m] wide."""
    return np.minimum(np.asarray(width) + more, gripper.width_max)


def released_opening(width: float, gripper: GripperConfig) -> float:
    """How wide [m] the pads open to let go of something ``width`` [m] wide; a single jaw takes all of its room on one side, so it opens less."""
    return float(opening(width, gripper, OPEN_MORE[1] if gripper.one_sided else OPEN_MORE[0]))


def palm_box(gripper: GripperConfig, behind: float = 0.0) -> tuple[Array, Array]:
    """Centre and half size (3,) of the palm in the tcp frame, drawn ``behind`` [m] backwards."""
    x, y, z = gripper.palm
    length = z + behind
    return np.array([0.0, 0.0, gripper.finger_depth - gripper.finger_length - length / 2]), np.array([x, y, length]) / 2


def box_distance(points: Array, centre: Array, half: Array) -> Array:
    """Signed distance [m] of points (..., 3) to a box; negative inside."""
    gap = np.abs(points - centre) - half
    outside = np.sqrt(np.square(np.maximum(gap, 0.0)).sum(axis=-1))
    return np.asarray(outside + np.minimum(gap.max(axis=-1), 0.0))


def hand_boxes(opened: Array, gripper: GripperConfig) -> tuple[list[Boxes], list[Boxes]]:
    """What the object must not touch (fingers, palm), and what others must not (the whole slab that the gripper closes through, the palm and the way in)."""
    palm, way = (_everywhere(*palm_box(gripper, behind), len(opened)) for behind in (0.0, BEHIND))
    return [_single(part) for part in (*gripper.finger_parts(opened), palm)], [_single(part) for part in (*gripper.swept_parts(opened), way)]


def _everywhere(centre: Array, half: Array, count: int) -> Boxes:
    return Boxes(np.broadcast_to(centre, (count, 3)), np.broadcast_to(half, (count, 3)))


def _single(boxes: Boxes) -> Boxes:
    """In single precision, as the points are."""
    return replace(boxes, centre=boxes.centre.astype(np.float32), half=boxes.half.astype(np.float32))


def hand_clearance(poses: Array, opened: Array, gripper: GripperConfig, own: Array, others: Array, least: float = 0.0) -> Array:
    """Smallest distance (M,) [m] of the gripper at ``poses`` (M, 4, 4), pads ``opened`` (M,) [m] apart, to its own points (N, 3) and the others' (K, 3).

    Between the fingers the object may be, others may not: the gripper closes through there. Hands that come nearer than ``least`` [m] get -1.
    """
    result = np.full(len(poses), -1.0)
    for_own, for_others = hand_boxes(opened, gripper)
    rows = np.arange(len(poses))
    locals_: list[tuple[list[Boxes], Planes]] = []
    for boxes, points in ((for_own, own), (for_others, others)):
        if not len(points) or not len(rows):
            continue
        local = _to_hand(poses[rows], points)
        free = np.ones(len(rows), bool)
        for part in (box.take(rows) for box in boxes):
            hit = np.ones(local[0].shape, bool)
            for axis, plane in enumerate(_seen_from(part, local)):
                hit &= np.abs(plane - part.centre[:, axis, None]) < part.half[:, axis, None] + np.float32(least)
            free &= ~hit.any(axis=1)
        locals_ = [(kept, tuple(plane[free] for plane in planes)) for kept, planes in locals_]
        locals_.append((boxes, tuple(plane[free] for plane in local)))
        rows = rows[free]
    best = np.full(len(rows), 0.05, np.float32)
    for boxes, local in locals_:
        for part in (box.take(rows) for box in boxes):
            square = np.zeros(local[0].shape, np.float32)
            for axis, plane in enumerate(_seen_from(part, local)):
                gap = np.maximum(np.abs(plane - part.centre[:, axis, None]) - part.half[:, axis, None], 0)
                square += gap * gap
            best = np.minimum(best, np.sqrt(square.min(axis=1)))
    result[rows] = best
    return result


def _seen_from(part: Boxes, local: Planes) -> Planes:
    return (local[0], *part.seen_from(local[1], local[2]))


@dataclass(frozen=True)
class Closing:
    """What the pads meet as they close, from all of the object that is between them; arrays (M,).

    Attributes:
        low, high: [m] along the closing axis, from the tcp.
        breadth: [m] of what is between them along the pads.
        depth: [m] that it reaches in from the finger tips.
        offset: how far [m] the object is from where the gripper should have it while it is open: in the middle, or ``stand_off`` beside the fixed pad.
        measured: distance of the pads [m] that the gripper will report when both touch; more than ``width`` where a turning jaw meets a deep object far in.
    """

    low: Array
    high: Array
    breadth: Array
    depth: Array
    offset: Array
    measured: Array

    @property
    def width(self) -> Array:
        """Width [m] of the object along the closing axis."""
        return self.high - self.low


def closing(poses: Array, opened: Array, gripper: GripperConfig, own: Array) -> Closing:
    """Close the gripper at ``poses`` (M, 4, 4) from ``opened`` (M,) [m] on the object's own points (N, 3)."""
    x, y, z = _to_hand(poses, own)
    below, above = (side[:, None] for side in gripper.pad_faces(opened))
    inside = (np.abs(x) < gripper.finger_breadth / 2) & (y > below - 0.002) & (y < above + 0.002)
    inside &= (z < gripper.tip_reach(opened).astype(z.dtype)[:, None]) & (z > gripper.finger_depth - gripper.finger_length)
    none = ~inside.any(axis=1)
    low = np.where(none, 0.0, np.where(inside, y, np.inf).min(axis=1))
    high = np.where(none, 0.0, np.where(inside, y, -np.inf).max(axis=1))
    span = np.where(none, 0.0, np.where(inside, x, -np.inf).max(axis=1) - np.where(inside, x, np.inf).min(axis=1))
    depth = np.where(none, 0.0, gripper.finger_depth - np.where(inside, z, np.inf).min(axis=1))
    if not isinstance(gripper, PivotGripper):
        return Closing(low, high, span, depth, (high + low) / 2, high - low)
    offset = np.where(none, 0.0, low - gripper.pad_face - gripper.stand_off(opened, high - low))
    shut = gripper.position_at(gripper.width_min)
    touched = (low - gripper.pad_face)[:, None]  # the hand moves over until the fixed pad touches
    angle = np.where(inside, gripper.closed_on(y - touched, z), shut).max(axis=1)
    measured = np.maximum(high - low, [gripper.width_of(float(one)) for one in angle])
    return Closing(low, high, span, depth, offset, measured)


def lowest_point(poses: Array, opened: Array, gripper: GripperConfig) -> Array:
    """Height (M,) [m] of the lowest corner of the gripper at ``poses`` (M, 4, 4) as it closes from ``opened`` (M,) [m]."""
    centre, size = palm_box(gripper)
    palm = poses[:, 2, 3] + poses[:, 2, 2] * centre[2] - np.abs(poses[:, 2, :3]) @ size
    low, high = gripper.reach_across(opened)
    across = np.minimum(poses[:, 2, 1] * low, poses[:, 2, 1] * high) - np.abs(poses[:, 2, 0]) * gripper.finger_breadth / 2
    fingers = poses[:, 2, 3] + poses[:, 2, 2] * gripper.tip_reach(opened) + across
    return np.asarray(np.minimum(fingers, palm))


def container_points(item: SceneObject, spacing: float, floor: bool = True) -> Array:
    """Samples (N, 3) in ``world`` of the walls (and the floor) of a container."""
    size, wall = np.asarray(item.size, dtype=float), max(item.wall, 0.002)
    parts = []
    for axis in (0, 1):
        panel = size.copy()
        panel[axis] = wall
        for sign in (1.0, -1.0):
            shift = np.zeros(3)
            shift[axis] = sign * (size[axis] - wall) / 2
            parts.append(box_points(panel, spacing) + shift)
    if floor:
        parts.append(box_points(np.array([size[0], size[1], wall]), spacing) - [0.0, 0.0, (size[2] - wall) / 2])
    return transform_points(item.pose, np.vstack(parts))


def obstacle_points(scene: Scene, target: SceneObject, siblings: Sequence[SceneObject], surfaces: Surfaces, unnamed: Array, radius: float = 0.16) -> Array:
    """Samples (K, 3) of all that is not ``target`` or one of its ``siblings``, within ``radius`` [m] of it.

    Completed neighbours, containers, and the points of :func:`unnamed_points`.
    """
    unnamed = unnamed[np.linalg.norm(unnamed - target.position, axis=1) < radius]
    if len(unnamed):  # a handle is of the object, though its box ends below
        seen = np.vstack([np.asarray(part.points, dtype=float).reshape(-1, 3) for part in (target, *siblings)])
        unnamed = unnamed[np.asarray(cKDTree(seen).query(unnamed)[0]) > EDGE] if len(seen) else unnamed
    parts = [unnamed]
    own = {target.id, *(item.id for item in siblings)}
    for item in scene.objects:
        if item.id in own:
            continue
        if item.is_container:
            parts.append(container_points(item, OBSTACLE_SPACING, floor=target.support != item.id))
        elif np.linalg.norm(item.position - target.position) < radius + np.linalg.norm(item.size) / 2:
            parts.append(surfaces.of(item).body)
    points = np.vstack(parts)
    return thin(_in_the_way(points, target), OBSTACLE_SPACING).astype(float)


def _in_the_way(points: Array, target: SceneObject) -> Array:
    """Points that a hand on ``target`` can touch: low ones must be near, since a hand that leans at most 50 degrees is wide only further up."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(target.size) / 2
    outline = transform_points(target.pose, corners)[:, :2]
    beside = np.maximum(np.maximum(outline.min(axis=0) - points[:, :2], points[:, :2] - outline.max(axis=0)), 0.0)
    return np.asarray(points[np.linalg.norm(beside, axis=1) < 0.065 + 1.2 * np.maximum(points[:, 2] - target.bottom, 0.0)])


def siblings_of(scene: Scene, target: SceneObject) -> list[SceneObject]:
    """Objects of the target's colour that touch it or each other, or lie on each other: a look may take one object of several parts for several."""
    left = [
        item
        for item in scene.objects
        if item.id != target.id and item.color == target.color and not (item.is_container or target.is_container) and len(item.points)
    ]
    found: list[SceneObject] = []
    reached = [target] if len(target.points) else []
    while reached and left:
        one = reached.pop()
        touching = _touching(one, left)
        left = [item for item in left if not any(item is other for other in touching)]
        found += touching
        reached += touching
    return found


def _touching(one: SceneObject, others: Sequence[SceneObject]) -> list[SceneObject]:
    near = [item for item in others if np.linalg.norm(item.position - one.position) < (np.linalg.norm(item.size) + np.linalg.norm(one.size)) / 2 + 2 * SIBLING]
    if not near:
        return []
    tree = cKDTree(np.asarray(one.points, dtype=float))
    return [item for item in near if one.support == item.id or item.support == one.id or _gap(tree, item) < SIBLING]


def _gap(tree: cKDTree, item: SceneObject) -> float:
    return float(np.min(tree.query(np.asarray(item.points, dtype=float))[0]))


def unnamed_points(scene: Scene) -> Array:
    """Points (N, 3) of the cloud that belong to no object; edges of objects are noisy, so a margin around each is left out."""
    cloud = np.asarray(scene.cloud, dtype=float)
    for item in scene.objects:
        half = np.asarray(item.size, dtype=float) / 2
        near = np.linalg.norm(cloud - item.position, axis=1) < np.linalg.norm(half) + 2 * EDGE
        free = ~near
        free[near] = box_distance(transform_points(inverse(item.pose), cloud[near]), np.zeros(3), half) > EDGE
        cloud = cloud[free]
    return cloud


def _to_hand(poses: Array, points: Array) -> Planes:
    """Coordinates x, y, z (M, N) each, of points (N, 3) of ``world`` in each hand's frame; single precision, which is a micrometre here."""
    shifted = (points - poses[0, :3, 3]).astype(np.float32)
    x, y, z = (
        poses[:, :3, axis].astype(np.float32) @ shifted.T
        - np.einsum("mi,mi->m", poses[:, :3, 3] - poses[0, :3, 3], poses[:, :3, axis]).astype(np.float32)[:, None]
        for axis in range(3)
    )
    return x, y, z
