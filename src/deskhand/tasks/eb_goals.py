"""What must be true at the end of eb_pick, eb_stack, eb_sorter and eb_wipe, on ground truth. A predicate says why it does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.spatial import ConvexHull

from deskhand.geometry import Array, inverse, polygon_middle, transform_points
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.shapes import PRISMS, shape_pieces
from deskhand.sim.spec import Truth, TruthObject
from deskhand.tasks.placement import AT_REST, outline, where_is

TOUCHING = 0.004  # [m] between the underside of an object and the top of what bears it
HALF = 0.5  # share of an area that may be left
ON_DESK = 0.006  # [m] above the desk up to which something stands on it


@dataclass(frozen=True)
class InContainer:
    """``item`` lies in ``container``, and nobody holds it."""

    item: str
    container: str


@dataclass(frozen=True)
class Stacked:
    """``top`` stands on ``bottom``, which stands on the desk: released, at rest, its centre within half an edge of the bottom one's.

    The centre is that of its mass, as seen from above: of a triangle, or a moon, the box about it has another one.
    """

    bottom: str
    top: str


@dataclass(frozen=True)
class Wiped:
    """At least half of the spots of ``area``, by their area, are gone."""

    area: str


@dataclass(frozen=True)
class InSorter:
    """``item`` is all inside the case of ``sorter``, below its board, and nobody holds it."""

    item: str
    sorter: str


Goal = InContainer | Stacked | Wiped | InSorter


def acted_on(goal: Goal) -> str:
    """The object, or the area, that is brought into the state."""
    if isinstance(goal, Wiped):
        return goal.area
    return goal.top if isinstance(goal, Stacked) else goal.item


def unmet(goal: Goal, end: Truth, walls: Mapping[str, float], fixtures: Mapping[str, FixtureSpec] = MappingProxyType({})) -> str:
    """Why ``goal`` does not hold, empty when it does; ``walls``: thickness [m] of each container by name; ``fixtures`` by name."""
    if isinstance(goal, InSorter):
        return _not_in_sorter(goal, end, fixtures[goal.sorter])
    if isinstance(goal, Stacked):
        return _not_stacked(goal, end)
    if isinstance(goal, Wiped):
        left = end.spots[goal.area]
        return "" if left <= HALF else f"{100 * left:.0f} % of {goal.area} is left"
    found = where_is(end.get(goal.item), {name: (end.get(name), wall) for name, wall in walls.items()}, end.in_hand)
    return "" if found == goal.container else f"{goal.item} is in {goal.container} when all is right, and it is at {found}"


def _not_in_sorter(goal: InSorter, end: Truth, sorter: FixtureSpec) -> str:
    item = end.get(goal.item)
    if item.name in end.in_hand:
        return f"{item.name} is in the gripper"
    corners = transform_points(inverse(sorter.pose), outline(item))
    aside = float((np.abs(corners[:, :2]) - np.asarray(sorter.size[:2]) / 2).max())
    if aside > 0:
        return f"{item.name} reaches {1000 * aside:.0f} mm out of {sorter.name} at its side"
    over = float(corners[:, 2].max()) - sorter.size[2]
    return f"{item.name} sticks {1000 * over:.0f} mm out of the board of {sorter.name}" if over > 0 else ""


def middle_of(item: TruthObject) -> Array:
    """Where (2,) [m, world] the centre of mass of an object is, that of an upright prism by its outline."""
    if item.shape not in PRISMS:
        return np.asarray(item.pose[:2, 3])
    pieces = [np.asarray(corners)[:, :2] for corners in shape_pieces(item.shape, item.size)]
    told = [polygon_middle(piece[ConvexHull(piece).vertices]) for piece in pieces]
    x, y = np.average([middle for _, middle in told], axis=0, weights=[area for area, _ in told])
    return transform_points(item.pose, np.array([[x, y, 0.0]]))[0, :2]


def _not_stacked(goal: Stacked, end: Truth) -> str:
    bottom, top = end.get(goal.bottom), end.get(goal.top)
    for item in (bottom, top):
        if item.name in end.in_hand:
            return f"{item.name} is in the gripper"
        if item.velocity > AT_REST:
            return f"{item.name} moves"
    heights = {item.name: outline(item)[:, 2] for item in (bottom, top)}
    if heights[bottom.name].min() > ON_DESK:
        return f"{bottom.name} does not stand on the desk"
    if abs(heights[top.name].min() - heights[bottom.name].max()) > TOUCHING:
        return f"{top.name} does not stand on {bottom.name}"
    aside = float(np.linalg.norm(middle_of(top) - middle_of(bottom)))
    if aside > min(bottom.size[:2]) / 2:
        return f"{top.name} stands {1000 * aside:.0f} mm beside the middle of {bottom.name}"
    return ""
