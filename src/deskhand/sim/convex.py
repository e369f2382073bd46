"""Convex pieces, the material of generated shapes: each is the corners (V, 3) [m] of a convex solid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from deskhand.geometry import Array
from deskhand.types.meshes import Faces

SIDES = 24  # of round objects


def block(size: Sequence[float], centre: Sequence[float] = (0.0, 0.0, 0.0), yaw: float = 0.0) -> Array:
    """A cuboid, turned by ``yaw`` [rad] about its vertical axis."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    return np.asarray(signs * np.asarray(size) / 2 @ _about_z(yaw).T + np.asarray(centre))


def prism(outline: Array, bottom: float, top: float, shrink: float = 1.0) -> Array:
    """A convex outline (K, 2) drawn from ``bottom`` to ``top``, where it is ``shrink`` times as large."""
    return np.vstack([np.column_stack([outline * scale, np.full(len(outline), z)]) for scale, z in ((1.0, bottom), (shrink, top))])


def convex_parts(outline: Array) -> list[Array]:
    """Convex outlines (each (K, 2)) that fill a simple one (K, 2), counter-clockwise: ears cut off, and put together again while what comes out is convex."""
    left, parts = [np.asarray(corner, dtype=float) for corner in outline], []
    while len(left) > 3:
        ear = next((number for number in range(len(left)) if _is_ear(left, number)), None)
        if ear is None:
            break  # corners in one line are left: they enclose nothing more
        parts.append(np.array([left[ear - 1], left[ear], left[(ear + 1) % len(left)]]))
        del left[ear]
    parts.append(np.array(left))
    joined = True
    while joined:
        joined = False
        for first, second in itertools.combinations(range(len(parts)), 2):
            whole = _together(parts[first], parts[second])
            if whole is not None:
                parts = [part for number, part in enumerate(parts) if number not in (first, second)] + [whole]
                joined = True
                break
    return parts


def _turn(a: Array, b: Array, c: Array) -> float:
    """Positive where the way from a over b to c goes to the left."""
    return float((b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]))


def _is_ear(corners: list[Array], number: int) -> bool:
    a, b, c = corners[number - 1], corners[number], corners[(number + 1) % len(corners)]
    if _turn(a, b, c) <= 1e-12:
        return False
    others = [corner for corner in corners if not any(corner is own for own in (a, b, c))]
    return not any(min(_turn(a, b, corner), _turn(b, c, corner), _turn(c, a, corner)) >= -1e-12 for corner in others)


def _together(one: Array, other: Array) -> Array | None:
    """The outline of two convex ones with a common side, where it is convex."""
    for i in range(len(one)):
        for j in range(len(other)):
            if np.allclose(one[i], other[(j + 1) % len(other)]) and np.allclose(one[(i + 1) % len(one)], other[j]):
                whole = np.vstack([np.roll(one, -i - 1, axis=0), np.roll(other, -j - 1, axis=0)[1:-1]])
                turns = [_turn(whole[k - 1], whole[k], whole[(k + 1) % len(whole)]) for k in range(len(whole))]
                return whole if min(turns) >= -1e-12 else None
    return None


def circle(radius: float, sides: int = SIDES) -> Array:
    """Corners (sides, 2) around the origin."""
    angle = 2 * np.pi * np.arange(sides) / sides
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def revolved(profile: Sequence[tuple[float, float]], sides: int = SIDES) -> list[Array]:
    """A stack of frusta: ``profile`` lists (radius, z) from below."""
    rings = [np.column_stack([circle(max(radius, 1e-4), sides), np.full(sides, z)]) for radius, z in profile]
    return [np.vstack(pair) for pair in itertools.pairwise(rings)]


def tube(bottom: tuple[float, float], top: tuple[float, float], wall: float, sides: int = 18, squash: float = 1.0) -> list[Array]:
    """A round wall in ``sides`` pieces; ``bottom`` and ``top`` are (outer radius, z); ``squash`` scales y."""
    pieces = []
    for first in range(sides):
        corners = []
        for step in (first, first + 1):
            angle = 2 * np.pi * step / sides
            for radius, z in (bottom, top):
                for r in (radius, radius - wall):
                    corners.append((r * np.cos(angle), squash * r * np.sin(angle), z))
        pieces.append(np.array(corners))
    return pieces


def bar(points: Sequence[Sequence[float]], width: float, thickness: float, across: Sequence[float]) -> list[Array]:
    """A bar along a polyline (K, 3): ``width`` along the unit vector ``across``, ``thickness`` square to it; joints overlap."""
    line, side = np.asarray(points, dtype=float), np.asarray(across, dtype=float)
    ends: list[Array] = []
    for k in range(len(line)):
        along = line[min(k + 1, len(line) - 1)] - line[max(k - 1, 0)]
        normal = np.cross(along / np.linalg.norm(along), side)
        ends.append(np.array([line[k] + a * side * width / 2 + b * normal * thickness / 2 for a in (-1, 1) for b in (-1, 1)]))
    return [np.vstack(pair) for pair in itertools.pairwise(ends)]


def lying(pieces: list[Array]) -> list[Array]:
    """Turned so that what was up (z) points along x."""
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    return [piece @ turn.T for piece in pieces]


def fitted(pieces: list[Array], size: Sequence[float]) -> list[Array]:
    """Centred, and stretched to the bounding box ``size`` (3,)."""
    everything = np.vstack(pieces)
    low, high = everything.min(axis=0), everything.max(axis=0)
    return [(piece - (low + high) / 2) / (high - low) * np.asarray(size, dtype=float) for piece in pieces]


def surface_of(pieces: list[Array]) -> tuple[Array, Faces]:
    """Triangles of all pieces, corners not shared, so that edges look sharp: vertices (V, 3), faces (F, 3) that face outwards."""
    from scipy.spatial import ConvexHull  # 0.2 s at the start of a simulation that seldom needs it

    vertices: list[Array] = []
    for piece in pieces:
        hull = ConvexHull(piece)
        corners = piece[hull.simplices]  # (F, 3, 3)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inwards = np.einsum("ij,ij->i", normal, hull.equations[:, :3]) < 0
        corners[inwards] = corners[inwards][:, ::-1]
        vertices.append(corners.reshape(-1, 3))
    everything = np.vstack(vertices)
    return everything, np.arange(len(everything), dtype=np.int32).reshape(-1, 3)


def volume_of(piece: Array) -> float:
    """[m^3]"""
    from scipy.spatial import ConvexHull

    return float(ConvexHull(piece).volume)


def _about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
