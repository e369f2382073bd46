"""Pieces that together look like a taught object are that object: a bottle and its cap, the boards of a rack, a plate and its knob.

Shape and colour cut an object of several parts into pieces. Whoever has been shown the whole knows better. Clusters of neighbouring pieces (single linkage) are
tried, and a piece with what touches it: those are one whose union the recogniser knows for sure, at least as surely as any of them alone, and that is no
larger than what was taught. Of clusters that overlap, the one of which most pixels are surely explained.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import cv2
import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial import cKDTree
from scipy.spatial.distance import squareform

from deskhand.geometry import Array
from deskhand.perception.fit.solid import Solid, standing_pose
from deskhand.perception.footprint import hull
from deskhand.perception.quantiles import spread
from deskhand.perception.segment.segmentation import Segment, make_segment, pieces_by_color, union_of
from deskhand.perception.support.support import Placed
from deskhand.perception.taught.naming import Known, Namer
from deskhand.perception.taught.settings import JOINING, NAMING, RECOGNISER
from deskhand.perception.view import View


@dataclass(frozen=True)
class _Whole:
    """A segment of several pieces, what it most likely is, and whether it has the size of that."""

    segment: Segment
    known: Known
    fits: bool


Memo = dict[tuple[int, ...], _Whole]
"""What was asked for in a look already, by the pieces' arrays of pixels."""


@dataclass(frozen=True)
class _Extents:
    """What is seen of an object: the rectangle around it, its centre (2,) and heading [rad], its sides [m] along the heading and across it, its heights [m]."""

    centre: Array
    yaw: float
    along: float
    across: float
    low: float
    high: float


def kept_pieces(view: View, namer: Namer, segments: list[Segment], memo: Memo) -> tuple[list[Segment], list[Segment]]:
    """The pieces of taught objects, marked as whole, for nobody need look for what they might be cut into or be part of, and all other segments."""
    segments, known = _cut(view, namer, segments, memo)
    pieces = {number for group in _wholes(view, namer, segments, memo) for number in group} | {n for n, item in enumerate(segments) if id(item) in known}
    return [replace(segments[number], whole=True) for number in sorted(pieces)], [item for number, item in enumerate(segments) if number not in pieces]


def _cut(view: View, namer: Namer, segments: list[Segment], memo: Memo) -> tuple[list[Segment], set[int]]:
    """``segments``, and of those that shape tells to be one object the pieces that their colours tell apart, where these are taught objects, by themselves or
    with others, and the whole is none: a board that stands against a hob has no edge with it. And which (by id()) are taught objects by themselves.
    """
    result, alone = list(segments), set[int]()
    for item in segments:
        if not item.whole or _told(view, namer, [item], memo).known.sure or len(pieces := pieces_by_color(view, item)) < 2:
            continue
        others = [other for other in result if other is not item]
        count, trial = len(others), [*others, *pieces]
        groups = _wholes(view, namer, trial, memo)
        single = {count + number for number, piece in enumerate(pieces) if (told := _told(view, namer, [piece], memo)).known.sure and told.fits}
        used = sorted(single.union(number for group in groups for number in group if number >= count))
        if not used or any(set(range(count, len(trial))) <= set(group) for group in groups):
            continue
        alone |= {id(trial[number]) for number in single}
        left = item.pixels[~np.isin(item.pixels, np.concatenate([trial[number].pixels for number in used]))]
        rest = [make_segment(view, left)] if len(left) >= JOINING.left else []
        result = [*others, *(trial[number] for number in used), *rest]
    return sorted(result, key=len, reverse=True), alone


def are_two(view: View, namer: Namer, one: Segment, other: Segment, memo: Memo) -> bool:
    """Whether one of two segments surely is a taught object, and both together are neither that nor another that has room for them."""
    sure = [told for item in (one, other) if (told := _told(view, namer, [item], memo)).known.sure]
    if not sure:
        return False
    both = _told(view, namer, [one, other], memo)
    # what leans has not the sides that were taught, with the other piece or without it
    return not both.known.sure or (not both.fits and all(told.fits or told.known.name != both.known.name for told in sure))


