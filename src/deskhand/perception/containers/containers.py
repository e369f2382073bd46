"""Open hollow objects: a rim that is higher than what is seen inside it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.containers.settings import HOLLOW, RIM
from deskhand.perception.footprint import Rectangle, fit_circle, hull, hull_area, rectangle, tight_rectangle
from deskhand.perception.quantiles import median, quantile
from deskhand.perception.rows import lengths, rows_of
from deskhand.perception.segment.segmentation import Segment, components, make_segment, segments_of
from deskhand.perception.segment.slices import round_from
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.view import Indices, Mask, View


def find_hollows(view: View, segments: list[Segment], settings: PerceptionSettings, cut: bool = False) -> tuple[list[Hollow], list[Segment]]:
    """Hollow objects and the segments that are left, among them what was cut out of hollow objects of the same colour.

    ``cut``: these are objects cut apart, so that what goes on below a hollow one is no scrap of its wall.
    """
    left = list(segments)
    pieces = [item for item in segments if len(item) >= RIM.min_piece]
    hollows: list[Hollow] = []
    for group in _groups(pieces):
        members = group[:6]
        while (found := _best_hollow(view, members)) is not None:
            hollow, used = found
            hollow, used = _with_outside(view, hollow, used, _without(left, used))
            members, left = _without(members, used), _without(left, used)
            hollows.append(hollow)
    return _take_apart(view, hollows, left, settings, cut)


def _with_outside(view: View, hollow: Hollow, used: list[Segment], left: list[Segment]) -> tuple[Hollow, list[Segment]]:
    """A small hollow object, and the segments that it takes, with its outside, where that is of another colour: half a rim is all that is seen from within."""
    if hollow.round or hollow.for_sorting:
        return hollow, used
    top = quantile(hollow.segment.points[:, 2], 0.98)
    near = [item for item in left if len(item) >= RIM.min_piece and abs(quantile(item.points[:, 2], 0.98) - top) < HOLLOW.same_rim]
    tree = cKDTree(hollow.segment.points) if near else None
    for item in near:
        if tree is None or not tree.count_neighbors(cKDTree(item.points[:: max(1, len(item) // 150)]), HOLLOW.beside):
            continue
        found = _try(view, [*used, item])
        if found is not None and found[1].round:
            return found[1], found[2]
    return hollow, used


def standing_at(view: View, hollow: Hollow, own_height: float, settings: PerceptionSettings) -> tuple[Hollow, list[Segment]]:
    """A hollow object that is known to be ``own_height`` [m] high, where that ends, and what was seen below it."""
    bottom = hollow.height - own_height
    if bottom < RIM.on_something:
        return hollow, []
    below = hollow.segment.points[:, 2] < bottom
    pieces = pieces_of(view, hollow.segment.pixels[below], settings)
    own = hollow.segment.pixels[~below]
    if len(own) < RIM.min_piece:
        return hollow, []
    segment = replace(make_segment(view, own), whole=hollow.segment.whole)
    return replace(hollow, segment=segment, bottom=bottom, floor=bottom + hollow.wall), pieces


def _best_hollow(view: View, members: list[Segment]) -> tuple[Hollow, list[Segment]] | None:
    """The hollow object with the most complete rim that some of ``members`` make together, with those that it takes."""
    sizes = range(len(members), 0, -1) if len(members) < 4 else (len(members), 2, 1)
    found = [result for size in sizes for chosen in combinations(members, size) if (result := _try(view, list(chosen))) is not None]
    if not found:
        return None
    # A neighbour at the height of the rim stretches the outline and leaves gaps in it; so does a piece that is missing, which
    # also leaves much of the group unexplained.
    total = sum(map(len, members))
    _, hollow, used = max(found, key=lambda result: result[0] + 0.4 * sum(map(len, result[2])) / total)
    return hollow, used


def _without(items: list[Segment], used: list[Segment]) -> list[Segment]:
    return [item for item in items if not any(item is other for other in used)]


def _groups(segments: list[Segment]) -> list[list[Segment]]:
    """Segments of one colour that are near each other, as what may be pieces of one hollow object."""
    tree = cache(lambda i: cKDTree(segments[i].points[:: max(1, len(segments[i]) // 150)]))  # few are of one colour
    tops = [quantile(item.points[:, 2], 0.98) for item in segments]
    parent = list(range(len(segments)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for i, j in combinations(range(len(segments)), 2):
        # Of a bin seen from low down the near and the far walls may be all there is, their rims at one height.
        one_rim = min(len(segments[i]), len(segments[j])) > 300 and abs(tops[i] - tops[j]) < 0.008
        if np.linalg.norm(segments[i].chroma - segments[j].chroma) > (RIM.shaded if one_rim else RIM.same_chroma):
            continue
        reach = 0.16 if one_rim else 0.03
        if tree(i).count_neighbors(tree(j), reach):
            parent[root(j)] = root(i)
    groups: dict[int, list[Segment]] = {}
    for i, item in enumerate(segments):
        groups.setdefault(root(i), []).append(item)
    return list(groups.values())


def _try(view: View, group: list[Segment]) -> tuple[float, Hollow, list[Segment]] | None:
    """The hollow object that ``group`` makes together, and how much of its rim is seen, or None."""
    # Points that are only inferred from colour would push the rim outwards.
    points = np.concatenate([rows_of(item.points, item.measured) for item in group])
    if len(points) < 20:
        return None
    height = quantile(points[:, 2], 0.98)
    base = quantile(points[:, 2], 0.03)
    base = base if base > RIM.on_something and len(group) == 1 else 0.0
    band = max(0.005, min(0.012, 0.09 * (height - base)))
    height = median(points[points[:, 2] > height - band / 2, 2])
    if float(np.ptp(points[:, :2], axis=0).min()) > HOLLOW.sorting_side:  # the rim of what is wide is as uneven as the depth
        band = max(band, min(RIM.noise * view.noise, RIM.uneven * (height - base)))
    rim_points = points[np.abs(points[:, 2] - height) < band][:, :2]
    if len(rim_points) < 20 or height < 0.012:
        return None
    if _is_closed(rim_points):
        return None
    box = tight_rectangle(_without_strays(rim_points))
    if box.size.min() < RIM.min_side:
        return None
    circle = _circle(rim_points, box)
    is_round = circle is not None
    rim = circle if circle is not None else _rim_rectangle(rim_points, box)
    seen, every = _seen_around(view, group)
    if not _is_open(rim, is_round, height, base, seen, points[::every], rim_points, band, view.eye, len(group)):
        return None
    if len(group) > 1 and _shows_ground(view, rim):
        return None
    wall = _wall(rim_points, rim) if not is_round else 0.003
    inner = seen[rim.inside(seen[:, :2], max(0.25 * rim.size.min(), wall + 0.006) if is_round else wall + 0.008)]
    low = inner[inner[:, 2] < height - 0.3 * height]
    floor = float(np.clip(quantile(low[:, 2], 0.1) if len(low) > 20 else wall, 0.0, 0.3 * height))
    floor = floor if floor < 0.012 else wall
    whole = replace(make_segment(view, np.concatenate([item.pixels for item in group])), whole=any(item.whole for item in group))
    hollow = Hollow(whole, rim, is_round, height, wall, floor)
    belongs = all((hollow.holds(item.points, -0.012) | hollow.handle(item.points)).mean() > 0.85 for item in group) or (
        len(group) == 1 and _carrier_of(hollow, view.eye) is not None
    )
    return (_coverage(rim, is_round, rim_points), hollow, group) if belongs else None


def _circle(rim_points: Array, box: Rectangle) -> Rectangle | None:
    """The square around the circle that a rim is, None for one that is a rectangle, ``box``."""
    if box.size[1] / box.size[0] < 0.8:
        return None
    outline = hull(_without_strays(rim_points))
    centre, radius, error = fit_circle(outline)
    share = hull_area(rim_points) / float(np.prod(box.size))
    # Noise fills the corners of a small circle: there the outline lies on it, but not on the sides of the rectangle.
    off = float(np.sqrt(np.mean((box.size / 2 - np.abs(box.local(outline))).min(axis=1) ** 2)))
    if share > RIM.round_share and not (box.size.min() < HOLLOW.sorting_side and share < RIM.round_small and error < off):
        return None
    return rectangle(centre, np.array([2 * radius, 2 * radius]), 0.0)


def _is_closed(rim_points: Array) -> bool:
    """True for what is too narrow to be hollow, or has points all over its top: a look before the longer one."""
    box = tight_rectangle(rim_points)
    return bool(box.size.min() < RIM.min_side or box.inside(rim_points, 0.25 * float(box.size.min())).mean() > RIM.lid)


def _seen_around(view: View, group: list[Segment]) -> tuple[Array, int]:
    """Measured points (N, 3) in the part of the picture that a group covers, and that every how many-th were taken."""
    height, width = view.valid.shape
    pixels = np.concatenate([item.pixels for item in group])
    v, u = pixels // width, pixels % width
    part = slice(max(0, v.min() - 3), min(height, v.max() + 4)), slice(max(0, u.min() - 3), min(width, u.max() + 4))
    points = view.points[part][view.valid[part]]
    every = 1 + len(points) // 12000
    return points[::every].astype(float), every


def _without_strays(points: Array) -> Array:
    """Points that have company; single flying pixels would pull an outline."""
    step = 1 + len(points) // 500
    points = points[::step]
    tree = cKDTree(points)
    spacing = 0.0045 * np.sqrt(step)
    company = tree.query_ball_point(points, spacing, return_length=True) >= 4
    return points[company] if company.sum() >= 12 else points


def _rim_rectangle(points: Array, box: Rectangle) -> Rectangle:
    """Sides moved to where the rim's points end, one quantile per side so that the number of points on each does not matter."""
    local = box.local(points)
    ends = []
    for axis in (0, 1):
        across = local[:, 1 - axis]
        inner = np.abs(across) < box.size[1 - axis] / 2 - 0.006
        for sign in (-1.0, 1.0):
            values = sign * local[inner, axis]
            side = values[values > box.size[axis] / 2 - 0.012]
            ends.append(sign * (quantile(side, 0.95) if len(side) >= 8 else box.size[axis] / 2))
    low, high = np.array([ends[0], ends[2]]), np.array([ends[1], ends[3]])
    return rectangle(box.centre + box.rotation @ ((low + high) / 2), high - low, box.yaw)


