"""Plain objects that touch so that neither shape nor colour tells them apart: a segment that no single solid explains is cut where two solids explain it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.fit.convex_body import is_convex
from deskhand.perception.fit.levels import stacked_parts
from deskhand.perception.fit.outline import cuts_at, inward_corners
from deskhand.perception.fit.part_settings import PARTS, SEAMS, SPLIT
from deskhand.perception.fit.picture_refinement import may_refine
from deskhand.perception.fit.seams import parts_at_seams
from deskhand.perception.fit.solids import Solid, SolidFits, surface_distance
from deskhand.perception.footprint import tight_rectangle
from deskhand.perception.outline_match import match_outline
from deskhand.perception.quantiles import quantile, spread
from deskhand.perception.rows import is_among, rows_of
from deskhand.perception.segment.segmentation import Segment, part_of, pieces_by_color
from deskhand.perception.view import Mask, View
from deskhand.perception.visibility import SEEN, states

PRISMS = frozenset(("triangle", "star", "crescent", "pentagon", "hexagon", "heart", "plus"))
"""Outlines of one object: no two boxes, cans or boxes and cans side by side have them."""


def split_touching(view: View, fits: SolidFits, segments: list[Segment], standing: dict[int, Solid], hollows: list[Hollow]) -> list[Segment]:
    """Cut the segments that are more than one object; ``standing`` is the solid of each by its id(), fitted on what carries it.

    What lies in a container may be tilted, so that nothing follows from a poor fit there. Printed objects, whose colours tell nothing, are cut only into what
    stands on the same support.
    """
    result = []
    for item in segments:
        solid = standing.get(id(item))
        if solid is not None and item.printed and (rods := _rods(view, fits, item, solid)):
            result += rods
            continue
        poor = solid is not None and _is_poor(view, solid)
        if solid is None or (item.whole and not (item.printed and poor)) or (poor and is_convex(view, item)):
            result.append(item)
            continue
        if pair := _pair(fits, item, solid):
            result += pair
            continue
        inside = _is_inside(item, hollows)
        beside = _split(view, fits, item, solid, SPLIT.depth, inside)
        above = [item] if inside or item.printed else stacked_parts(view, fits, item, solid)
        either: list[list[Segment]] = [beside, above, *([] if inside or not item.printed else [_by_paint(view, item)])]
        ways = [parts for parts in either if len(parts) > 1 and (not item.printed or _stand(view, parts, solid)) and _are_solids(view, fits, parts, solid)]
        result += _best(fits, ways, solid) if ways and not _is_prism(view, item, solid) else [item]
    return result


def _is_prism(view: View, item: Segment, solid: Solid) -> bool:
    """Whether it looks like an upright prism of an outline that is none of two plain objects side by side: a star, a triangle, a crescent."""
    own = np.zeros(view.valid.shape, bool)
    own.reshape(-1)[item.pixels] = True
    support = _support(solid)
    found = match_outline(view.frame, view.points, own, quantile(item.points[:, 2], SPLIT.top), bottom=_bottom(item, support))
    return found is not None and found.overlap > SPLIT.prism and sum(share for name, share in found.likely if name in PRISMS) > SPLIT.one


def _stand(view: View, parts: list[Segment], solid: Solid) -> bool:
    """Whether each of these parts reaches down to what carries ``solid``, of what is round and lies as far as its middle: the neck of a bottle does not; nor
    does what is seen to end above, where its surface goes on in the other: the upper half of a printed can.
    """
    support = _support(solid)
    for number, part in enumerate(parts):
        low, high = spread(part.points[:, 2], 0.03, 0.97)
        if low - support >= high - low + SPLIT.above:
            return False
        if low - support > SPLIT.above and _goes_on(view, part, parts[:number] + parts[number + 1 :], low):
            return False
    return True


def _goes_on(view: View, part: Segment, others: list[Segment], low: float) -> bool:
    """Whether below most of the lower end of a part the others are seen at its own depth."""
    end = part.points[part.points[:, 2] < low + SPLIT.end] - [0.0, 0.0, SPLIT.end]
    u, v = np.rint(np.nan_to_num(view.frame.project(end), nan=-1.0)).astype(np.int64).T
    height, width = view.valid.shape
    there = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    end, places = end[there], v[there] * width + u[there]
    below = ~is_among(places, part.pixels, height * width)
    other = is_among(places, np.concatenate([item.pixels for item in others]), height * width) & (states(view, end, SPLIT.same_depth) == SEEN)
    return bool(below.any() and other[below].mean() > SPLIT.goes_on)


def _support(solid: Solid) -> float:
    """Height [m] of what carries an object, or the table's."""
    return max(0.0, float(solid.pose[2, 3] - np.abs(solid.pose[2, :3]) @ solid.size / 2))


