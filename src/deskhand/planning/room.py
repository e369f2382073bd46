"""Parts of the desk, and what reaches into them."""

from __future__ import annotations

from deskhand.language.intents import Clear
from deskhand.language.resolve import Seen

Box = tuple[tuple[float, float], tuple[float, float]]
"""Lower and upper end [m] along x and along y, in world."""


REGIONS = {"left": ((-0.10, 0.14), (0.10, 0.26)), "right": ((-0.10, 0.14), (-0.26, -0.10)), "front": ((0.09, 0.15), (-0.22, 0.22)),
           "back": ((-0.12, -0.05), (-0.20, 0.20)), "middle": ((-0.04, 0.08), (-0.06, 0.06))}  # fmt: skip
"""Parts of the desk within reach, ((x from, to), (y from, to)) [m]; front is the far side, as in "at the front of the desk"."""


def box_of(region: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """The part of the desk that words like ``left front`` mean: what they have in common."""
    boxes = [REGIONS[word] for word in region.split()]
    sides = [max(box[axis][0] for box in boxes) for axis in (0, 1)], [min(box[axis][1] for box in boxes) for axis in (0, 1)]
    if len(boxes) > 1 and sides[0][0] >= sides[1][0]:  # "left middle": the depths have nothing in common
        sides[0][0], sides[1][0] = boxes[0][0]
    return (sides[0][0], sides[1][0]), (sides[0][1], sides[1][1])


def room_in(intent: Clear) -> Box:
    """The part of the desk that must be free: of the size wanted, in the middle of a region; of the sides all that is within reach."""
    (x0, x1), (y0, y1) = box_of(intent.region)
    if intent.region == "middle":
        return (-intent.size[0] / 2, intent.size[0] / 2), (-intent.size[1] / 2, intent.size[1] / 2)
    wide = 0.05 if intent.region in ("left", "right") else 0.0
    low, high = (y0 - wide, y1 + 0.2) if intent.region == "left" else (y0 - 0.2, y1 + wide) if intent.region == "right" else (y0, y1)
    return (x0 - 0.05, x1 + 0.1), (low, high)


def overlaps(item: Seen, box: tuple[tuple[float, float], tuple[float, float]]) -> bool:
    """Whether an object reaches into a part of the desk, by the shorter half of it."""
    half = min(float(edge) for edge in item["size"][:2]) / 2
    return all(box[axis][0] - half < float(item["position"][axis]) < box[axis][1] + half for axis in (0, 1)) and item.get("relation") != "in"