def _is_open(
    rim: Rectangle, is_round: bool, height: float, base: float, seen: Array, own: Array, rim_points: Array, band: float, eye: Array, pieces: int
) -> bool:
    """True when the rim goes round and its own surface does not close it at the top.

    Args:
        rim: outline of the rim.
        is_round: whether it is a circle.
        height: of the rim [m].
        base: lowest that is seen of it, when it stands on something, else 0 [m].
        seen: every measured point around (N, 3).
        own: those of the object itself (M, 3); what lies in it may reach up to the rim.
        rim_points: (K, 2)
        band: [m] around ``height`` that counts as level with the rim.
        eye: position of the camera.
        pieces: how many segments it is made of.
    """
    if _coverage(rim, is_round, rim_points) < 0.62:
        return False
    drop = max(0.007, 0.2 * (height - base))
    if not is_round:
        if float(rim.size.min()) < HOLLOW.sorting_side and (pieces > 1 or rim.size[0] > RIM.in_a_row * rim.size[1]):
            return False  # small objects in a row, cups among them
        inset = min(0.02, max(0.004, 0.14 * float(rim.size.min())))
        z, own_z = seen[rim.inside(seen[:, :2], inset), 2], own[rim.inside(own[:, :2], inset), 2]
        lid = float(np.count_nonzero(np.abs(own_z - height) < band)) / max(1, len(z))
        return len(z) >= 12 and float(np.mean(z < height - drop)) > (0.45 if float(rim.size.min()) < HOLLOW.sorting_side else 0.12) and lid < 0.2
    # Of a narrow cup only the far inner wall is seen; of a closed can nothing is seen there below the top.
    radius, offset = rim.size[0] / 2, seen[:, :2] - rim.centre
    near = lengths(offset) < radius + 0.001
    offset, z = offset[near], seen[near, 2]
    away = rim.centre - eye[:2]
    away = away / max(1e-6, float(np.linalg.norm(away)))
    within = lengths(offset) < radius - max(0.004, 0.28 * radius)
    low = (z < height - drop) & (within | (offset @ away > 0.15 * radius))
    level = within & (np.abs(z - height) < band)
    return int(low.sum()) >= 20 and int(level.sum()) < 0.4 * int(low.sum())


