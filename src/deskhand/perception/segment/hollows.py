"""The inside and the outside of an open object are one object, though the one is concave to the other: bowls, mugs, bins."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.rows import all_of, highest, lengths, lowest
from deskhand.perception.segment.pixel_settings import OPENING
from deskhand.perception.segment.settings import HollowSettings
from deskhand.perception.segment.voxels import Numbers, Voxels
from deskhand.perception.view import Mask


def join_hollows(voxels: Voxels, part: Numbers, shells: set[int], eye: Array, settings: HollowSettings) -> tuple[Numbers, set[int]]:
    """The part (M,) of each voxel with those joined that make a rim together, or lie in one of ``shells`` as its ground, and which of the numbers are such
    open objects. ``eye`` (3,): where the camera is.
    """
    hollow = set(shells)
    for shell in sorted(shells):
        part = _with_floor(voxels, part, shell, eye, settings)
    tops = _tops(voxels.middle[:, 2], part)
    open_alone = cache(lambda number: _is_open(voxels, part == number, [number], part, settings))
    for group in _candidates(voxels, part, tops, settings):
        members = [number for number in group if number in tops]
        if len(members) < len(group) or len(hollow.intersection(members)) > 1 or not _is_open(voxels, np.isin(part, members), members, part, settings):
            continue
        if any(open_alone(number) and _stretches(voxels, part == number, np.isin(part, members), settings) for number in members):
            continue  # that is an open object already: a bowl in a drawer
        shell = members[0]
        part = np.where(np.isin(part, members), shell, part)
        part = _with_floor(voxels, part, shell, eye, settings)
        open_alone.cache_clear()
        tops = _tops(voxels.middle[:, 2], part)
        hollow.add(shell)
    numbers, result = np.unique(part, return_inverse=True)
    return result.reshape(-1), {int(np.searchsorted(numbers, number)) for number in hollow if number in numbers}


def _top(heights: Array) -> float:
    return float(np.quantile(heights, OPENING.top))


def _tops(heights: Array, part: Numbers) -> dict[int, float]:
    """The same of every part at once, by its number."""
    order = np.lexsort((heights, part))
    numbers, first, count = np.unique(part[order], return_index=True, return_counts=True)
    place = OPENING.top * (count - 1)
    below = place.astype(np.int64)
    ordered, beyond = heights[order], np.minimum(below + 1, count - 1)
    tops = ordered[first + below] + (place - below) * (ordered[first + beyond] - ordered[first + below])
    return dict(zip(numbers.tolist(), tops.tolist(), strict=True))


def _candidates(voxels: Voxels, part: Numbers, tops: dict[int, float], settings: HollowSettings) -> list[list[int]]:
    """Groups of parts that are near each other and end at one height, the larger groups first; single parts need no joining."""
    size = np.bincount(part)
    large = [number for number in tops if size[number] >= settings.least]
    points = {number: voxels.middle[part == number] for number in large}
    low = {number: lowest(own) for number, own in points.items()}
    high = {number: highest(own) for number, own in points.items()}

    def near(one: int, other: int) -> bool:
        gap = max(2 * voxels.edge, settings.gap * float((high[one] - low[one]).max()))
        return bool((low[one] < high[other] + gap).all() and (low[other] < high[one] + gap).all())

    def level(one: int, other: int) -> bool:
        return abs(tops[one] - tops[other]) < max(2 * voxels.edge, settings.level * max(tops[one], tops[other]))

    groups: list[list[int]] = []
    for one in large:
        beside = [other for other in large if other != one and near(one, other) and level(one, other)]
        beside = sorted(beside, key=lambda other: -size[other])[: settings.most]
        counts = {len(beside), min(2, len(beside)), min(1, len(beside))} - {0}
        groups += [sorted((one, *others)) for count in counts for others in combinations(beside, count)]
    unique = {tuple(group) for group in groups}
    return [list(group) for group in sorted(unique, key=lambda group: (-len(group), group))]


def _is_open(voxels: Voxels, own: Mask, members: list[int], part: Numbers, settings: HollowSettings) -> bool:
    """Whether the tops of these parts go round, with nothing across at that height, and what is below lies within."""
    points = voxels.middle[own]
    top = _top(points[:, 2])
    band = max(2 * voxels.edge, settings.band * (top - float(points[:, 2].min())))
    rim = points[points[:, 2] > top - band, :2]
    if len(rim) < settings.rim:
        return False
    outline = cv2.convexHull(rim.astype(np.float32))
    middle = outline[:, 0].mean(axis=0)
    around = rim - middle
    angle = np.histogram(np.arctan2(around[:, 1], around[:, 0]), bins=settings.sectors, range=(-np.pi, np.pi))[0]
    if (angle > 0).mean() < settings.around or _inside(settings.inner * (outline - middle) + middle, rim).mean() > settings.lid:
        return False
    below = points[points[:, 2] < top - band]
    grown = (1 + settings.beyond) * (outline - middle) + middle
    if len(below) < settings.rim or _inside(grown, below[:, :2]).mean() < settings.within:
        return False
    # Of the inside some is seen, which faces the middle; each part has its share in the rim.
    way = middle - below[:, :2]
    toward = np.einsum("ij,ij->i", way, voxels.normal[own][points[:, 2] < top - band, :2])
    if (toward > settings.facing * lengths(way)).mean() < settings.inside:
        return False
    return all((voxels.middle[part == number, 2] > top - band).sum() >= settings.least / 4 for number in members)


def _inside(outline: Array, places: Array) -> Mask:
    """Which places (N, 2) are within a convex outline (M, 1, 2)."""
    if not len(places):
        return np.zeros(0, bool)
    corners = cv2.approxPolyDP(outline.astype(np.float32), OPENING.corner, True)[:, 0].astype(float)
    edge = np.roll(corners, -1, axis=0) - corners
    away = places[:, None] - corners[None]
    side = edge[None, :, 0] * away[..., 1] - edge[None, :, 1] * away[..., 0]
    return all_of(side >= 0) | all_of(side <= 0)


def _stretches(voxels: Voxels, own: Mask, group: Mask, settings: HollowSettings) -> bool:
    """Whether the outline of a group (M,) is so much larger than that of one of its members, or so far to its side, that the others are no outside of that."""
    (area, one), (whole, both) = (_area(cv2.convexHull(voxels.middle[which, :2].astype(np.float32))) for which in (own, group))
    return whole > (1 + settings.wall) ** 2 * area or float(np.linalg.norm(both - one)) > settings.aside * area**0.5


def _area(outline: Array) -> tuple[float, Array]:
    """Area [m2] and centroid (2,) [m] of a convex outline (M, 1, 2)."""
    moments = cv2.moments(outline)
    return float(moments["m00"]), np.array([moments["m10"], moments["m01"]]) / max(float(moments["m00"]), 1e-9)


def _with_floor(voxels: Voxels, part: Numbers, shell: int, eye: Array, settings: HollowSettings) -> Numbers:
    """The same with what is the ground of a shell given to it: it meets the inside of the shell where it is highest. What lies in the shell meets it where
    it is lowest, what carries it meets its outside, and what is open itself is a bowl in it. What meets it nowhere is seen through its opening.
    """
    points = voxels.middle[part == shell]
    outline = cv2.convexHull(points[:, :2].astype(np.float32))
    middle = outline[:, 0].mean(axis=0)
    inwards = np.einsum("ij,ij->i", middle - voxels.middle[:, :2], voxels.normal[:, :2])
    inner = points[inwards[part == shell] > settings.facing * lengths(middle - points[:, :2]), 2]
    lowest = float(np.quantile(inner, 0.1)) if len(inner) else -np.inf
    result = part
    share = np.bincount(part, _inside(outline, voxels.middle[:, :2])) / np.maximum(np.bincount(part), 1)
    outside, inside = _across(voxels, part == shell)
    beside, top = part[outside], _top(points[:, 2])
    for number in np.flatnonzero(share >= settings.within).tolist():
        if number == shell:
            continue
        own, at = part == number, beside == number
        meets, met = outside[at], inside[at]
        heights = voxels.middle[own, 2]
        if len(meets) < settings.meets:
            opening = _sight(eye, voxels.middle[own], top)
            is_ground = np.quantile(heights, 0.9) < lowest and _inside(outline, opening).mean() >= settings.within
        else:
            is_ground = np.median(heights) < np.median(voxels.middle[meets, 2]) + voxels.edge / 2 and np.mean(inwards[met] > 0) > 0.5
        if is_ground and not _is_open(voxels, own, [number], part, settings):
            result = np.where(own, shell, result)
    return result


def _across(voxels: Voxels, own: Mask) -> tuple[Numbers, Numbers]:
    """Voxels (K,) that are next to one of ``own`` (M,) and are not of it, and those that they are next to."""
    i, j = voxels.pairs.T
    of_i, of_j = own[i], own[j]
    first, second = of_j & ~of_i, of_i & ~of_j
    return np.concatenate([i[first], j[second]]), np.concatenate([j[first], i[second]])


def _sight(eye: Array, points: Array, height: float) -> Array:
    """Where (N, 2) the lines from ``eye`` to ``points`` (N, 3) below it pass ``height`` [m]."""
    share = (height - eye[2]) / np.minimum(points[:, 2] - eye[2], -1e-9)
    return np.asarray(eye[:2] + share[:, None] * (points[:, :2] - eye[:2]))
