"""Comparing what is seen now with what was seen before."""

from __future__ import annotations

from typing import Literal

import numpy as np

from deskhand.geometry import inverse, transform_points
from deskhand.types import Frame, Scene, SceneObject

MOVED = 0.03  # [m] that a thing left alone may seem to move between two looks
BELOW_RIM = 0.004  # [m]
ENOUGH = 12  # points that must be seen to say anything


def seen_at_place(frame: Frame, item: SceneObject, support: float) -> Literal["there", "gone", "hidden"]:
    """Whether ``item`` is still seen where it was: its points against the depth picture.

    A point is gone when the camera now sees further, towards the support at height ``support`` [m]; it is hidden when
    something stands in front of it.
    """
    points = np.asarray(item.points, dtype=float)
    points = points[points[:, 2] > support + 0.4 * (item.top - support)] if len(points) else points
    if len(points) < ENOUGH:
        return "hidden"
    pixels = frame.project(points)
    camera = inverse(frame.world_T_camera)
    before = transform_points(camera, points)[:, 2]
    height, width = frame.depth.shape
    inside = np.all(np.isfinite(pixels), axis=1) & (pixels > 0).all(axis=1) & (pixels[:, 0] < width - 1) & (pixels[:, 1] < height - 1)
    if not inside.any():
        return "hidden"
    column, row = np.round(pixels[inside]).astype(int).T
    now, before, points = frame.depth[row, column].astype(float), before[inside], points[inside]
    ray = points - frame.world_T_camera[:3, 3]
    # how much further the support lies along the ray
    gap = (points[:, 2] - support) / np.maximum(-ray[:, 2], 1e-6) * before
    share = (now - before) / np.maximum(gap, 1e-4)
    seen = np.isfinite(share) & (share > -0.6)
    if seen.sum() < max(ENOUGH, 0.15 * len(share)):
        return "hidden"
    return "gone" if np.median(share[seen]) > 0.5 else "there"


def alike(a: SceneObject, b: SceneObject) -> bool:
    """Whether two looks may show the same thing: colour, and extents within 40 % (a view may hide a side)."""
    if a.color != b.color or a.is_container != b.is_container:
        return False
    small, large = np.sort(np.stack([np.sort(a.size), np.sort(b.size)]), axis=0)
    return bool(np.all(small >= 0.55 * large - 0.006))


def same_object(scene: Scene, item: SceneObject, not_in: Scene | None = None) -> SceneObject | None:
    """``item`` in a later look: by id, else the thing nearest to it that looks alike.

    With ``not_in``, things that an earlier look showed at the same place are somebody else.
    """
    for other in scene.objects:
        if other.id == item.id:
            return other
    others = [other for other in scene.objects if alike(other, item) and not (not_in and _was_there(not_in, other))]
    return min(others, key=lambda other: float(np.linalg.norm(other.position - item.position)), default=None)


def disturbed(before: Scene, after: Scene, leave_out: tuple[str, ...] = ()) -> list[str]:
    """Ids of things of ``before`` that ``after`` does not show near their place: pushed, knocked over, or hidden."""
    return [
        item.id
        for item in before.objects
        if item.id not in leave_out
        and not any(np.linalg.norm(other.position - item.position) < MOVED and (other.id == item.id or alike(other, item)) for other in after.objects)
    ]


def inside_container(container: SceneObject, item: SceneObject) -> bool:
    """Whether the centre of ``item`` is within the walls and it reaches down below the rim: more than lying across it."""
    local = transform_points(inverse(container.pose), item.position)
    half = np.asarray(container.size, dtype=float) / 2
    return bool(np.all(np.abs(local[:2]) <= half[:2] - container.wall / 2) and item.bottom < container.top - BELOW_RIM)


def _was_there(before: Scene, item: SceneObject) -> bool:
    return any(np.linalg.norm(other.position - item.position) < MOVED and (other.id == item.id or alike(other, item)) for other in before.objects)
