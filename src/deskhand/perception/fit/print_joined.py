"""What shape holds to be one and colours have cut, joined again where one solid explains all of it: print that is too small or too plain to be told as such."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from deskhand.perception.fit.parts import line_of
from deskhand.perception.fit.solids import Solid, SolidFits
from deskhand.perception.quantiles import spread
from deskhand.perception.segment.segmentation import Segment, union_of
from deskhand.perception.view import View
from deskhand.perception.visibility import free_share

_ONE = 0.001  # [m] rms of one solid through all pieces
_FREE = 0.1  # share of its faces that the camera looks through at most
_LONGEST = 0.19  # [m] of a rod in several colours
_USUAL, _RARE = 0.6, 0.2  # how usual the size of the whole is at least, and that of each piece at most, where boxes could as well be several
_END = 0.008  # [m] between the ends of two pieces of a rod
_SLIVER = 0.05  # share of all pixels, below which a piece tells nothing
_ABOVE = 0.2  # share of the height of a round wall that pieces of it may share where they stand on each other


def joined_print(view: View, fits: SolidFits, segments: list[Segment]) -> list[Segment]:
    """The same with pieces of one part of shape joined where a round solid explains all of them, or a box of a usual size, which none of them alone has."""
    groups: dict[int, list[Segment]] = defaultdict(list)
    for item in segments:
        groups[0 if item.whole else item.part].append(item)
    result = groups.pop(0, [])
    for pieces in groups.values():
        pieces = sorted(pieces, key=len, reverse=True)
        union = union_of(pieces[0], pieces[1:])
        if len(pieces) < 2 or not _is_one(view, fits, union, pieces):
            result += pieces
        else:  # a rod may go on behind what lies across it
            result.append(union if fits.of(union).lying else replace(union, whole=True))
    return sorted(_joined_rods(view, fits, result), key=len, reverse=True)


def _joined_rods(view: View, fits: SolidFits, segments: list[Segment]) -> list[Segment]:
    """The same with rods joined of which print parts two pieces: they meet end to end, and one rod of a usual size goes through both."""
    pieces = list(segments)
    for one, other in combinations(segments, 2):
        if not {id(one), id(other)} <= {id(item) for item in pieces} or not _meet(one, other):
            continue
        union = replace(union_of(one, [other]), whole=False)
        solid = fits.of(union)
        if solid.lying and solid.size[0] < _LONGEST and solid.error < max(_ONE, 1.2 * view.noise) and _usual(fits, solid) > _USUAL:
            pieces = [item for item in pieces if item is not one and item is not other] + [union]
    return pieces


def _meet(one: Segment, other: Segment) -> bool:
    """Whether two thin pieces lie in one line, the one where the other ends."""
    a, b = line_of(one), line_of(other)
    if a is None or b is None:
        return False
    gap = b.middle - a.middle
    length, apart = (a.length + b.length) / 2, float(np.linalg.norm(gap))
    long = a if a.length > b.length else b
    return length - _END < apart < length + _END and float(np.linalg.norm(gap - long.axis * (gap @ long.axis))) < _END / 2


def _is_one(view: View, fits: SolidFits, union: Segment, pieces: list[Segment]) -> bool:
    solid = fits.of(union)
    if solid.error > max(_ONE, 1.2 * view.noise):
        return False
    if solid.shape == "sphere":
        return True
    if solid.shape == "cylinder":
        return bool(solid.size[0] < _LONGEST) if solid.lying else not _on_each_other(solid, pieces)
    if solid.shape != "box" or free_share(view, solid.pose, solid.size) > _FREE or _usual(fits, solid) < _USUAL:
        return False
    return all(_usual(fits, fits.of(piece)) < _RARE for piece in pieces)


def _usual(fits: SolidFits, solid: Solid) -> float:
    return float(fits.prior(solid.shape, solid.size[None])[0])


def _on_each_other(solid: Solid, pieces: list[Segment]) -> bool:
    """Whether the pieces of a standing cylinder begin where others end, as cans on each other do."""
    least = _SLIVER * sum(map(len, pieces))
    spans = sorted(spread(piece.points[:, 2], 0.05, 0.95) for piece in pieces if len(piece) > least)
    return bool(np.all([low > before - _ABOVE * solid.size[2] for (_, before), (low, _) in pairwise(spans)]))
