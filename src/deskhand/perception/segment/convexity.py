"""Parts that bulge out: patches of a surface joined where they are flat or convex to each other, apart where concave (after S. C. Stein et al.,
Object Partitioning using Local Convexity, CVPR 2014), the evidence along whole borders weighed (greedy additive edge contraction: M. Keuper et al., Efficient
Decomposition of Image and Mesh Graphs by Lifted Multicuts, ICCV 2015).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.learned.affinities import Evidence
from deskhand.perception.rows import lengths, renumbered, rows_of, squares
from deskhand.perception.segment.settings import ShapeSettings
from deskhand.perception.segment.voxels import Numbers, Voxels, cells, means, unit

GapShare = Callable[[Array, Array], Array]
"""Share (N,) of the ways between places (N, 3) that lead through a gap; see gaps.py."""
Told = Callable[[Numbers, Numbers], Evidence]
"""What a learned segmenter says of the borders (B, 2) of patches; first the patch (M,) of each voxel."""


@dataclass(frozen=True)
class Patches:
    """Surface in pieces of one direction.

    Attributes:
        of: (M,) the patch of each voxel.
        middle, normal: (P, 3) of each.
        size: (P,) in voxels.
        borders: (B, 2) pairs of patches that meet.
        length: (B,) of their borders, in pairs of voxels.
        seam: (B, 3) middle of each border.
        gap: (B,) share of each border over which the camera looks through between the patches.
    """

    of: Numbers
    middle: Array
    normal: Array
    size: Array
    borders: Numbers
    length: Array
    seam: Array
    gap: Array


def convex_parts(voxels: Voxels, settings: ShapeSettings, gap_share: GapShare, told: Told | None = None, trust: float = 0.0) -> Numbers:
    """Number (M,) from 0 of the part that each voxel belongs to; ``told`` counts as ``trust``, shape as 1 - ``trust``."""
    patches = patches_of(voxels, settings, gap_share)
    weight = weights(patches, voxels.edge, settings)
    if told is not None:
        said = told(patches.of, patches.borders)
        share = np.where(said.count > 0, trust, 0.0)
        weight = (1 - share) * weight + share * (2 * said.one - 1) * patches.length
    part = contracted(patches.size, patches.borders, weight, settings.neck, 2 * settings.scrap * settings.patch**2)
    return np.asarray(_without_scraps(part, patches, settings)[patches.of])


def patches_of(voxels: Voxels, settings: ShapeSettings, gap_share: GapShare) -> Patches:
    """Voxels shared out over seeds by place and direction."""
    reach = settings.patch * voxels.edge
    patch = cells(voxels.middle, reach)[1]
    feature = np.concatenate([voxels.middle * (settings.near / reach), voxels.normal], axis=1)
    for _ in range(settings.rounds):
        centre = means(feature, patch, int(patch.max()) + 1)
        centre[:, 3:] = unit(centre[:, 3:])
        patch = renumbered(nearest_centre(centre, feature, patch))
    i, j = voxels.pairs.T
    same = patch[i] == patch[j]  # what does not hang together is two patches
    patch = connected_components(coo_matrix((np.ones(same.sum()), (i[same], j[same])), (len(voxels),) * 2), directed=False)[1].astype(np.int64)
    count = int(patch.max()) + 1
    i, j = voxels.pairs[patch[i] != patch[j]].T
    one, other = patch[i], patch[j]
    key, which, length = np.unique(np.minimum(one, other) * count + np.maximum(one, other), return_inverse=True, return_counts=True)
    borders = np.stack(np.divmod(key, count), axis=1)
    seam = means((rows_of(voxels.middle, i) + rows_of(voxels.middle, j)) / 2, which.reshape(-1), len(key))
    gap = means(gap_share(rows_of(voxels.middle, i), rows_of(voxels.middle, j))[:, None], which.reshape(-1), len(key))[:, 0]
    middle, normal = means(voxels.middle, patch, count), unit(means(voxels.normal, patch, count))
    return Patches(patch, middle, normal, np.bincount(patch).astype(float), borders, length.astype(float), seam, gap)


def nearest_centre(centre: Array, feature: Array, before: Numbers) -> Numbers:
    """Number (M,) of the one of centres (P, K) that is nearest to each of features (M, K). What is nearer to the one that it had ``before`` than half the way
    from that to the next centre stays there (C. Elkan: Using the Triangle Inequality to Accelerate k-Means, ICML 2003).
    """
    if len(centre) < 2:
        return np.zeros(len(feature), np.int64)
    tree = cKDTree(centre)
    reach = squares(centre - rows_of(centre, np.asarray(tree.query(centre, 2)[1])[:, 1])) / 4
    result: Numbers = before.copy()
    asked = np.flatnonzero(squares(feature - rows_of(centre, before)) >= reach[before])
    result[asked] = tree.query(rows_of(feature, asked))[1]
    return result


def weights(patches: Patches, edge: float, settings: ShapeSettings) -> Array:
    """Evidence (B,) of each border: above 0 for one object, below for two, times its length."""
    a, b = patches.borders.T
    way = unit(patches.middle[a] - patches.middle[b])
    one, other = patches.normal[a], patches.normal[b]
    bend = np.arccos(np.clip(np.einsum("ij,ij->i", one, other), -1, 1))
    concave = np.einsum("ij,ij->i", way, one - other) < 0
    bend = np.where(concave, np.minimum(bend, settings.sag * _sag(patches)), bend)
    kind = np.where(concave, 1 - 2 * np.clip((bend - settings.smooth) / (settings.crease - settings.smooth), 0, 1), 1.0)
    # Two surfaces one behind the other: each is off the plane of the other by more than their bend explains.
    gap = patches.middle[a] - patches.middle[b]
    off = np.minimum(np.abs(np.einsum("ij,ij->i", gap, one)), np.abs(np.einsum("ij,ij->i", gap, other)))
    explained = lengths(gap) * np.sin(bend / 2)
    kind = np.where(off > explained + settings.step * edge, -1.0, kind)
    # Patches beside each other along the line of the bend say nothing of it.
    line = np.cross(one, other)
    sine = lengths(line)
    aside = np.abs(np.einsum("ij,ij->i", line, way)) > np.cos(settings.along) * sine
    kind = np.where(aside & (bend > settings.smooth), 0.0, kind)
    # What the camera looks through between does not hang together there.
    return np.asarray((kind * (1 - patches.gap) - patches.gap) * patches.length)


def _sag(patches: Patches) -> Array:
    """Angle (B,) [rad] by which the way from patch to patch bends when it goes by their border: 0 where the border is not below the straight way."""
    a, b = patches.borders.T
    begin, way = patches.middle[a], patches.middle[b] - patches.middle[a]
    length = np.maximum(lengths(way), 1e-9)
    share = np.clip(np.einsum("ij,ij->i", patches.seam - begin, way) / length**2, 0.2, 0.8)
    below = np.einsum("ij,ij->i", begin + share[:, None] * way - patches.seam, unit(patches.normal[a] + patches.normal[b]))
    below = np.maximum(below, 0.0)
    return np.asarray(np.arctan(below / (share * length)) + np.arctan(below / ((1 - share) * length)))


def contracted(size: Array, borders: Numbers, weight: Array, neck: float, large: float) -> Numbers:
    """Number (P,) of the part of each node with ``size`` (P,): the border with most evidence is joined first, those between the same two parts are added up.
    Evidence below ``neck`` times the root of the smaller one's size is of a bridge of noise, not of an object as wide as that.
    """
    count = len(size)
    grown = size.tolist()
    owner = list(range(count))
    near: list[dict[int, float]] = [{} for _ in range(count)]
    for (i, j), value in zip(borders.tolist(), weight.tolist(), strict=True):
        near[i][j] = near[j][i] = value
    queue = [(-value, i, j) for (i, j), value in zip(borders.tolist(), weight.tolist(), strict=True) if value > 0]
    heapify(queue)
    while queue:
        value, i, j = heappop(queue)
        if near[i].get(j) != -value or owner[i] != i or owner[j] != j:
            continue
        if (smaller := min(grown[i], grown[j])) > large and -value < neck * smaller**0.5:
            continue
        if len(near[i]) < len(near[j]):
            i, j = j, i
        owner[j] = i
        grown[i] += grown[j]
        del near[i][j]
        for k, more in near[j].items():
            if k == i:
                continue
            del near[k][j]
            total = near[i].get(k, 0.0) + more
            near[i][k] = near[k][i] = total
            if total > 0:
                heappush(queue, (-total, i, k))
        near[j] = {}
    for node in range(count):
        while owner[node] != owner[owner[node]]:
            owner[node] = owner[owner[node]]
    return renumbered(np.array(owner, np.int64))


def _without_scraps(part: Numbers, patches: Patches, settings: ShapeSettings) -> Numbers:
    """Parts smaller than a few patches given to the neighbour with which they share the longest border: handles, knobs, edges."""
    least = settings.scrap * settings.patch**2
    for _ in range(6):
        count = int(part.max()) + 1
        size = np.bincount(part, patches.size, count)
        a, b = part[patches.borders].T
        out = a != b
        shared = coo_matrix((np.tile(patches.length[out], 2), (np.concatenate([a[out], b[out]]), np.concatenate([b[out], a[out]]))), (count, count)).tocsr()
        goes = np.arange(count)
        for k in np.argsort(size, kind="stable"):
            row = slice(shared.indptr[k], shared.indptr[k + 1])
            others = shared.indices[row]
            if size[k] >= least or not len(others):
                continue
            to = others[np.argmax(shared.data[row])]
            if goes[to] == to and size[to] >= size[k]:
                goes[k] = to
        if (goes == np.arange(count)).all():
            break
        part = renumbered(goes[part])
    return part