def _best(fits: SolidFits, ways: list[list[Segment]], solid: Solid) -> list[Segment]:
    """The parts that explain the picture best."""
    return min(ways, key=lambda parts: _unexplained(fits, parts, solid))


def _are_solids(view: View, fits: SolidFits, parts: list[Segment], solid: Solid) -> bool:
    """Whether nearly all of parts is in such as a solid of a size that objects have explains: what no number of them does is one object of another shape."""
    support = max(0.0, float(solid.pose[2, 3] - solid.size[2] / 2))
    explained = 0
    for part in parts:
        own = fits.of(part, _bottom(part, support))
        fits_well = fits.explained(part, own)[1] < SPLIT.unexplained * len(part) if may_refine(own) else own.error < max(SPLIT.rod, 2.0 * view.noise)
        explained += len(part) * (fits_well and float(fits.prior(own.shape, own.size[None])[0]) > SPLIT.usual)
    return explained > SPLIT.explained * sum(map(len, parts))


def _unexplained(fits: SolidFits, parts: list[Segment], solid: Solid) -> float:
    """How badly parts explain the picture [px], each as what it is alone."""
    support = max(0.0, float(solid.pose[2, 3] - solid.size[2] / 2))
    return sum(fits.explained(part, fits.of(part, _bottom(part, support)))[0] for part in parts)


def _is_inside(item: Segment, hollows: list[Hollow]) -> bool:
    return any(hollow.for_sorting and hollow.holds(item.points).mean() > 0.5 for hollow in hollows)


def _split(view: View, fits: SolidFits, item: Segment, solid: Solid, depth: int, inside: bool) -> list[Segment]:
    """The objects that a segment is made of, itself when it is one; ``inside``: in a container, where only seams tell."""
    if depth == 0 or len(item) < SPLIT.least:
        return [item]
    support = _support(solid)
    poor = _is_poor(view, solid) and not inside
    blocks = [part_of(item, side) for side in parts_at_seams(view, solid, item.points, fits.prior, poor)]
    if len(blocks) > 1 and min(map(len, blocks)) >= SPLIT.scrap:
        return blocks
    corners = inward_corners(view, item) if poor or fits.is_doubtful(item, solid) else []
    if corners:
        parts = _at_corners(view, fits, item, corners, support, max(SPLIT.poor, 2.0 * view.noise))
        if parts and _error(fits, parts, support) < SPLIT.corner_gain * solid.error:
            return [piece for part in parts for piece in _split(view, fits, part, fits.of(part, _bottom(part, support)), depth - 1, inside)]
    extent = tight_rectangle(item.points[:, :2]).size
    if not poor or not SPLIT.min_breadth < extent[1] <= extent[0] < SPLIT.max_size:
        return [item]
    cuts = [[part_of(item, side), part_of(item, ~side)] for side in _cuts(item)]
    best = min(cuts, key=lambda parts: _error(fits, parts, support), default=[])
    if not best or _error(fits, best, support) > SPLIT.gain * solid.error:
        return [item]
    pieces = [piece for part in best for piece in _split(view, fits, part, fits.of(part, _bottom(part, support)), depth - 1, inside)]
    return pieces if _error(fits, pieces, support) < max(SPLIT.still, 2.5 * view.noise) else [item]


