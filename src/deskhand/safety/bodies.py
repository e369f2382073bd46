"""Distances between bodies, many states at once, in numpy alone: the second opinion beside the planner's collision library.

Every shape becomes pieces: a centre, half-extent generators and a radius. A piece is the set
``centre + sum(t_k * g_k) + ball(radius)`` with ``|t_k| <= 1``, a zonotope: exact for boxes (3 generators) and spheres (none);
a cylinder is the prism with 16 sides around it (at most 2 % of the radius larger). Two pieces are as far apart as the origin is from their
Minkowski difference, which is a zonotope again: its distance is a bounded least-squares problem, its depth a minimum over facet normals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.motion.scene import voxels
from deskhand.types import Shape

Mask = npt.NDArray[np.bool_]
SIDES = 16
GENERATORS = SIDES // 2 + 1
CHUNK = 20000  # pairs solved at once, to bound memory
SWEEPS = 200
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


def separation(offsets: Array, generators: Array, radii: Array) -> Array:
    """Signed distances (M,) [m] of pairs: positive apart, negative the depth of penetration.

    ``offsets`` (M, 3) between the centres, ``generators`` (M, K, 3) of both pieces together, ``radii`` (M,) their sum.
    Distances are lower bounds, true to 0.1 mm beyond 1 mm; depths are exact for the pieces.
    """
    result = np.empty(len(offsets))
    for start in range(0, len(offsets), CHUNK):
        part = slice(start, start + CHUNK)
        result[part] = _separation(offsets[part], generators[part], radii[part])
    return result


def _separation(offsets: Array, generators: Array, radii: Array) -> Array:
    used = np.abs(generators).max(axis=(0, 2)) > 0
    generators = generators[:, used]
    distance, depth_needed = _distance(offsets, generators)
    result = distance - radii
    if depth_needed.any():
        result[depth_needed] = -_depth(offsets[depth_needed], generators[depth_needed]) - radii[depth_needed]
    return result


def _distance(offsets: Array, generators: Array) -> tuple[Array, Mask]:
    """Distances (M,) of the origin from the zonotopes about ``offsets``, and which of them hold it."""
    count, size = generators.shape[:2]
    best = np.zeros(count)
    inside = np.zeros(count, dtype=bool)
    if size == 0:
        return np.linalg.norm(offsets, axis=1), inside
    squares = (generators**2).sum(axis=2)
    weights = 1 / np.maximum(squares, 1e-18)
    active = np.arange(count)
    rest, t = offsets.copy(), np.zeros((count, size))
    g, w = generators, weights
    for sweep in range(SWEEPS):
        for k in range(size):
            column = g[:, k]
            new = np.clip(t[:, k] - (rest * column).sum(axis=1) * w[:, k], -1, 1)
            rest = rest + (new - t[:, k])[:, None] * column
            t[:, k] = new
        length = np.linalg.norm(rest, axis=1)
        normal = rest / np.maximum(length, 1e-12)[:, None]
        lower = (normal * offsets[active]).sum(axis=1) - np.abs(np.einsum("mki,mi->mk", g, normal)).sum(axis=1)
        best[active] = np.maximum(best[active], np.where(length > 1e-7, lower, 0.0))
        inside[active] = length <= 1e-6
        more = (length > 1e-6) & ((length - best[active] > ACCURACY) | (best[active] <= 0))
        if not more.any() or sweep == SWEEPS - 1:
            inside[active[more]] = best[active[more]] <= 0
            break
        active, rest, t, g, w = active[more], rest[more], t[more], g[more], w[more]
    return best, inside


def _depth(offsets: Array, generators: Array) -> Array:
    """Depths (M,) of the origin in the zonotopes about ``offsets``: the least push along any facet's normal that frees it.

    Negative for one that a facet shows to be apart after all, by at least that much.
    """
    best = np.full(len(offsets), np.inf)
    for i, j in combinations(range(generators.shape[1]), 2):
        normal = np.cross(generators[:, i], generators[:, j])
        length = np.linalg.norm(normal, axis=1)
        good = length > 1e-12
        normal = normal / np.where(good, length, 1.0)[:, None]
        push = np.abs(np.einsum("mki,mi->mk", generators, normal)).sum(axis=1) - np.abs((normal * offsets).sum(axis=1))
        best = np.where(good, np.minimum(best, push), best)
    return np.where(np.isfinite(best), best, 0.0)
