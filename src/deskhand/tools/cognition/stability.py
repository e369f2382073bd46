"""What bears what, whether it stands firm, and what falls when something is taken away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import cv2
import numpy as np
from pydantic import Field
from scipy.spatial import ConvexHull, QhullError
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, convex_intersection
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId
from deskhand.types import Scene, SceneObject
from deskhand.world.relations import TABLE
from deskhand.world.spatial import CONTACT, footprint, footprint_gap

FIRM = 0.004  # [m] that the centre of mass must be within the support, so that it counts as firm
SIDE = 0.004  # [m] between objects that touch sideways
SHRINK = 0.97  # of a footprint, so that objects side by side carry nothing


class Standing(TypedDict):
    """How one object stands."""

    object_id: str
    on: Annotated[list[str], Field(description="what bears it, or table, or gripper")]
    carries: Annotated[list[str], Field(description="what it bears, directly")]
    touches: Annotated[list[str], Field(description="what it stands against, without being borne by it")]
    margin: Annotated[float, Field(description="how far its centre of mass is within its support, seen from above; negative: beyond it [m]")]
    load: Annotated[float, Field(description="margin together with all that it carries [m]")]
    stable: bool
    reason: str


class Stability(TypedDict):
    """How everything stands."""

    objects: list[Standing]
    falls: Annotated[list[str], Field(description="what would fall or tip if removed were taken away; empty when nothing was asked for")]
    free: Annotated[list[str], Field(description="what can be taken without anything falling")]


@dataclass(frozen=True)
class _Contact:
    """``upper`` rests on ``lower`` (None: the table) over a region (M, 2) [m]."""

    upper: str
    lower: str
    region: Array


@tool(
    group="cognition",
    unit="physical_and_contact_state",
    preconditions=("scene_known",),
    timeout=20.0,
    when_to_use="Before taking or pushing something out of a stack: what bears what, what touches what, is it stable, what falls if something is removed?",
    limits="Statics of the boxes of the last look: even density, no friction, no glue. Round objects that roll and those that lean are judged by their boxes. "
    "What is hidden is not counted.",
    examples=[
        ("What would fall if this block were taken away?", {"removed": ["block_1"]}),
        ("Does the tower stand firm, and what carries what?", {}),
    ],
    failures=[("The object is not on the desk", {"removed": ["ghost_9"]}, "unknown_object")],
)
def check_stability(
    ctx: ToolContext,
    removed: Annotated[list[ObjectId], Field(max_length=50, description="ids of what is imagined to be taken away; empty: nothing")] = [],  # noqa: B006
) -> Stability:
    """Tell what bears and touches what, how firm each object stands, and what would fall if some were taken away."""
    scene = last_look(ctx)
    for name in removed:
        scene.get(name)
    items = [item for item in scene.objects if item.relation != "held"]
    contacts = _contacts(items, scene)
    falls = falling(items, contacts, set(removed)) if removed else set()
    found = []
    for item in scene.objects:
        mine = [contact for contact in contacts if contact.upper == item.id]
        above = _above(item.id, contacts)
        margin, load = _margin([item], mine), _margin([item, *(other for other in items if other.id in above)], mine)
        bears = ["gripper"] if item.relation == "held" else [contact.lower for contact in mine]
        stable = item.relation in ("held", "in") or min(margin, load) > 0
        sides = [other.id for other in items if other.id != item.id and _beside(item, other) and other.id not in {*bears, *above}]
        reason = _reason(item, margin, load, bears)
        found.append(
            Standing(
                object_id=item.id,
                on=bears,
                carries=[contact.upper for contact in contacts if contact.lower == item.id],
                touches=sides,
                margin=round(margin, 4),
                load=round(load, 4),
                stable=stable,
                reason=reason,
            )
        )
    free = [item.id for item in items if not falling(items, contacts, {item.id})]
    return Stability(objects=found, falls=sorted(falls), free=free)


def _reason(item: SceneObject, margin: float, load: float, bears: Sequence[str]) -> str:
    if item.relation == "held":
        return "the gripper holds it."
    if item.relation == "in":
        return f"it lies within {item.support}."
    if min(margin, load) <= 0:
        what = "its centre" if margin <= 0 else "the centre of it and its load"
        return f"{what} is {-1000 * min(margin, load):.0f} mm beyond what bears it ({', '.join(bears) or 'nothing that is seen'})."
    firm = "firmly" if min(margin, load) > FIRM else "barely"
    return f"it stands {firm} on {', '.join(bears)}: {1000 * min(margin, load):.0f} mm to the edge."


def _contacts(items: Sequence[SceneObject], scene: Scene) -> list[_Contact]:
    """What rests on what, by heights and overlap seen from above, and as perception says for what lies in containers."""
    result = []
    for item in items:
        outline = _outline(item)
        found = []
        for other in items:
            if other.id == item.id or other.is_container:
                continue
            shared = convex_intersection(outline, _outline(other))
            if abs(item.bottom - other.top) <= CONTACT and len(shared) and item.bottom > other.bottom + CONTACT / 2:
                found.append(_Contact(item.id, other.id, shared))
        named = next((other for other in items if other.id == item.support and item.relation in ("on", "leaning")), None)
        if named is not None and named.id not in [contact.lower for contact in found]:
            shared = convex_intersection(outline, _outline(named))
            found += [_Contact(item.id, named.id, shared)] if len(shared) else []
        if item.relation == "in":
            found = found or [_Contact(item.id, item.support, outline)]
        elif not found or item.relation == "leaning" or item.bottom < CONTACT / 2:
            found.append(_Contact(item.id, TABLE, outline))
        result += found
    assert scene.objects or not result
    return result


def _outline(item: SceneObject) -> Array:
    corners = item.position[:2] + SHRINK * (footprint(item) - item.position[:2])
    return np.asarray(cv2.convexHull(corners.astype(np.float32)).reshape(-1, 2), float)


def _above(name: str, contacts: Sequence[_Contact]) -> set[str]:
    """Ids of all that an object carries, directly or by way of others, that nothing else carries as well."""
    found: set[str] = set()
    grew = True
    while grew:
        new = {c.upper for c in contacts if c.lower in found | {name}} - found - {name}
        new = {upper for upper in new if all(c.lower in found | {name} for c in contacts if c.upper == upper)}
        grew = bool(new)
        found |= new
    return found


def _margin(items: Sequence[SceneObject], contacts: Sequence[_Contact]) -> float:
    """[m] from the common centre of mass to the edge of the hull of all contacts, negative beyond it."""
    if not contacts:
        return -1.0
    masses = np.array([float(np.prod(item.size)) for item in items])
    centre = (masses[:, None] * np.array([item.position[:2] for item in items])).sum(axis=0) / masses.sum()
    corners = np.concatenate([contact.region for contact in contacts])
    try:
        planes = ConvexHull(corners).equations
    except QhullError:
        return -float(np.linalg.norm(corners.mean(axis=0) - centre))
    return -float((planes[:, :2] @ centre + planes[:, 2]).max())


def falling(items: Sequence[SceneObject], contacts: Sequence[_Contact], removed: set[str]) -> set[str]:
    """Ids of what falls or tips once ``removed`` are gone, and of what that takes with it."""
    gone = set(removed)
    by_id = {item.id: item for item in items}
    while True:
        left = [contact for contact in contacts if contact.upper not in gone and contact.lower not in gone]
        new = set()
        for name, item in by_id.items():
            if name in gone or item.relation == "held":
                continue
            mine = [contact for contact in left if contact.upper == name]
            carried = [by_id[other] for other in _above(name, left) if other in by_id]
            if not mine or (len(mine) < len([c for c in contacts if c.upper == name]) and min(_margin([item], mine), _margin([item, *carried], mine)) <= 0):
                new.add(name)
        if not new:
            return gone - removed
        gone |= new


def _beside(a: SceneObject, b: SceneObject) -> bool:
    """Whether two objects touch sideways."""
    return footprint_gap(a, b) < SIDE and min(a.top, b.top) > max(a.bottom, b.bottom) + 0.003