def _is_poor(view: View, solid: Solid) -> bool:
    """Whether a solid explains what is seen so badly that it may be several objects."""
    return solid.error >= max(SPLIT.poor, 2.0 * view.noise)


def _by_paint(view: View, item: Segment) -> list[Segment]:
    """The two parts that two colours make of an object, each pixel with the nearest; itself where there are no two."""
    pieces = pieces_by_color(view, item)
    if len(pieces) < 2:
        return [item]
    one, other = (np.asarray(cKDTree(piece.points).query(item.points)[0]) for piece in pieces[:2])
    side = one < other
    return [part_of(item, side), part_of(item, ~side)]


def _rods(view: View, fits: SolidFits, item: Segment, solid: Solid) -> list[Segment]:
    """Two rods of two colours that lie along each other: their border is so long that it passes for print, and a flat box of an odd size explains both, each
    rod alone explains its colour better, and is more usual.
    """
    if solid.shape != "box":
        return []
    support = _support(solid)
    parts = _by_paint(view, item)
    rods = [fits.of(part, _bottom(part, support)) for part in parts]
    if len(parts) < 2 or min(map(len, parts)) < SPLIT.min_part or not all(rod.lying and rod.shape == "cylinder" for rod in rods):
        return []
    along = abs(float(rods[0].pose[:3, 0] @ rods[1].pose[:3, 0]))
    if along < np.cos(PARTS.askew) or _error(fits, parts, support) > SPLIT.corner_gain * solid.error:
        return []
    least = SEAMS.likelier * float(fits.prior(solid.shape, solid.size[None])[0])
    return parts if all(float(fits.prior(rod.shape, rod.size[None])[0]) > max(SPLIT.usual, least) for rod in rods) else []


def _pair(fits: SolidFits, item: Segment, solid: Solid) -> list[Segment]:
    """Two round objects that stand side by side: a box through them fits badly, and each half of it is round and as wide as its share."""
    length, width, height = solid.size
    if (
        solid.shape != "box"
        or solid.lying
        or solid.error < SPLIT.no_box
        or not (width > SPLIT.min_breadth and 1.6 * width < length < 2.6 * width and height > width)
    ):
        return []
    support = max(0.0, float(solid.pose[2, 3] - height / 2))
    along = (item.points - solid.pose[:3, 3]) @ solid.pose[:3, 0]
    parts = [part_of(item, along < 0), part_of(item, along >= 0)]
    if min(map(len, parts)) < SPLIT.min_corner_part:
        return []
    halves = [fits.of(part, _bottom(part, support)) for part in parts]
    round_ones = all(half.shape == "cylinder" and not half.lying and half.error < SPLIT.round * solid.error for half in halves)
    return parts if round_ones and all(abs(2 * half.size[0] / length - 1) < SPLIT.share for half in halves) else []


def _at_corners(view: View, fits: SolidFits, item: Segment, corners: list[Array], support: float, good: float) -> list[Segment]:
    """The best two parts that a straight cut through inward corners makes, their points shared out by which solid they lie on."""
    best: list[Segment] = []
    least = np.inf
    for side in cuts_at(corners, item.pixels, view.valid.shape[1]):
        if min(side.sum(), (~side).sum()) < max(SPLIT.min_corner_part, SPLIT.min_share * len(side)):
            continue
        parts = _shared_out(fits, item, side, support, view.valid.shape[1])
        error = _error(fits, parts, support)
        if error < least:
            best, least = parts, error
        if least < 0.6 * good:
            break
    return best