def _shows_ground(view: View, rim: Rectangle) -> bool:
    """Whether what is seen within a rim is the table: long objects that lie round about it make no tray."""
    inner, outer = rim.size / 2 - RIM.from_rim, rim.size / 2 + RIM.from_rim
    if inner.min() <= 0:
        return False
    across = np.linspace(-1.0, 1.0, RIM.grid)
    grid = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2)
    around = grid[np.abs(grid).max(axis=1) == 1.0] * outer
    heights, looks = [], []
    for places in (grid * inner, around):
        pixels = view.frame.project(np.column_stack([places @ rim.rotation.T + rim.centre, np.zeros(len(places))]))
        height, width = view.valid.shape
        u, v = np.rint(np.nan_to_num(pixels, nan=-1.0)).astype(int).T
        seen = (u >= 0) & (v >= 0) & (u < width) & (v < height)
        u, v = u[seen], v[seen]
        seen = view.valid[v, u] & (np.abs(view.points[v, u, 2]) < RIM.flat)
        u, v = u[seen], v[seen]
        if len(u) < RIM.grid:
            return False
        heights.append(median(view.points[v, u, 2]))
        looks.append(np.append(np.median(view.chroma[v, u], axis=0), np.log(np.median(view.light[v, u]) + 12.0)))
    return bool(abs(heights[0] - heights[1]) < RIM.thin and np.abs(looks[0] - looks[1]).max() < RIM.like)


