"""What hangs on an object without standing on anything is a part of it: handles, knobs at the side, edges."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from deskhand.perception.rows import between, highest, lowest, renumbered
from deskhand.perception.segment.settings import AttachedSettings
from deskhand.perception.segment.voxels import Numbers, Voxels


def join_attached(voxels: Voxels, part: Numbers, settings: AttachedSettings) -> Numbers:
    """The part (M,) of each voxel, with small parts joined to the object beside them that alone can hold them up."""
    height, size = voxels.middle[:, 2], np.bincount(part)
    i, j = voxels.pairs[part[voxels.pairs[:, 0]] != part[voxels.pairs[:, 1]]].T
    alone = np.setdiff1d(np.flatnonzero(size < settings.small * size.max()), part[np.concatenate([i, j])])
    if len(alone):  # a gap of lost pixels is between some and what they hang on
        free = np.isin(part, alone)
        few, reach = np.flatnonzero(free), settings.gap * voxels.edge
        own = voxels.middle[few]
        rest = np.flatnonzero(~free & between(voxels.middle, lowest(own) - reach, highest(own) + reach))
        distance, nearest = cKDTree(voxels.middle[rest], compact_nodes=False, balanced_tree=False).query(own, distance_upper_bound=reach)
        near = np.isfinite(distance)
        i, j = np.concatenate([i, few[near]]), np.concatenate([j, rest[np.asarray(nearest)[near]]])
    own, other, place = np.concatenate([part[i], part[j]]), np.concatenate([part[j], part[i]]), np.concatenate([height[i], height[j]])
    owner, by_own = np.arange(len(size)), np.argsort(own, kind="stable")
    begins = np.searchsorted(own[by_own], np.arange(len(size) + 1))
    for number in map(int, np.argsort(size, kind="stable")):
        meets = by_own[begins[number] : begins[number + 1]]
        if not len(meets):
            continue
        beside = np.bincount(other[meets], minlength=len(size))
        to = int(beside.argmax())
        if size[number] > settings.small * size[to] or beside[to] < settings.alone * beside.sum():
            continue
        low, high = np.quantile(height[part == number], (settings.foot, 1 - settings.foot))
        if low < settings.above * voxels.edge:
            continue
        # What stands on something meets it where it is lowest, what carries something where it is highest.
        middle = float(np.median(place[meets[other[meets] == to]]))
        if settings.side * low + (1 - settings.side) * high >= middle >= (1 - settings.side) * low + settings.side * high:
            owner[owner == number] = owner[to]
    return renumbered(owner[part])