def _shared_out(fits: SolidFits, item: Segment, side: Mask, support: float, width: int) -> list[Segment]:
    """Two parts of a segment; each point goes to the solid on whose surface it lies, that of a long round object reaching on."""
    parts = [part_of(item, side), part_of(item, ~side)]
    for _ in range(2):
        solids = [fits.of(part, _bottom(part, support)) for part in parts]
        one, other = (np.abs(surface_distance(_reaching_on(solid), item.points)) for solid in solids)
        changed = np.where(side, one < other + SPLIT.hold, one + SPLIT.hold < other)
        if min(changed.sum(), (~changed).sum()) < max(SPLIT.min_corner_part, SPLIT.min_share * len(side)) or (changed != side).sum() < 0.03 * len(side):
            break
        side = _without_strays(item, changed, width)
        parts = [part_of(item, side), part_of(item, ~side)]
    return parts


def _without_strays(item: Segment, side: Mask, width: int) -> Mask:
    """The same with single pixels given to what is around them."""
    v, u = np.divmod(item.pixels, width)
    v, u = v - v.min() + 3, u - u.min() + 3
    chosen, every = (np.zeros((int(v.max()) + 4, int(u.max()) + 4), np.float32) for _ in range(2))
    chosen[v, u], every[v, u] = side, 1.0
    share = cv2.blur(chosen, (7, 7)) / np.maximum(cv2.blur(every, (7, 7)), 1e-6)
    return np.asarray(share[v, u] > 0.5)


def _reaching_on(solid: Solid) -> Solid:
    return replace(solid, size=solid.size + np.array([2 * SPLIT.reach, 0.0, 0.0])) if solid.lying else solid


def _error(fits: SolidFits, parts: list[Segment], support: float) -> float:
    """Rms [m] over all points of parts, each its own solid."""
    squares = sum(fits.of(part, _bottom(part, support)).error ** 2 * len(part) for part in parts)
    return float(np.sqrt(squares / sum(map(len, parts))))


def _bottom(part: Segment, support: float) -> float:
    low = quantile(part.points[:, 2], 0.03)
    return low if low > support + SPLIT.above else support


def _cuts(item: Segment) -> list[Mask]:
    """The most promising ways to cut: which points (N,) are on one side."""
    ground = item.points[:, :2]
    millimetres = (1000 * ground).astype(np.float32)
    box = tight_rectangle(ground)
    middle = box.centre
    found: list[tuple[float, Mask]] = []
    for turn in (0.0, 90.0, 30.0, 60.0, -30.0, -60.0):
        angle = box.yaw + np.radians(turn)
        along = (ground - middle) @ np.array([np.cos(angle), np.sin(angle)])
        low, high = spread(along, 0.02, 0.98)
        for share in (0.25, 0.35, 0.45, 0.55, 0.65, 0.75):
            side = along < low + share * (high - low)
            one, other = np.flatnonzero(side), np.flatnonzero(~side)
            if min(len(one), len(other)) >= SPLIT.min_part:
                found.append((_area(rows_of(millimetres, one)) + _area(rows_of(millimetres, other)), side))
    found += [(0.0, side) for side in _tall_part(item)]
    return [side for _, side in sorted(found, key=lambda cut: cut[0])[:4]]


def _area(places: npt.NDArray[np.float32]) -> float:
    """Of the smallest rectangle around places (N, 2)."""
    width, height = cv2.minAreaRect(places)[1]
    return float(width * height)


def _tall_part(item: Segment) -> list[Mask]:
    """A tall object beside a low one: what stands above the low one's top, down to the table."""
    z = item.points[:, 2]
    counts, edges = np.histogram(z, np.arange(0.0, float(z.max()) + 0.004, 0.002))
    sides = []
    for level in np.nonzero(counts > 0.06 * len(z))[0]:
        above = z > edges[level] + 0.006
        if not SPLIT.min_part <= above.sum() <= len(z) - SPLIT.min_part:
            continue
        side = above | tight_rectangle(item.points[above][:, :2]).inside(item.points[:, :2], -0.002)
        if side.sum() <= len(z) - SPLIT.min_part:
            sides.append(side)
    return sides[-2:]