def _coverage(rim: Rectangle, is_round: bool, rim_points: Array) -> float:
    """Share of the rim's length that has points on it."""
    local = rim.local(rim_points)
    if is_round:
        near = np.abs(lengths(local) - rim.size[0] / 2) < 0.008
        angle = np.arctan2(local[near, 1], local[near, 0])
        return float(np.mean(np.histogram(angle, bins=16, range=(-np.pi, np.pi))[0] > 0))
    covered, total = 0, 0
    for axis in (0, 1):
        bins = max(3, int(rim.size[1 - axis] / 0.012))
        for sign in (-1, 1):
            near = np.abs(sign * local[:, axis] - rim.size[axis] / 2) < 0.010
            hits = np.histogram(local[near, 1 - axis], bins=bins, range=(-rim.size[1 - axis] / 2, rim.size[1 - axis] / 2))[0]
            covered, total = covered + int((hits > 0).sum()), total + bins
    return covered / total


def _wall(rim_points: Array, rim: Rectangle) -> float:
    """Thickness of the walls from the width of the rim's band, [m]."""
    local = np.abs(rim.local(rim_points))
    depth = (rim.size / 2 - local).min(axis=1)
    on_rim = depth[(depth > -0.003) & (depth < 0.012)]
    if len(on_rim) < 20:
        return 0.004
    return float(np.clip(2 * np.median(np.maximum(on_rim, 0.0)), 0.002, 0.008))


def _take_apart(view: View, hollows: list[Hollow], left: list[Segment], settings: PerceptionSettings, cut: bool) -> tuple[list[Hollow], list[Segment]]:
    """Cut objects that stand off walls and floor out of hollow objects of their colour; drop what is only their noise."""
    result, rest = [], list(left)
    for hollow in hollows:
        if not hollow.for_sorting:
            carrier, pixels = _carrier_of(hollow, view.eye), hollow.segment.pixels
            if carrier is not None:
                hollow = replace(hollow, segment=make_segment(view, pixels[~carrier]))
            scraps = [item for item in rest if not (cut and _goes_lower(item, hollow)) and _is_scrap(hollow, item)]
            rest = [*_without(rest, scraps), *([make_segment(view, pixels[carrier])] if carrier is not None else [])]
            handles = [item.pixels for item in scraps if quantile(item.points[:, 2], 0.5) > hollow.height + RIM.above_rim]
            if handles:
                hollow = replace(hollow, segment=make_segment(view, np.concatenate([hollow.segment.pixels, *handles])))
            result.append(hollow)
            continue
        points = hollow.segment.points
        loose = hollow.holds(points, hollow.wall + 0.012) & (points[:, 2] > hollow.inside_at(points) + 0.009)
        pixels = hollow.segment.pixels[loose]
        if len(pixels) >= settings.min_pixels and not hollow.segment.whole:  # where shape made it one, it also told what lies in it
            pieces = [item for item in pieces_of(view, pixels, settings) if not _is_inside(hollow, item)]
            taken = np.isin(hollow.segment.pixels, np.concatenate([p.pixels for p in pieces])) if pieces else np.zeros(len(points), bool)
            rest += pieces
            hollow = replace(hollow, segment=make_segment(view, hollow.segment.pixels[~taken]))
        result.append(hollow)
        rest = [item for item in rest if (cut and _goes_lower(item, hollow)) or not _is_scrap(hollow, item)]
    return result, rest


