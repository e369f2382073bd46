"""Walls of one open round object, also where its rim is partly hidden: outside and inside are surfaces of revolution about one upright axis, and the inside is
within the outside by no more than a wall.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.rows import highest, lengths, lowest, spans
from deskhand.perception.segment.settings import RevolvedSettings
from deskhand.perception.segment.voxels import Numbers, Voxels, unit
from deskhand.perception.small_systems import solve_small
from deskhand.perception.view import Mask


@dataclass(frozen=True)
class _Axis:
    """``middle`` (2,) [m] of an upright axis; ``share`` of the walls whose normals meet it."""

    middle: Array
    share: float


@dataclass(frozen=True)
class _Wall:
    """The steep voxels of a part: ``points``, ``normals`` (N, 3), and their bounds (3,)."""

    points: Array
    normals: Array
    low: Array
    high: Array


def join_revolved(voxels: Voxels, part: Numbers, settings: RevolvedSettings) -> tuple[Numbers, set[int]]:
    """The part (M,) of each voxel with outside and inside of open round objects joined, and which of the numbers are such."""
    steep = np.abs(voxels.normal[:, 2]) < np.cos(settings.steep)
    large = np.flatnonzero(np.bincount(part, steep) >= settings.least).tolist()
    walls = {number: _wall(voxels, part == number, settings) for number in large}
    owner, hollow = np.arange(int(part.max()) + 1), set()
    axes: dict[tuple[int, int], _Axis | None] = {}
    lined: set[int] = set()
    order = sorted(walls, key=lambda number: -len(walls[number].points))
    for level, one, other in product((True, False), order, order):  # an inside that has its outside at its own height is not that of what carries it
        if one == other or owner[one] == owner[other] or not (level or other not in lined) or not _near(walls[one], walls[other], settings):
            continue
        pair = min(one, other), max(one, other)
        if pair not in axes:
            axes[pair] = _common_axis(walls[pair[0]], walls[pair[1]], settings)
        axis = axes[pair]
        if axis is not None and _is_one(walls[one], walls[other], axis, voxels.edge, settings, level):
            owner[owner == owner[other]] = owner[one]
            hollow.add(one)
            lined.add(other)
    shells = {int(owner[number]) for number in hollow}
    part = owner[part]
    for shell in sorted(shells):
        part = _with_bands(voxels, part, shell, settings)
    return part, shells


def _with_bands(voxels: Voxels, part: Numbers, shell: int, settings: RevolvedSettings) -> Numbers:
    """The same with parts given to an open round object that lie on its wall, as brims and bands do."""
    wall = _wall(voxels, part == shell, settings)
    axis = _axis(wall.points, wall.normals, settings)
    if axis is None:
        return part
    outward = _radial(wall, axis.middle) > 0
    far = lengths(wall.points[:, :2] - axis.middle)
    low, high = wall.points[:, 2].min(), wall.points[:, 2].max()
    profiles = [np.polynomial.Polynomial.fit(wall.points[side, 2], far[side], settings.profile) for side in (outward, ~outward)]
    slack = settings.band * voxels.edge
    for number in np.setdiff1d(np.unique(part), shell).tolist():
        points = voxels.middle[part == number]
        radius, height = lengths(points[:, :2] - axis.middle), np.clip(points[:, 2], low, high)
        off = np.minimum.reduce([np.abs(radius - profile(height)) for profile in profiles])
        if np.mean((off < slack) & (np.abs(height - points[:, 2]) < slack)) > settings.lies:
            part = np.where(part == number, shell, part)
    return part


def _wall(voxels: Voxels, own: Mask, settings: RevolvedSettings) -> _Wall:
    steep = own & (np.abs(voxels.normal[:, 2]) < np.cos(settings.steep))
    points = voxels.middle[steep]
    return _Wall(points, voxels.normal[steep], lowest(points), highest(points))


def _near(one: _Wall, other: _Wall, settings: RevolvedSettings) -> bool:
    gap = settings.gap * float((one.high - one.low)[:2].max())
    return bool((one.low < other.high + gap).all() and (other.low < one.high + gap).all())


def _common_axis(one: _Wall, other: _Wall, settings: RevolvedSettings) -> _Axis | None:
    """The axis about which both walls are round, None where there is none."""
    axis = _axis(np.concatenate([one.points, other.points]), np.concatenate([one.normals, other.normals]), settings)
    return None if axis is None or axis.share < settings.round else axis


def _is_one(outer: _Wall, inner: _Wall, axis: _Axis, edge: float, settings: RevolvedSettings, level: bool) -> bool:
    """Whether ``inner`` faces the axis of both from within, and each is round about it; ``level``: and seen at one height."""
    out, within = _radial(outer, axis.middle), _radial(inner, axis.middle)
    if np.mean(out > np.cos(settings.off)) < settings.round or np.mean(within < -np.cos(settings.off)) < settings.round:
        return False
    return _is_within(outer, inner, axis.middle, edge, settings, level)


def _unevenness(wall: _Wall) -> float:
    """How far [m] its points are off a plane, by the middle one."""
    points = wall.points - wall.points.mean(axis=0)
    normal = np.linalg.svd(points, full_matrices=False)[2][2]
    return float(np.median(np.abs(points @ normal)))


def _radial(wall: _Wall, middle: Array) -> Array:
    """Cosine (N,) between normals, seen from above, and the way from the axis."""
    return np.asarray(np.einsum("ij,ij->i", unit(wall.points[:, :2] - middle), unit(wall.normals[:, :2])))


def _axis(points: Array, normals: Array, settings: RevolvedSettings) -> _Axis | None:
    """The upright line that the normals of most points meet, by least squares with the worst left out."""
    across = unit(normals[:, :2])[:, ::-1] * [1.0, -1.0]
    places = points[:, :2]
    size = float(spans(places).max())
    weight = np.ones(len(points))
    middle = places.mean(axis=0)
    along = np.einsum("ij,ij->i", across, places)
    for _ in range(settings.rounds):
        weighted = (across * weight[:, None]).T
        try:
            middle = np.array(solve_small(weighted @ across, weighted @ along))
        except np.linalg.LinAlgError:
            return None
        miss = np.abs(along - across @ middle) / np.maximum(lengths(places - middle), 1e-6)
        worse = (miss / np.sin(settings.off)) ** 2
        weight = 1 / (1 + worse * worse)
    if np.linalg.norm(middle - points[:, :2].mean(axis=0)) > size:
        return None
    return _Axis(middle, float(np.mean(miss < np.sin(settings.off))))


def _is_within(outer: _Wall, inner: _Wall, middle: Array, edge: float, settings: RevolvedSettings, level: bool) -> bool:
    """Whether the radii follow the height, and those of the inside are at most a wall smaller than those of the outside."""
    far = lengths(outer.points[:, :2] - middle)
    near = lengths(inner.points[:, :2] - middle)
    slack = settings.voxels * edge
    degree = settings.profile
    profile = np.polynomial.Polynomial.fit(outer.points[:, 2], far, degree)
    lining = np.polynomial.Polynomial.fit(inner.points[:, 2], near, degree)
    off = [float(np.median(np.abs(radius - each(wall.points[:, 2])))) for wall, radius, each in ((outer, far, profile), (inner, near, lining))]
    if max(off) > slack or any(_unevenness(wall) < settings.flat * round_off for wall, round_off in zip((outer, inner), off, strict=True)):
        return False  # walls that meet at a corner have an axis in common, too
    outside, inside = np.quantile(outer.points[:, 2], (0.05, 0.95)), np.quantile(inner.points[:, 2], (0.05, 0.95))
    low, high = max(outside[0], inside[0]), min(outside[1], inside[1])
    if high < low - (0.0 if level else settings.apart * float(np.median(far))):
        return False
    if high < low:  # at no height both are seen: the wall goes on from the one to the other
        step = float(profile(high) - lining(low)) if outside[1] < inside[0] else float(profile(low) - lining(high))
        return bool(abs(step) < slack + settings.slope * (low - high))
    heights = np.linspace(low, high, 5)
    wall = profile(heights) - lining(heights)
    return bool(wall.min() > -slack and wall.max() < max(slack, settings.wall * float(np.median(far))))
