"""Spatial words on what a look showed, with the reason. What they mean: world/relations.py. ``on`` and ``in`` are about what carries what:
``in`` a container also holds for objects that lie on other objects in it.
"""

from __future__ import annotations

import math

import numpy as np

from deskhand.geometry import Array, convex_hull, inverse, transform_points
from deskhand.types import Scene, SceneObject
from deskhand.world import relations as words
from deskhand.world.relations import BELOW_RIM, NEAR_GAP, TABLE, Body

ROUND = 24  # corners of the outline of a round object
UPRIGHT = 0.97  # cosine of its axis with the vertical of a cylinder that stands
CONTACT = 0.012  # [m] heights of an object's bottom and its support's top may differ as much, as seen by the camera


def relation_holds(scene: Scene, item: SceneObject, relation: str, target: SceneObject | None) -> tuple[bool, str]:
    """Whether ``item`` stands in ``relation`` to ``target`` (None: the table), and why."""
    name = target.id if target else TABLE
    if relation == "on":
        return _is_on(scene, item, target)
    if target is None:
        return False, f"{relation} says nothing about the table."
    if target.id == item.id:
        return False, f"{item.id} cannot be {relation} itself."
    if relation == "in":
        return _is_in(scene, item, target)
    if relation == "near":
        gap = footprint_gap(item, target)
        return gap < NEAR_GAP, f"the gap between {item.id} and {name} is {gap * 1000:.0f} mm (near: less than {NEAR_GAP * 1000:.0f} mm)."
    along, across = words.offset(Body.of(item), Body.of(target), relation)
    return words.sideways(
        Body.of(item), Body.of(target), relation
    ), f"the centre of {item.id} is {along * 1000:.0f} mm {relation} that of {name}, and {abs(across) * 1000:.0f} mm to the side."


def beside_holds(scene: Scene, item: SceneObject, relation: str, target: SceneObject) -> tuple[bool, str]:
    """Whether ``item`` stands beside the target as something put there would, and why: in that direction, carried by the same, not far off."""
    holds, reason = relation_holds(scene, item, relation, target)
    if not holds or words.stands_beside(Body.of(item), Body.of(target), relation):
        return holds, reason
    gap = f"the gap is {footprint_gap(item, target) * 1000:.0f} mm (beside: less than {words.BESIDE_GAP * 1000:.0f} mm)"
    return False, f"{reason[:-1]}, but it does not stand beside it: {gap}, and {where(item)}."


def where(item: SceneObject) -> str:
    """Where it lies, in words."""
    if item.relation == "held":
        return f"{item.id} is in the gripper"
    x, y = item.position[:2]
    return f"{item.id} is {item.relation} {item.support} at x {x:.3f}, y {y:.3f}"


def footprint(item: SceneObject) -> Array:
    """Corners (8, 2) of the oriented box seen from above [m]."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    return transform_points(item.pose, signs * item.size / 2)[:, :2]


def outline(item: SceneObject) -> Array:
    """Corners (M, 2) of a convex outline seen from above [m], in their order: of the oriented box, or of what stands and is round."""
    if item.shape == "sphere" or (item.shape == "cylinder" and abs(item.pose[2, 2]) > UPRIGHT):
        turns = np.arange(ROUND) * (2 * math.pi / ROUND)
        circle = np.column_stack([np.cos(turns), np.sin(turns)]) / math.cos(math.pi / ROUND)  # around the round one, not within it
        return np.asarray(transform_points(item.pose, np.column_stack([circle * np.asarray(item.size[:2], float) / 2, np.zeros(ROUND)]))[:, :2])
    return convex_hull(footprint(item))


def footprint_gap(a: SceneObject, b: SceneObject) -> float:
    """Distance [m] of two objects seen from above, 0 when they overlap."""
    return words.gap(Body.of(a), Body.of(b))


def inside(item: SceneObject, container: SceneObject) -> bool:
    """Whether the centre of ``item`` is within the walls of ``container`` and it reaches below the rim."""
    local = transform_points(inverse(container.pose), item.position)
    half = container.size / 2 - container.wall
    return bool(abs(local[0]) <= half[0] and abs(local[1]) <= half[1] and item.bottom < container.top - 0.005 and item.top > container.bottom)


def carriers(scene: Scene, item: SceneObject) -> list[tuple[str, str]]:
    """(relation, id) of what carries ``item``, what carries that, and so on, as perception says."""
    known = {other.id: other for other in scene.objects}
    chain: list[tuple[str, str]] = []
    current: SceneObject | None = item
    while current is not None and current.support and current.support not in [name for _, name in chain] and current.support != item.id:
        chain.append((current.relation, current.support))
        current = known.get(current.support)
    return chain


def _is_on(scene: Scene, item: SceneObject, target: SceneObject | None) -> tuple[bool, str]:
    name = target.id if target else TABLE
    if item.relation == "on" and item.support == name:
        return True, f"{where(item)}."
    if target is None or target.id == item.id or item.relation == "held":
        return False, f"{where(item)}."
    touching = abs(item.bottom - target.top) <= CONTACT
    above = math.hypot(*(item.position[:2] - target.position[:2])) <= float(np.linalg.norm(target.size[:2])) / 2 and footprint_gap(item, target) <= 0
    if touching and above and not target.is_container:
        return True, f"the bottom of {item.id} is at the top of {name}."
    return False, f"{where(item)}, not on {name}."


def _is_in(scene: Scene, item: SceneObject, target: SceneObject) -> tuple[bool, str]:
    if not target.is_container:
        return False, f"{target.id} is no container; {where(item)}."
    if item.relation == "held":
        return False, f"{where(item)}."
    if ("in", target.id) in carriers(scene, item):
        within = item.relation == "in" or item.bottom < target.top - BELOW_RIM
        return within, f"{where(item)}." if within else f"{item.id} lies on what is in {target.id}, above its rim."
    if inside(item, target):
        return True, f"the centre of {item.id} is within the walls of {target.id} and below its rim."
    return False, f"{where(item)}, not in {target.id}."