def joined_as_taught(view: View, namer: Namer, placed: list[Placed], memo: Memo) -> list[Placed]:
    """``placed`` with the pieces joined that together are one taught object; what lies on a piece lies on the whole."""
    loose = [number for number, item in enumerate(placed) if item.hollow is None and item.relation != "held"]
    wholes = _wholes(view, namer, [placed[number].segment for number in loose], memo)
    owner = {loose[piece]: loose[min(group)] for group in wholes for piece in group}
    if not owner:
        return placed
    kept = [number for number in range(len(placed)) if owner.get(number, number) == number]
    place = {number: kept.index(owner.get(number, number)) for number in range(len(placed))}
    result = []
    for number in kept:
        item = placed[number]
        group = next((tuple(loose[piece] for piece in group) for group in wholes if loose[min(group)] == number), None)
        if group is not None:
            item = _whole_of(view, wholes[tuple(loose.index(piece) for piece in group)], [placed[piece] for piece in group], set(group))
        result.append(replace(item, support=place[item.support]) if item.support >= 0 else item)
    return result


def _whole_of(view: View, whole: _Whole, pieces: list[Placed], own: set[int]) -> Placed:
    """What is carried as the lowest of its pieces is by something else."""
    lowest = min(pieces, key=lambda item: float(item.solid.pose[2, 3]))
    largest = max(pieces, key=lambda item: len(item.segment))
    known = known_solid(view, whole.segment, whole.known)
    outside = lowest.support not in own
    support, relation = (lowest.support, lowest.relation) if outside else (-1, "on")
    return Placed(whole.segment, known or largest.solid, support=support, relation=relation)


def _wholes(view: View, namer: Namer, segments: list[Segment], memo: Memo) -> dict[tuple[int, ...], _Whole]:
    """The groups of ``segments`` that are one taught object."""
    if len(segments) < 2:
        return {}
    alone = [_told(view, namer, [item], memo) for item in segments]
    known = [whole.known for whole in alone]
    if not any(one.name for one in known):
        return {}
    tried: dict[tuple[int, ...], tuple[float, _Whole]] = {}

    def tell(group: tuple[int, ...]) -> tuple[float, _Whole]:
        """How many pixels more show a taught object than if each piece were by itself, by probability; and which."""
        if group not in tried:
            whole = _told(view, namer, [segments[number] for number in group], memo)
            before = sum(known[number].probability * len(segments[number]) for number in group)
            tried[group] = (whole.known.probability * len(whole.segment) * whole.fits - before, whole)
        return tried[group]

    apart = _distances(segments)
    unsure = [number for number, one in enumerate(known) if one.probability < RECOGNISER.surely]
    large = sorted(unsure, key=lambda number: -len(segments[number]))[: JOINING.large]
    starts = sorted(
        {*_groups(apart, unsure), *_pairs(apart, large)}, key=lambda group: (-tell(group)[1].known.probability * len(tell(group)[1].segment), group)
    )
    for group in starts[: JOINING.starts]:
        while len(tried) < JOINING.asked and tell(group)[1].known.probability > NAMING.told:  # a cluster may have a piece too many, or lack one
            others = [tuple(sorted({*group} ^ {number})) for number in unsure if number in group or apart[number, list(group)].min() < JOINING.apart]
            others.append(_filled(segments, apart, unsure, group, tell(group)[1].known))
            better = max((other for other in others if len(other) > 1), key=lambda other: (tell(other)[0], other), default=group)
            if tell(better)[0] <= tell(group)[0]:
                break
            group = better
    wholes: dict[tuple[int, ...], _Whole] = {}
    for group, (gain, whole) in sorted(tried.items(), key=lambda each: (-each[1][0], each[0])):
        if gain > 0 and whole.known.sure and not any(set(group) & set(other) for other in wholes):
            wholes[group] = whole
    return wholes


def _told(view: View, namer: Namer, pieces: list[Segment], memo: Memo) -> _Whole:
    """What pieces are together, by their picture alone: of a piece, and of what something hides, no side tells anything."""
    key = tuple(sorted(id(item.pixels) for item in pieces))
    if key not in memo:
        first, *rest = sorted(pieces, key=len, reverse=True)
        whole = replace(union_of(first, rest), whole=True)
        known = namer.known(view.whole, view.in_picture(whole.pixels), ())
        memo[key] = _Whole(whole, known, _fits(whole, known))
    return memo[key]


