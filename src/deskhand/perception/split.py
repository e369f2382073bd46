"""Things of one colour that touch: a segment that no single solid explains is cut where two solids explain it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.containers import Hollow
from deskhand.perception.footprint import tight_rectangle
from deskhand.perception.segmentation import Segment
from deskhand.perception.solids import SolidFits
from deskhand.perception.view import Mask, View

_POOR = 0.0017  # [m] rms; single solids are below 0.0012
_GAIN = 0.62  # the two parts' error over that of the whole at most
_MIN_PART = 80  # [px]
_MIN_BREADTH = 0.024  # [m]
_MAX_SIZE = 0.20  # [m] larger ones are not two things that can be grasped
_DEPTH = 2  # a thing is cut twice at most: three that touch


def split_touching(view: View, fits: SolidFits, segments: list[Segment], hollows: list[Hollow]) -> list[Segment]:
    """Cut the segments that are more than one thing. What lies in a container may be tilted, so that nothing follows from a poor fit there."""
    return [part for item in segments for part in ([item] if _is_inside(item, hollows) else _split(view, fits, item, _DEPTH))]


def _is_inside(item: Segment, hollows: list[Hollow]) -> bool:
    return any(hollow.for_sorting and hollow.holds(item.points).mean() > 0.5 for hollow in hollows)


def _split(view: View, fits: SolidFits, item: Segment, depth: int) -> list[Segment]:
    if depth == 0 or len(item) < 2 * _MIN_PART:
        return [item]
    solid = fits.of(item)
    extent = tight_rectangle(item.points[:, :2]).size
    # Of what has a lid or carries something only a side is seen here, which is no solid by itself.
    if solid.error < max(_POOR, 2.0 * view.noise) or not _MIN_BREADTH < extent[1] <= extent[0] < _MAX_SIZE:
        return [item]
    whole = solid.error
    best: tuple[float, list[Segment]] | None = None
    for side in _cuts(item):
        parts = [_part(item, side), _part(item, ~side)]
        error = float(np.sqrt(sum(fits.of(part).error ** 2 * len(part) for part in parts) / len(item)))
        if best is None or error < best[0]:
            best = error, parts
    if best is None or best[0] > _GAIN * whole:
        return [item]
    return [piece for part in best[1] for piece in _split(view, fits, part, depth - 1)]


def _part(item: Segment, side: Mask) -> Segment:
    return replace(item, pixels=item.pixels[side], points=item.points[side], measured=item.measured[side], paint=item.pixels[side])


def _cuts(item: Segment) -> list[Mask]:
    """The most promising ways to cut: which points (N,) are on one side."""
    ground = item.points[:, :2]
    box = tight_rectangle(ground)
    middle = box.centre
    found: list[tuple[float, Mask]] = []
    for turn in (0.0, 90.0, 30.0, 60.0, -30.0, -60.0):
        angle = box.yaw + np.radians(turn)
        along = (ground - middle) @ np.array([np.cos(angle), np.sin(angle)])
        low, high = np.quantile(along, [0.02, 0.98])
        for share in (0.25, 0.35, 0.45, 0.55, 0.65, 0.75):
            side = along < low + share * (high - low)
            if min(side.sum(), (~side).sum()) >= _MIN_PART:
                found.append((_area(ground[side]) + _area(ground[~side]), side))
    found += [(0.0, side) for side in _tall_part(item)]
    return [side for _, side in sorted(found, key=lambda cut: cut[0])[:6]]


def _area(ground: Array) -> float:
    return float(np.prod(tight_rectangle(ground).size))


def _tall_part(item: Segment) -> list[Mask]:
    """A tall thing beside a low one: what stands above the low one's top, down to the table."""
    z = item.points[:, 2]
    counts, edges = np.histogram(z, np.arange(0.0, float(z.max()) + 0.004, 0.002))
    sides = []
    for level in np.nonzero(counts > 0.06 * len(z))[0]:
        above = z > edges[level] + 0.006
        if not _MIN_PART <= above.sum() <= len(z) - _MIN_PART:
            continue
        side = above | tight_rectangle(item.points[above][:, :2]).inside(item.points[:, :2], -0.002)
        if side.sum() <= len(z) - _MIN_PART:
            sides.append(side)
    return sides[-2:]
