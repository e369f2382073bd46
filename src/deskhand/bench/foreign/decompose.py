"""A body as a few convex pieces: cut along its axes where a piece encloses most that is no body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from deskhand.geometry import Array
from deskhand.types.meshes import Faces

EMPTY = 0.006  # of the volume of the whole hull that a piece may enclose of what is no body
PIECES = 40  # of a connected part
MOST_PARTS = 16  # that are decomposed each by itself: the scraps of a scan are no parts
CELL = 0.0025  # [m] between the points that fill the body
SAMPLES = 6000  # of the surface
LEAST = 0.003  # [m] pieces are no thinner slices than this
FLAT = 1e-10  # [m^3] pieces with less volume are flat: nothing can touch them, and no simulator takes them
CUTS = (0.3, 0.5, 0.7)  # shares of a side at which a cut is tried


@dataclass(frozen=True)
class _Piece:
    """Points of the surface and of the filling that belong to it, the corners of its hull, its volume, and what of that is no body [m^3]."""

    surface: Array
    filling: Array
    corners: Array
    volume: float
    empty: float


def decompose(vertices: Array, faces: Faces) -> list[Array]:
    """Corners (V, 3) of each piece; one where the whole is nearly convex. Parts that are not connected are decomposed each by itself: they may overlap."""
    parts = _connected(vertices, faces)
    return [corners for part in (parts if len(parts) <= MOST_PARTS else [faces]) for corners in _decomposed(vertices, part)]


def _connected(vertices: Array, faces: Faces) -> list[Faces]:
    """The faces of each connected part; corners at one place are one."""
    _, index = np.unique(vertices.round(6), axis=0, return_inverse=True)
    corners = index.reshape(-1)[faces]
    edges, count = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]]]), int(corners.max()) + 1
    _, label = connected_components(coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count)), directed=False)
    part = label[corners[:, 0]]
    return [faces[part == number] for number in np.unique(part)]


def _decomposed(vertices: Array, faces: Faces) -> list[Array]:
    try:
        whole = _piece(sampled(vertices, faces), filled(vertices, faces))
    except QhullError:  # a flat part, as decals are
        whole = None
    if whole is None:
        return []
    done: list[_Piece] = []
    open_ = [whole]
    while open_ and len(done) + len(open_) < PIECES:
        worst = open_.pop(max(range(len(open_)), key=lambda number: open_[number].empty))
        halves = _halved(worst) if worst.empty > EMPTY * whole.volume else None
        if halves is None:
            done.append(worst)
        else:
            open_ += halves
    return [piece.corners for piece in (*done, *open_) if piece.volume > FLAT]


def _piece(surface: Array, filling: Array) -> _Piece | None:
    """None where its points span no volume."""
    points = np.vstack([surface, filling])
    if len(points) < 8:
        return None
    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    volume = float(hull.volume)
    return _Piece(surface, filling, points[hull.vertices], volume, max(0.0, volume - len(filling) * CELL**3))


def _halved(piece: _Piece) -> list[_Piece] | None:
    """The two halves of the best cut; None where it is too thin to be cut."""
    low, high = piece.corners.min(axis=0), piece.corners.max(axis=0)
    best: tuple[float, list[_Piece]] | None = None
    for axis in range(3):
        for share in CUTS:
            at = low[axis] + share * (high[axis] - low[axis])
            if min(at - low[axis], high[axis] - at) < LEAST:
                continue
            halves = []
            for upper in (False, True):
                half = _piece(piece.surface[(piece.surface[:, axis] > at) == upper], piece.filling[(piece.filling[:, axis] > at) == upper])
                if half is not None:
                    halves.append(half)
            cost = sum(half.empty for half in halves)
            if len(halves) == 2 and (best is None or cost < best[0]):
                best = cost, halves
    return best[1] if best is not None else None


def sampled(vertices: Array, faces: Faces) -> Array:
    """Points (N, 3) all over the surface, and every corner."""
    corners = vertices[faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    rng = np.random.default_rng(0)
    chosen = corners[rng.choice(len(corners), SAMPLES, p=area / area.sum())]
    u, v = rng.random((2, SAMPLES))
    over = u + v > 1
    u[over], v[over] = 1 - u[over], 1 - v[over]
    inside = chosen[:, 0] + u[:, None] * (chosen[:, 1] - chosen[:, 0]) + v[:, None] * (chosen[:, 2] - chosen[:, 0])
    used = vertices[np.unique(faces)]
    extreme = used[ConvexHull(used).vertices]
    return np.vstack([inside, used if len(used) <= SAMPLES else used[rng.choice(len(used), SAMPLES, replace=False)], extreme])


def filled(vertices: Array, faces: Faces) -> Array:
    """Points (N, 3) of a grid inside: between every two crossings of an upright line with the surface."""
    low = vertices[faces].min(axis=(0, 1)) + CELL * np.array([0.4871, 0.5113, 0.0])  # off the symmetry of most objects
    crossings: dict[tuple[int, int], list[float]] = {}
    triangles = vertices[faces]
    firsts = np.ceil((triangles.min(axis=1) - low) / CELL)[:, :2].astype(int)
    lasts = np.floor((triangles.max(axis=1) - low) / CELL)[:, :2].astype(int)
    for number in np.flatnonzero((lasts >= firsts).all(axis=1)):  # most triangles of a scan lie between the lines
        (a, b, c), first, last = triangles[number], firsts[number], lasts[number]
        twice = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if abs(twice) < 1e-14:
            continue
        i, j = (grid.reshape(-1) for grid in np.mgrid[first[0] : last[0] + 1, first[1] : last[1] + 1])
        x, y = low[0] + CELL * i - a[0], low[1] + CELL * j - a[1]
        s = (x * (c[1] - a[1]) - (c[0] - a[0]) * y) / twice
        t = ((b[0] - a[0]) * y - x * (b[1] - a[1])) / twice
        for k in np.flatnonzero((s >= 0) & (t >= 0) & (s + t <= 1)):
            crossings.setdefault((int(i[k]), int(j[k])), []).append(float(a[2] + s[k] * (b[2] - a[2]) + t[k] * (c[2] - a[2])))
    points = []
    for (i_, j_), heights in crossings.items():
        heights = sorted(heights)
        if len(heights) % 2:
            continue
        for bottom, top in zip(heights[::2], heights[1::2], strict=True):
            z = np.arange(bottom, top, CELL)
            points.append(np.column_stack([np.full(len(z), low[0] + CELL * i_), np.full(len(z), low[1] + CELL * j_), z]))
    return np.vstack(points) if points else np.zeros((0, 3))