def known_solid(view: View, item: Segment, known: Known) -> Solid | None:
    """The upright solid of a taught object, with the sides that were taught: what is not seen of it is behind what is. None where no sides were taught."""
    if known.sides is None:
        return None
    seen = _extents(item)
    measured = seen.high - seen.low
    standing = [side for side in known.sides if _within(seen.high, side) and _within(side, seen.high)]
    high = [side for side in known.sides if _within(measured, side)] or [max(known.sides)]
    height = min(standing or high, key=lambda side: abs(side - (seen.high if standing else measured)))
    rest = sorted(known.sides, reverse=True)
    rest.remove(height)
    yaw, across = (seen.yaw, (seen.along, seen.across)) if seen.along >= seen.across else (seen.yaw + math.pi / 2, (seen.across, seen.along))
    centre, eye = seen.centre.copy(), view.frame.world_T_camera[:2, 3]
    for turn, own, side in zip((0.0, math.pi / 2), across, rest, strict=True):
        axis = np.array([math.cos(yaw + turn), math.sin(yaw + turn)])
        centre = centre + axis * math.copysign((side - own) / 2, float(axis @ (seen.centre - eye)))
    bottom = max(seen.high - height, 0.0)
    pose = standing_pose(float(centre[0]), float(centre[1]), (seen.high + bottom) / 2, yaw)
    sunk = (2,) if bottom > seen.high - height else ()  # parts of it reach below what it stands on, or its top was not seen
    return Solid("box", pose, np.array([*rest, seen.high - bottom]), 0.0, guessed=sunk)


def _groups(apart: Array, unsure: list[int]) -> Iterator[tuple[int, ...]]:
    """What may be one object: clusters of pieces that are nothing for sure, and any piece with one or all of those that touch it."""
    if len(unsure) > 1:
        clusters: list[tuple[int, ...]] = [(number,) for number in unsure]
        for first, second, distance, _ in linkage(squareform(apart[np.ix_(unsure, unsure)]), "single"):
            clusters.append(tuple(sorted((*clusters[int(first)], *clusters[int(second)]))))
            if distance < JOINING.apart:
                yield clusters[-1]
    for number in range(len(apart)):
        near = [other for other in unsure if other != number and apart[number, other] < JOINING.touch]
        if near:
            yield tuple(sorted((number, *near)))
        for other in near:
            yield tuple(sorted((number, other)))


def _filled(segments: list[Segment], apart: Array, unsure: list[int], group: tuple[int, ...], known: Known) -> tuple[int, ...]:
    """``group`` with all pieces near it that have room beside it in what it seems to be, the nearest first: pieces of what stands against another object are
    nearer to that than to each other, and one more of them alone may look like something else.
    """
    grown, left = set(group), set(unsure) - set(group)
    while left and known.sides is not None:
        near = {number: float(apart[number, sorted(grown)].min()) for number in left}
        nearest = min(left, key=lambda number: (near[number], number))
        if near[nearest] >= JOINING.apart:
            break
        left.remove(nearest)
        if _is_within(_extents(union_of(segments[nearest], [segments[number] for number in sorted(grown)])), known.sides):
            grown.add(nearest)
    return tuple(sorted(grown))


def _is_within(seen: _Extents, sides: Sequence[float]) -> bool:
    """Whether what is seen is no larger than what was taught."""
    return all(_within(own, side) for own, side in zip(sorted((seen.along, seen.across, seen.high - seen.low)), sorted(sides), strict=True))


def _pairs(apart: Array, large: list[int]) -> Iterator[tuple[int, ...]]:
    """Two of the largest pieces that something else may part, as a hob and its knob."""
    return (tuple(sorted(pair)) for pair in combinations(large, 2) if apart[pair] < JOINING.apart)


def _distances(segments: list[Segment]) -> Array:
    """Least distances [m] of pieces (N, N), infinite ones as far as they are of interest."""
    some = [item.points[:: 1 + len(item) // JOINING.sampled] for item in segments]
    trees = [cKDTree(points) for points in some]
    apart = np.zeros((len(segments), len(segments)))
    for i in range(len(segments)):
        for j in range(i):
            found = np.asarray(trees[i].query(some[j], distance_upper_bound=2 * JOINING.apart)[0])
            apart[i, j] = apart[j, i] = min(float(found.min()), 2 * JOINING.apart)
    return apart


def _extents(item: Segment) -> _Extents:
    low, high = spread(item.points[:, 2], 0.01, 0.99)
    (x, y), (along, across), degrees = cv2.minAreaRect(hull(item.points[:: 1 + len(item) // JOINING.outlined, :2]).astype(np.float32))
    return _Extents(np.array([x, y]), math.radians(degrees), along, across, low, high)


def _fits(item: Segment, known: Known) -> bool:
    """Whether it is no larger than what was taught, as high as one of its sides, and not much shorter: a piece alone tells too little."""
    if known.sides is None:
        return True
    seen = _extents(item)
    if not _is_within(seen, known.sides):
        return False
    upright = [side for side in known.sides if _within(seen.high - seen.low, side) and _within(side, seen.high)]
    return bool(upright) and max(seen.along, seen.across, seen.high - seen.low) > JOINING.least * max(known.sides)


def _within(own: float, side: float) -> bool:
    return own < side * (1 + JOINING.larger) + JOINING.larger_by
