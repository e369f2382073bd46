"""Surfaces of one colour taken apart at their creases, and joined again where they bulge out: convex creases are within things, concave ones
between them (after Stein et al., Object Partitioning using Local Convexity, CVPR 2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from deskhand.geometry import Array
from deskhand.perception.segmentation import Segment
from deskhand.perception.view import View

_SHADE = 0.11  # step of the logarithm of lightness between two faces of one thing
_APART = 0.007  # [m] between neighbouring pixels of one face
_SMALLEST = 22  # [px]
_CONCAVE = 0.0025  # [m] that the middle of a face may stand out of the plane of its neighbour
_TOUCH = 0.008  # [m]
_MOST = 9

Labels = npt.NDArray[np.int32]
Error = Callable[[Segment], float]


@dataclass(frozen=True)
class _Facet:
    segment: Segment
    middle: Array
    normal: Array


def part_of(item: Segment, chosen: npt.NDArray[np.bool_]) -> Segment:
    """The pixels of a segment where ``chosen`` (N,) is True."""
    return replace(item, pixels=item.pixels[chosen], points=item.points[chosen], measured=item.measured[chosen], paint=item.pixels[chosen])


def convex_parts(view: View, item: Segment, error: Error, good: float) -> list[Segment]:
    """The things that a segment is made of; ``error`` [m] of the solid through a segment, which is ``good`` or less for one thing."""
    labels = _facets(view, item)
    count = int(labels.max()) + 1
    if not 1 < count <= _MOST:
        return [item]
    facets = [_facet(view, part_of(item, labels == number)) for number in range(count)]
    touching = _touching(view, item, labels, count)
    groups = [[number] for number in range(count)]
    pairs = sorted(((length, i, j) for (i, j), length in touching.items() if _bulges(facets[i], facets[j])), reverse=True)
    for _, i, j in pairs:
        first, second = (next(group for group in groups if number in group) for number in (i, j))
        if first is second or not all(_bulges(facets[a], facets[b]) for a in first for b in second):
            continue
        union = part_of(item, np.isin(labels, first + second))
        alone = max(error(part_of(item, np.isin(labels, group))) for group in (first, second))
        if error(union) <= max(good, 1.25 * alone):
            groups.remove(second)
            first += second
    parts = [part_of(item, np.isin(labels, group)) for group in groups]
    return sorted(parts, key=len, reverse=True)


def _facets(view: View, item: Segment) -> npt.NDArray[np.int64]:
    """Number of the face of each pixel (N,)."""
    width = view.valid.shape[1]
    v, u = item.pixels // width, item.pixels % width
    top, left = int(v.min()), int(u.min())
    shape = int(v.max()) - top + 1, int(u.max()) - left + 1
    number = np.full(shape, -1, np.int32)
    number[v - top, u - left] = np.arange(len(v))
    window = slice(top, top + shape[0]), slice(left, left + shape[1])
    light = np.log(cv2.blur(view.light[window], (3, 3)) + 12.0)
    points = view.points[window]
    ends = []
    for dv, du in ((0, 1), (1, 0)):
        first, second = (slice(0, shape[0] - dv), slice(0, shape[1] - du)), (slice(dv, shape[0]), slice(du, shape[1]))
        both = (number[first] >= 0) & (number[second] >= 0) & (np.abs(light[first] - light[second]) < _SHADE)
        both &= ((points[first] - points[second]) ** 2).sum(axis=2) < _APART**2
        ends.append(np.stack([number[first][both], number[second][both]]))
    pairs = np.concatenate(ends, axis=1)
    graph = coo_matrix((np.ones(pairs.shape[1], np.int8), (pairs[0], pairs[1])), shape=(len(v), len(v)))
    _, labels = connected_components(graph, directed=False)
    counts = np.bincount(labels)
    large = np.nonzero(counts >= _SMALLEST)[0]
    if len(large) < 2:
        return np.zeros(len(v), np.int64)
    # The rest, mixed pixels of the creases, goes to the nearest face in the picture.
    seeds = np.zeros(shape, np.uint8)
    keep = np.isin(labels, large)
    seeds[(v - top)[keep], (u - left)[keep]] = 1
    _, nearest = cv2.distanceTransformWithLabels(1 - seeds, cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL)
    face_of = np.zeros(int(nearest.max()) + 1, np.int64)
    face_of[nearest[(v - top)[keep], (u - left)[keep]]] = np.searchsorted(large, labels[keep])
    return np.asarray(face_of[nearest[v - top, u - left]])


def _facet(view: View, segment: Segment) -> _Facet:
    middle = np.median(segment.points, axis=0)
    near = segment.points - middle
    _, vectors = np.linalg.eigh(near.T @ near)
    normal = vectors[:, 0]
    return _Facet(segment, middle, normal * np.sign(normal @ (view.eye - middle)))


def _bulges(one: _Facet, other: _Facet) -> bool:
    """True when neither face stands out of the other's plane towards the camera."""
    gap = other.middle - one.middle
    return bool(gap @ one.normal < _CONCAVE and -gap @ other.normal < _CONCAVE)


def _touching(view: View, item: Segment, labels: npt.NDArray[np.int64], count: int) -> dict[tuple[int, int], int]:
    """Pairs of faces whose pixels are neighbours in the picture and in space, and how many."""
    width = view.valid.shape[1]
    picture = np.full(view.valid.shape, -1, np.int32)
    picture.reshape(-1)[item.pixels] = labels
    found: dict[tuple[int, int], int] = {}
    v, u = item.pixels // width, item.pixels % width
    window = slice(int(v.min()), int(v.max()) + 1), slice(int(u.min()), int(u.max()) + 1)
    face, points = picture[window], view.points[window]
    for dv, du in ((0, 2), (2, 0)):
        first, second = (slice(0, face.shape[0] - dv), slice(0, face.shape[1] - du)), (slice(dv, face.shape[0]), slice(du, face.shape[1]))
        both = (face[first] >= 0) & (face[second] >= 0) & (face[first] != face[second])
        both &= ((points[first] - points[second]) ** 2).sum(axis=2) < _TOUCH**2
        a, b = face[first][both], face[second][both]
        keys, counts = np.unique(np.minimum(a, b) * count + np.maximum(a, b), return_counts=True)
        for key, number in zip(keys, counts, strict=True):
            pair = int(key) // count, int(key) % count
            found[pair] = found.get(pair, 0) + int(number)
    return {pair: number for pair, number in found.items() if number >= 4}