def _carrier_of(hollow: Hollow, eye: Array) -> Mask | None:
    """Which points (N,) of a cup's segment are those of an object of its colour that it stands on or touches, None when there is none."""
    if hollow.for_sorting or not hollow.round:
        return None
    points = hollow.segment.points
    outside = ~hollow.holds(points, -0.006)
    carrier = _beside(hollow, points, outside)
    within = hollow.seen_within(points, eye)  # its floor is on no round wall
    if carrier is None and (level := round_from(points[~within], hollow.height)) is not None:
        carrier = outside | ((points[:, 2] < level) & ~within)
    return carrier if carrier is not None and min(carrier.sum(), (~carrier).sum()) >= RIM.min_piece else None


def _beside(hollow: Hollow, points: Array, outside: Mask) -> Mask | None:
    """Which points (N,) are those of what sticks out from below a cup, or touches it."""
    if outside.mean() < 0.12 or outside.sum() < RIM.min_piece:
        return None
    z = points[outside, 2]
    level = quantile(z, 0.9)
    # A handle has no level top and does not go down as far as the cup.
    if level > hollow.height - 0.02 or quantile(z, 0.05) > quantile(points[:, 2], 0.03) + 0.008 or (np.abs(z - level) < 0.004).mean() < 0.2:
        return None
    return outside if _goes_on(hollow, points[~outside & (points[:, 2] < level - RIM.below)]) else outside | (points[:, 2] < level + 0.002)


def _goes_on(hollow: Hollow, below: Array) -> bool:
    """Whether points (N, 3) further down are of a cup's round wall: what is level beside them only touches it."""
    if len(below) < RIM.few:
        return False
    centre, radius, error = fit_circle(below[:, :2])
    wall = hollow.rim.size[0] / 2  # cups are narrower at their foot
    return bool(error < RIM.on_wall / 2 and abs(radius - wall) < RIM.wall * wall and np.linalg.norm(centre - hollow.rim.centre) < 2 * RIM.on_wall)


def pieces_of(view: View, pixels: Indices, settings: PerceptionSettings) -> list[Segment]:
    """Segments of flat pixel indices: one for what hangs together."""
    mask = np.zeros(view.valid.shape, bool)
    mask.reshape(-1)[pixels] = True
    return segments_of(view, components(view, mask, settings), settings.min_pixels)


def _goes_lower(item: Segment, hollow: Hollow) -> bool:
    """Whether a piece goes on below what is seen of a hollow object, as what carries it does."""
    return quantile(item.points[:, 2], 0.05) < quantile(hollow.segment.points[:, 2], 0.05) - RIM.lower


def _is_inside(hollow: Hollow, item: Segment) -> bool:
    """Whether a piece in a round hollow object of its colour is the inside of that, which goes round its axis and rises outwards; what stands below it may
    have lifted it, so that its height tells nothing.
    """
    if not hollow.round or np.linalg.norm(item.chroma - hollow.segment.chroma) > RIM.same_chroma:
        return False
    ring = (lengths(item.points[:, :2] - hollow.rim.centre) / RIM.ring).astype(int)
    count = np.bincount(ring)
    rings = [median(item.points[ring == number, 2]) for number in np.flatnonzero(count >= RIM.few)]
    if len(rings) < RIM.rings or (np.diff(rings) < -RIM.on_wall).any():
        return False
    off = np.abs(item.points[:, 2] - np.interp(ring, np.flatnonzero(count >= RIM.few), rings))
    return bool((off < RIM.on_wall).mean() > RIM.round_about)


def _is_scrap(hollow: Hollow, item: Segment) -> bool:
    """True for a piece of the hollow object's own wall or floor that was cut off by shadow or by what lies before it."""
    if np.linalg.norm(item.chroma - hollow.segment.chroma) > RIM.same_chroma:
        return False
    if hollow.holds(item.points, -0.006).mean() < 0.9:
        return False
    free = hollow.holds(item.points, hollow.wall + 0.010) & (item.points[:, 2] > hollow.inside_at(item.points) + 0.008)
    return bool(free.mean() < 0.4 or not hollow.for_sorting)
