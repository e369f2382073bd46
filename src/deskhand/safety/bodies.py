"""Distances between bodies, many states at once, in numpy alone: the second opinion beside the planner's collision library.

Every shape becomes pieces: a centre, half-extent generators and a radius. A piece is the set
``centre + sum(t_k * g_k) + ball(radius)`` with ``|t_k| <= 1``, a zonotope: exact for boxes (3 generators) and spheres (none);
a cylinder is the prism with 16 sides around it (at most 2 % of the radius larger). Two pieces are as far apart as the origin is from their
Minkowski difference, which is a zonotope again: its distance is a bounded least-squares problem, its depth a minimum over facet normals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.geometry import Array
from deskhand.safety.scene import voxels
from deskhand.types import Shape

SIDES = 16
GENERATORS = SIDES // 2 + 1
CHUNK = 20000  # pairs solved at once, to bound memory
SWEEPS = 200
DEPTH_EVERY = 8  # sweeps
RELAXATION = 1.2  # of a step; a little more than to the minimum needs fewer steps
NEAR = 0.005  # [m] up to where distances are told to ACCURACY, beyond it to ROUGH of what is more
ROUGH = 0.03
TOUCHING = 1e-6  # [m]
ACCURACY = 1e-4  # [m] of a distance


@dataclass(frozen=True)
class Pieces:
    """Pieces (N) in one frame.

    Attributes:
        centers: (N, 3).
        generators: (N, GENERATORS, 3), zeros where unused.
        radii: (N,).
        frames, halves: (N, 3, 3) axes as columns and (N, 3) half sizes of a box around the piece without its radius, for quick bounds.
    """

    centers: Array
    generators: Array
    radii: Array
    frames: Array
    halves: Array

    def moved(self, pose: Array) -> Pieces:
        """In another frame: ``pose`` is new_T_old."""
        rotation = pose[:3, :3]
        return Pieces(self.centers @ rotation.T + pose[:3, 3], self.generators @ rotation.T, self.radii, rotation @ self.frames, self.halves)

    @property
    def bounds(self) -> Array:
        """Radii (N,) of balls about the centres that hold the pieces."""
        return np.asarray(np.linalg.norm(self.halves, axis=1) + self.radii)

    def __len__(self) -> int:
        return len(self.centers)


def concatenate(parts: Sequence[Pieces]) -> Pieces:
    """All pieces in one."""
    return Pieces(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("centers", "generators", "radii", "frames", "halves")))


def pieces_of(shapes: Iterable[Shape]) -> Pieces:
    """Pieces of shapes, in the frame the shapes' poses are in."""
    parts = []
    for shape in shapes:
        centers, columns, radius, half = _piece(shape)
        count = len(centers)
        generators = np.zeros((count, GENERATORS, 3))
        generators[:, : len(columns)] = columns
        frames = np.broadcast_to(np.eye(3), (count, 3, 3))
        parts.append(Pieces(centers, generators, np.full(count, radius), frames, np.tile(half, (count, 1))).moved(shape.pose))
    if parts:
        return concatenate(parts)
    return Pieces(np.zeros((0, 3)), np.zeros((0, GENERATORS, 3)), np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 3)))


def _piece(shape: Shape) -> tuple[Array, Array, float, Array]:
    """Local centres (K, 3), generators (m, 3), radius, half sizes (3,)."""
    origin = np.zeros((1, 3))
    if shape.kind == "box":
        half = np.asarray(shape.size, dtype=float) / 2
        return origin, np.diag(half), 0.0, half
    if shape.kind == "sphere":
        return origin, np.zeros((0, 3)), float(shape.size[0]), np.zeros(3)
    if shape.kind == "cylinder":
        radius, height = shape.size
        angles = np.arange(SIDES // 2) * np.pi / (SIDES // 2)
        side = radius * np.tan(np.pi / SIDES)
        ring = side * np.column_stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)])
        around = radius / np.cos(np.pi / SIDES)
        return origin, np.vstack([ring, [0, 0, height / 2]]), 0.0, np.array([around, around, height / 2])
    centers, edge = voxels(shape)
    return centers, np.eye(3) * edge / 2, 0.0, np.full(3, edge / 2)


