"""The open hand as boxes, and how far it stays from the rest of the scene."""

from __future__ import annotations

import numpy as np

from deskhand.arms.config import GripperConfig
from deskhand.geometry import Array, inverse, transform_points
from deskhand.grasping.surface import box_points, complete_surface
from deskhand.types import Scene, SceneObject

OPEN_MORE = 0.018  # [m] that the hand opens wider than what it grasps
BEHIND = 0.08  # [m] of free room behind the palm: the wrist, and the way in
OBSTACLE_SPACING = 0.007


def opening(width: float | Array, gripper: GripperConfig) -> Array:
    """How wide [m] the pads open to grasp something ``width`` [m] wide."""
    return np.minimum(np.asarray(width) + OPEN_MORE, gripper.width_max)


def finger_boxes(gripper: GripperConfig, opened: Array) -> tuple[Array, Array]:
    """Centres and half sizes (M, 2, 3) of both fingers in the tcp frame, for openings (M,) [m]."""
    centres = np.zeros((len(opened), 2, 3))
    offset = opened / 2 + gripper.finger_thickness / 2
    centres[:, 0, 1], centres[:, 1, 1] = offset, -offset
    centres[:, :, 2] = gripper.finger_depth - gripper.finger_length / 2
    half = np.array([gripper.finger_breadth, gripper.finger_thickness, gripper.finger_length]) / 2
    return centres, np.broadcast_to(half, centres.shape)


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


def hand_clearance(poses: Array, widths: Array, gripper: GripperConfig, own: Array, others: Array) -> Array:
    """Smallest distance (M,) [m] of the open hand at ``poses`` (M, 4, 4) to the object's own points (N, 3) and to the others' (K, 3).

    Between the fingers the object may be, others may not.
    """
    opened = opening(widths, gripper)
    centres, halves = finger_boxes(gripper, opened)
    result = np.full(len(poses), 0.05)
    palm = palm_box(gripper)
    if len(own):
        local = _to_hand(poses, own)
        for finger in (0, 1):
            result = np.minimum(result, box_distance(local, centres[:, None, finger], halves[:, None, finger]).min(axis=1))
        result = np.minimum(result, box_distance(local, *palm).min(axis=1))
    if len(others):
        local = _to_hand(poses, others)
        slab_half = halves[:, 0].copy()
        slab_half[:, 1] = opened / 2 + gripper.finger_thickness
        slab_centre = centres[:, 0] * [1.0, 0.0, 1.0]
        result = np.minimum(result, box_distance(local, slab_centre[:, None], slab_half[:, None]).min(axis=1))
        result = np.minimum(result, box_distance(local, *palm_box(gripper, BEHIND)).min(axis=1))
    return result


def lowest_point(poses: Array, widths: Array, gripper: GripperConfig) -> Array:
    """Height (M,) [m] of the lowest corner of the open hand at ``poses`` (M, 4, 4)."""
    opened = opening(widths, gripper)
    half = np.array([gripper.finger_breadth, 0.0, 0.0]) / 2
    tips = np.tile(half, (len(poses), 1))
    tips[:, 1], tips[:, 2] = opened / 2 + gripper.finger_thickness, gripper.finger_depth
    lean = np.abs(poses[:, 2, :2]) * tips[:, :2]
    fingers = poses[:, 2, 3] + poses[:, 2, 2] * tips[:, 2] - lean.sum(axis=1)
    centre, size = palm_box(gripper)
    palm = poses[:, 2, 3] + poses[:, 2, 2] * centre[2] - np.abs(poses[:, 2, :3]) @ size
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


def obstacle_points(scene: Scene, target: SceneObject, radius: float = 0.16) -> Array:
    """Samples (K, 3) of all that is not ``target``, within ``radius`` [m] of it: completed neighbours, containers, and unnamed points of the cloud."""
    parts = [np.zeros((0, 3))]
    for item in scene.objects:
        if item.id == target.id:
            continue
        if item.is_container:
            parts.append(container_points(item, OBSTACLE_SPACING, floor=target.support != item.id))
        elif np.linalg.norm(item.position - target.position) < radius + np.linalg.norm(item.size) / 2:
            parts.append(complete_surface(item, OBSTACLE_SPACING).points)
    parts.append(_unnamed(scene, target, radius))
    points = np.vstack(parts)
    points = points[np.linalg.norm(points - target.position, axis=1) < radius + np.linalg.norm(target.size) / 2]
    _, keep = np.unique(np.round(points / 0.006).astype(np.int64), axis=0, return_index=True)
    return np.asarray(points[np.sort(keep)])


def _unnamed(scene: Scene, target: SceneObject, radius: float) -> Array:
    """Points of the cloud near ``target`` that belong to no object; edges of objects are noisy, so a margin around each is left out."""
    cloud = np.asarray(scene.cloud, dtype=float)
    cloud = cloud[np.linalg.norm(cloud - target.position, axis=1) < radius]
    for item in scene.objects:
        if len(cloud):
            local = transform_points(inverse(item.pose), cloud)
            cloud = cloud[box_distance(local, np.zeros(3), np.asarray(item.size) / 2) > 0.008]
    return np.asarray(cloud)


def _to_hand(poses: Array, points: Array) -> Array:
    """Points (N, 3) of ``world`` in each hand's frame: (M, N, 3)."""
    return np.asarray(points @ poses[:, :3, :3] - np.einsum("mi,mij->mj", poses[:, :3, 3], poses[:, :3, :3])[:, None])
