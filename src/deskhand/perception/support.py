"""What each thing lies on or in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.containers import Hollow
from deskhand.perception.footprint import Rectangle
from deskhand.perception.segmentation import Segment
from deskhand.perception.solids import Solid, SolidFits
from deskhand.perception.view import View

_GAP = 0.009  # [m] a lowest seen point this much higher than the plane below means that something is between
_FIT = 0.009  # [m] between the lowest seen point and the top of what carries it


@dataclass(frozen=True)
class Placed:
    """A thing of this look; ``support`` is the index of what carries it, -1 for the table."""

    segment: Segment
    solid: Solid
    hollow: Hollow | None = None
    support: int = -1
    relation: str = "on"


def find_supports(view: View, fits: SolidFits, placed: list[Placed]) -> list[Placed]:
    """Things in containers and on other things, fitted again on what carries them."""
    result = list(placed)
    containers = [i for i, item in enumerate(placed) if item.hollow is not None and item.hollow.for_sorting]
    for i, item in enumerate(placed):
        if i in containers:
            continue
        inside = next((c for c in containers if _is_in(item, placed[c])), None)
        if inside is not None:
            hollow = placed[inside].hollow
            assert hollow is not None
            result[i] = _refit(fits, replace(item, support=inside, relation="in"), hollow.floor)
    for i, item in enumerate(placed):
        if i in containers or result[i].relation == "in":
            continue
        below = _carrier(i, item, placed, containers)
        if below is not None:
            level = _top_of_carrier(item, placed[below].solid)
            result[below] = replace(result[below], solid=_completed(result[below].solid, item, level, view.eye))
            result[i] = _refit(fits, replace(item, support=below), level)
    return result


def _top_of_carrier(item: Placed, below: Solid) -> float:
    """Height [m] between a thing and what carries it: where the upper one begins; the lower one's top may be hidden by it."""
    low = float(np.quantile(item.segment.points[:, 2], 0.02))
    top = float(below.pose[2, 3] + below.size[2] / 2)
    return max(top, low) if abs(top - low) < _FIT else top


def _completed(solid: Solid, above: Placed, level: float, eye: Array) -> Solid:
    """A thing whose top is hidden under another: of its footprint only the sides that face the camera are seen."""
    size, pose = solid.size.copy(), solid.pose.copy()
    bottom = float(pose[2, 3] - size[2] / 2)
    size[2], pose[2, 3] = level - bottom, (level + bottom) / 2
    if size[1] < 0.55 * min(size[0], size[2]):
        # Take it to be as deep as wide, at most as deep as what it carries; it extends away from the camera.
        depth = float(np.clip(above.solid.size[1], size[1], size[0]))
        away = pose[:2, 1] * np.sign(float(pose[:2, 1] @ (pose[:2, 3] - eye[:2])))
        pose[:2, 3] += away * (depth - size[1]) / 2
        size[1] = depth
    return replace(solid, pose=pose, size=size)


def _is_in(item: Placed, container: Placed) -> bool:
    hollow = container.hollow
    assert hollow is not None
    points = item.segment.points
    within = hollow.holds(points).mean()
    return bool(within > 0.55 and np.quantile(points[:, 2], 0.05) < hollow.height + 0.004)


def _carrier(i: int, item: Placed, placed: list[Placed], containers: list[int]) -> int | None:
    """Index of the thing whose top the lowest seen points of ``item`` stand on."""
    low = float(np.quantile(item.segment.points[:, 2], 0.03))
    if low < _GAP:
        return None
    best, overlap = None, 0.25
    for j, other in enumerate(placed):
        if j == i or j in containers:
            continue
        top = float(other.solid.pose[2, 3] + other.solid.size[2] / 2)
        if abs(top - low) > _FIT:
            continue
        share = float(_outline(other.solid).inside(item.segment.points[:, :2], -0.004).mean())
        if share > overlap:
            best, overlap = j, share
    return best


def _outline(solid: Solid) -> Rectangle:
    yaw = float(np.arctan2(solid.pose[1, 0], solid.pose[0, 0]))
    return Rectangle(solid.pose[:2, 3], solid.size[:2], yaw)


def _refit(fits: SolidFits, item: Placed, support: float) -> Placed:
    if item.hollow is None:
        return replace(item, solid=fits.of(item.segment, support))
    solid = item.solid
    top = float(solid.pose[2, 3] + solid.size[2] / 2)
    pose: Array = solid.pose.copy()
    pose[2, 3] = (top + support) / 2
    return replace(item, solid=replace(solid, pose=pose, size=np.array([solid.size[0], solid.size[1], max(0.002, top - support)])))
