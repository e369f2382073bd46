"""Comparing what is seen now with what was seen before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from deskhand.geometry import Array, inverse, transform_points
from deskhand.types import Scene, SceneObject
from deskhand.world.relations import BELOW_RIM

MOVED = 0.03  # [m] that an object left alone may seem to move between two looks
FAR = 0.1  # [m] that nothing moves which is only pushed by what was put beside it
UNIT_CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))


def alike(a: SceneObject, b: SceneObject) -> bool:
    """Whether two looks may show the same object: colour, and extents within 40 % (a view may hide a side)."""
    return a.color == b.color and a.is_container == b.is_container and _as_large(a, b)


def _as_large(a: SceneObject, b: SceneObject) -> bool:
    small, large = np.sort(np.stack([np.sort(a.size), np.sort(b.size)]), axis=0)
    return bool(np.all(small >= 0.55 * large - 0.006))


def same_object(scene: Scene, item: SceneObject, not_in: Scene | None = None) -> SceneObject | None:
    """``item`` in a later look: by id, else the object nearest to it that looks alike.

    With ``not_in``, objects that an earlier look showed at the same place are somebody else.
    """
    for other in scene.objects:
        if other.id == item.id:
            return other
    others = [other for other in scene.objects if alike(other, item) and not (not_in and _was_there(not_in, other))]
    return min(others, key=lambda other: float(np.linalg.norm(other.position - item.position)), default=None)


def newcomer(after: Scene, before: Scene, at: Array, reach: float) -> SceneObject | None:
    """What has come to lie within ``reach`` [m] of the place ``at`` (3,) between two looks, the nearest, whatever it looks like and whatever id it has.

    A piece of an object that was half hidden gives its name and its size to all of it, once that has been carried away.
    """
    come = [item for item in _come(after, before) if np.linalg.norm(item.position - at) < reach]
    return min(come, key=lambda item: float(np.linalg.norm(item.position - at)), default=None)


def stray(after: Scene, before: Scene, lost: SceneObject) -> SceneObject | None:
    """What has come to lie anywhere between two looks and is about as large as what was ``lost``, the nearest to where that was."""
    come = [item for item in _come(after, before) if _as_large(item, lost)]
    return min(come, key=lambda item: float(np.linalg.norm(item.position - lost.position)), default=None)


def _come(after: Scene, before: Scene) -> list[SceneObject]:
    were = {item.id: item.position for item in before.objects}
    return [
        item
        for item in after.objects
        if not item.is_container and not _was_there(before, item) and (item.id not in were or np.linalg.norm(item.position - were[item.id]) > FAR)
    ]


def united(item: SceneObject, parts: Sequence[SceneObject]) -> SceneObject:
    """``item`` with the ``parts`` of it that were taken for other objects: the box around all of them along its own sides."""
    corners = np.concatenate([transform_points(part.pose, UNIT_CORNERS * part.size) for part in (item, *parts)])
    local = transform_points(inverse(item.pose), corners)
    low, high = local.min(axis=0), local.max(axis=0)
    pose = item.pose.copy()
    pose[:3, 3] = transform_points(item.pose, (low + high) / 2)
    return replace(item, shape="box", size=high - low, pose=pose, points=np.concatenate([part.points for part in (item, *parts)]))


def disturbed(before: Scene, after: Scene, leave_out: tuple[str, ...] = ()) -> list[str]:
    """Ids of objects of ``before`` that ``after`` does not show near their place: pushed, knocked over, or hidden."""
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