def separation(offsets: Array, generators: Array, radii: Array, enough: Array | None = None, close: float = -np.inf) -> Array:
    """Signed distances (M,) [m] of pairs: positive apart, negative the depth of penetration.

    ``offsets`` (M, 3) between the centres, ``generators`` (M, K, 3) of both pieces together, ``radii`` (M,) their sum.
    Distances are lower bounds, true to 0.1 mm from 1 to 5 mm and to 3 % of what is more; depths are exact for the pieces.
    ``enough`` (M,) [m]: a pair that is at least so far apart is not looked at further; its lower bound, not less than that, is given.
    ``close`` [m]: a pair that is nearer is not looked at further either; an upper bound, less than that, is given.
    """
    most = np.full(len(offsets), np.inf) if enough is None else enough + radii
    least = np.maximum(radii + close, 0.0)
    result = np.empty(len(offsets))
    for start in range(0, len(offsets), CHUNK):
        part = slice(start, start + CHUNK)
        result[part] = _separation(offsets[part], generators[part], most[part], least[part], radii[part] + NEAR) - radii[part]
    return result


def _separation(offsets: Array, generators: Array, enough: Array, close: Array, near: Array) -> Array:
    """Signed distances (M,) of the origin from the zonotopes about ``offsets``: coordinate descent, each pair until it is known."""
    generators = generators[:, np.abs(generators).max(axis=(0, 2), initial=0.0) > 0]
    count, size = generators.shape[:2]
    if size == 0:
        return np.asarray(np.linalg.norm(offsets, axis=1))
    result = np.zeros(count)
    # One coordinate is a row, so that each step of the descent works on contiguous memory.
    g, rest, start = np.ascontiguousarray(generators.transpose(1, 2, 0)), np.array(offsets.T, order="C"), offsets.T
    weights = RELAXATION / np.maximum((g**2).sum(axis=1), 1e-18)
    active, lower, t = np.arange(count), np.zeros(count), np.zeros((size, count))
    for sweep in range(SWEEPS):
        for k in range(size):
            new = np.minimum(np.maximum(t[k] - (rest * g[k]).sum(axis=0) * weights[k], -1), 1)
            rest += (new - t[k]) * g[k]
            t[k] = new
        length = np.sqrt((rest**2).sum(axis=0))
        normal = rest / np.maximum(length, 1e-12)
        bound = (normal * start).sum(axis=0) - np.abs((g * normal).sum(axis=1)).sum(axis=0)
        lower = np.where(length > 1e-7, np.maximum(lower, bound), lower)
        known = (lower > 0) & ((length - lower <= np.maximum(ACCURACY, ROUGH * (lower - near[active]))) | (lower >= enough[active]))
        within = ~known & (length < close[active])
        lower[within], known = length[within], known | within
        touching = ~known & (length < TOUCHING)
        if touching.any() or (sweep % DEPTH_EVERY == DEPTH_EVERY - 1 and not known.all()):
            # The facets tell exactly whether the pieces overlap, and how far; of those apart, often the distance too.
            hard = np.flatnonzero(touching if sweep % DEPTH_EVERY != DEPTH_EVERY - 1 else ~known)
            depth = _depth(offsets[active[hard]], generators[active[hard]])
            lower[hard] = np.where(depth >= 0, -depth, np.maximum(lower[hard], -depth))
            known[hard] = (depth >= 0) | (lower[hard] >= enough[active[hard]]) | (length[hard] - lower[hard] <= ACCURACY)
        result[active] = lower
        if known.all():
            break
        keep = np.flatnonzero(~known)
        active, lower, t, g, rest, start, weights = active[keep], lower[keep], t[:, keep], g[:, :, keep], rest[:, keep], start[:, keep], weights[:, keep]
    return result


def _depth(offsets: Array, generators: Array) -> Array:
    """Depths (M,) of the origin in the zonotopes about ``offsets``: the least push along any facet's normal that frees it.

    Negative for one that a facet shows to be apart after all, by at least that much.
    """
    first, second = np.triu_indices(generators.shape[1], 1)
    g = generators.transpose(2, 0, 1)
    (ax, ay, az), (bx, by, bz) = g[:, :, first], g[:, :, second]
    normal = np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=2)  # (M, facets, 3)
    length = np.sqrt((normal**2).sum(axis=2))
    push = np.abs(normal @ generators.swapaxes(1, 2)).sum(axis=2) - np.abs(normal @ offsets[:, :, None])[:, :, 0]
    best = np.where(length > 1e-12, push / np.maximum(length, 1e-12), np.inf).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(best), best, 0.0)
