"""Parts of one object on both sides of what stands before it: their faces lie in the same planes, and the way between them is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.rows import renumbered
from deskhand.perception.segment.settings import BehindSettings
from deskhand.perception.segment.voxels import Numbers, Voxels, unit
from deskhand.perception.view import Mask, View
from deskhand.perception.visibility import FREE, HIDDEN, UNKNOWN, states


@dataclass(frozen=True)
class _Face:
    """``middle``, ``normal`` (3,), ``share`` of the part's voxels, ``size`` in voxels."""

    middle: Array
    normal: Array
    share: float
    size: int


def join_behind(view: View, voxels: Voxels, part: Numbers, labels: npt.NDArray[np.int32], printed: npt.NDArray[np.bool_], settings: BehindSettings) -> Numbers:
    """The part (M,) of each voxel, with those joined that go on behind something else. Of plain parts, by ``printed`` (P,), colours tell more.

    ``labels``: (H, W) number of the part of each pixel from 1, 0 for none.
    """
    size = np.bincount(part)
    large = [int(number) for number in np.flatnonzero(size >= settings.least)] if printed.any() else []
    faces = cache(lambda number: _faces(voxels, part == number, settings))
    owner = np.arange(len(size))
    for one, other in combinations(large, 2):
        if owner[one] == owner[other] or not (printed[one] or printed[other]) or not _in_plane(faces(one), faces(other), voxels.edge, settings):
            continue
        both = np.flatnonzero(np.isin(owner, owner[[one, other]])) + 1
        if _hidden_between(view, voxels.middle[part == one], voxels.middle[part == other], np.isin(labels, both), settings):
            owner[owner == owner[other]] = owner[one]
    return renumbered(owner[part])


def _faces(voxels: Voxels, own: npt.NDArray[np.bool_], settings: BehindSettings) -> list[_Face]:
    """The flat sides of a part, the largest first."""
    points, normals = voxels.middle[own], voxels.normal[own]
    left = np.ones(len(points), bool)
    found = []
    for _ in range(settings.faces):
        if left.sum() < settings.least_face * len(points):
            break
        # The direction that most of what is left has.
        some = normals[left][:: 1 + int(left.sum()) // 100]
        like = some @ some.T > np.cos(settings.same)
        direction = unit(some[like[int(like.sum(axis=1).argmax())]].mean(axis=0))
        face = left & (normals @ direction > np.cos(settings.same))
        if face.sum() < settings.least_face * len(points):
            break
        middle = points[face].mean(axis=0)
        away = points[face] - middle
        normal = np.linalg.eigh(away.T @ away)[1][:, 0]
        found.append(_Face(middle, normal * np.sign(normal @ direction + 1e-12), float(face.mean()), int(face.sum())))
        left &= ~face
    return found


def _in_plane(one: list[_Face], other: list[_Face], edge: float, settings: BehindSettings) -> bool:
    """Whether faces that are much of both parts are in the same planes."""
    shares = [0.0, 0.0]
    for a in one:
        for b in other:
            if a.normal @ b.normal <= np.cos(settings.parallel):
                continue
            gap = b.middle - a.middle
            far = float(np.linalg.norm(gap))
            off = abs(float(gap @ (a if a.size > b.size else b).normal))  # the larger face knows its direction better
            if off < max(settings.off * edge, settings.slant * far):
                shares = [shares[0] + a.share, shares[1] + b.share]
    return min(shares) > settings.share


def _hidden_between(view: View, one: Array, other: Array, own: Mask, settings: BehindSettings) -> bool:
    """True when the way from one part to the other, where they come nearest, is behind something and nowhere in the open. ``own`` (H, W): pixels of the two: a
    wall of a container hides the way to what lies in it, which is no part of it.
    """
    a, b = one[:: 1 + len(one) // 200], other[:: 1 + len(other) // 200]
    distance = np.linalg.norm(a[:, None] - b[None], axis=2)
    i, j = np.unravel_index(int(distance.argmin()), distance.shape)
    if distance[i, j] > settings.reach:
        return False
    ways = ((a[i], b[j]), (a.mean(axis=0), b.mean(axis=0)))
    places = np.concatenate([begin + np.linspace(0.2, 0.8, 9)[:, None] * (end - begin) for begin, end in ways])
    found = states(view, places)
    found[(found == HIDDEN) & _shows(view, places, own)] = UNKNOWN
    return bool((found == HIDDEN).sum() >= settings.hidden * len(found) and (found == FREE).sum() <= (1 - settings.hidden) / 2 * len(found))


def _shows(view: View, points: Array, mask: Mask) -> Mask:
    """Which points (N, 3) are at pixels of ``mask`` (H, W)."""
    u, v = np.rint(np.nan_to_num(view.frame.project(points), nan=-1.0)).astype(np.int64).T
    height, width = mask.shape
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    return np.asarray(inside & mask[np.where(inside, v, 0), np.where(inside, u, 0)])
