"""Pieces of an object that is known whole: in a container others lie across it, so that a look sees it as several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.track.settings import TrackSettings
from deskhand.types import SceneObject


def pieces_of(
    new: Mapping[int, SceneObject], known: Mapping[int, tuple[SceneObject, Array]], alike: Mapping[int, Sequence[int]], tracking: TrackSettings
) -> dict[int, int]:
    """Which objects of a look are pieces of others in it.

    Args:
        new: objects of this look that nobody knows, by their number.
        known: objects of this look that were seen whole before, and their sizes (3,) [m] then.
        alike: for each of ``new`` those of ``known`` that have its colour.

    Returns:
        For each piece the number of the object that it belongs to: one of them lies in a container, and together they are no larger than that was. The upper
        piece of what stands there seems to stand on the lower one, and what leans on a wall to stand beside it.
    """
    found = {}
    for number, item in new.items():
        if item.relation not in ("in", "on", "leaning") or not len(item.points):
            continue
        for other in alike[number]:
            whole, size = known[other]
            if "in" in (item.relation, whole.relation) and _within(np.concatenate([item.points, whole.points]), size, tracking):
                found[number] = other
                break
    return found


def enclosed_by(new: Mapping[int, SceneObject], known: Mapping[int, tuple[SceneObject, Array]], tracking: TrackSettings) -> dict[int, int]:
    """Which of ``new`` lie where one of ``known`` is, whatever their colours: the wall of a cup whose inside was taken for all of it. Arguments and result as
    those of :func:`pieces_of`.
    """
    found = {}
    for number, item in new.items():
        if item.relation != "in" or not len(item.points):
            continue
        for other, (whole, size) in known.items():
            local = np.abs(transform_points(inverse(whole.pose), np.asarray(item.points, dtype=float)))
            if whole.relation == "in" and float((local < size / 2 + tracking.edge).all(axis=1).mean()) > tracking.enclosed:
                found[number] = other
                break
    return found


def still_there(new: Mapping[int, SceneObject], before: Mapping[int, Array], inside: Collection[int], tracking: TrackSettings) -> dict[int, int]:
    """Which of ``new`` are where one of the objects that have stayed was seen in the look before, whatever their colours in the light of now.

    Args:
        new: objects of this look that nobody knows, by their number.
        before: points (N, 3) [m] of all that was seen then of each object that is in its place still, by its number in this look.
        inside: numbers of what lies in a container now.
        tracking: how near its points are, and how many of them.

    Returns:
        For each piece the number of the object that it belongs to: one of them lies in a container.
    """
    trees = {number: cKDTree(points) for number, points in before.items() if len(points)}
    found = {}
    for number, item in new.items():
        if not len(item.points):
            continue
        for other, tree in trees.items():
            near = np.isfinite(tree.query(np.asarray(item.points, dtype=float), distance_upper_bound=tracking.was_there)[0])
            if (number in inside or other in inside) and float(near.mean()) > tracking.enclosed:
                found[number] = other
                break
    return found


def are_apart(pieces: Sequence[tuple[Array, Array]], known: Iterable[tuple[Array, Array]], tracking: TrackSettings) -> bool:
    """Whether two pieces in a container are of two objects, by what was seen whole before: objects of both colours are known, and together the pieces are
    larger than any of those.

    Args:
        pieces: points (N, 3) [m] and chromaticity (3,) of each of the two.
        known: chromaticity (3,) and sizes (3,) [m] of what was seen whole.
        tracking: how much larger they may be.
    """
    objects = list(known)
    alike = [[size for other, size in objects if np.linalg.norm(other - chroma) < tracking.piece_color] for _, chroma in pieces]
    if not all(alike):
        return False
    points = np.concatenate([own[:: 1 + len(own) // tracking.piece_points] for own, _ in pieces])
    longest = max(float(np.linalg.norm(size)) for sizes in alike for size in sizes)
    return float(pdist(points).max()) > longest * tracking.piece_larger + tracking.piece_spare


def _within(points: Array, size: Array, tracking: TrackSettings) -> bool:
    """Whether points (N, 3), but for a few strays, fit into a box of ``size`` in any orientation, along their own axes."""
    if len(points) < 3:
        return False
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    low, high = np.quantile(points @ axes.T, (tracking.piece_strays, 1.0 - tracking.piece_strays), axis=0)
    return bool((np.sort(high - low) <= np.sort(size) * tracking.piece_fills + tracking.piece_spare).all())
