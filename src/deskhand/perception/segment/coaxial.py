"""What is round about one axis is one object, whatever its colours: caps and necks of bottles, ends of printed cans that lie.

The lines along the normals of a surface of revolution all meet its axis. Of a line through p along n, and an axis along a through c, that is
a (p x n) + (c x a) n = 0, which is linear in a and c x a (H. Pottmann, T. Randrup: Rotational and Helical Surface Approximation for Reverse Engineering,
Computing 60, 1998). Objects that lie end to end in one line are rare, but for pens and
markers: what is long and thin tells nothing. Cans and blocks that stand on each other are not rare: about an upright axis a piece is only of the object below
it where that narrows to its width, since what stands needs a level place to stand on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.rows import all_of, between, cross, highest, lengths, lowest, rows_of
from deskhand.perception.segment.hanging import joined
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.segment.settings import CoaxialSettings, SegmentSettings
from deskhand.perception.segment.shape import voxel_edge
from deskhand.perception.segment.voxels import voxels_of
from deskhand.perception.view import View


@dataclass(frozen=True)
class Surface:
    """``points`` and their ``normals`` (N, 3), of a segment."""

    points: Array
    normals: Array


@dataclass(frozen=True)
class Axis:
    """What a segment is round about: a point (3,) of the axis [m], its direction (3,), the largest radius of the segment [m]."""

    middle: Array
    along: Array
    radius: float

    @property
    def upright(self) -> bool:
        """Or level."""
        return bool(abs(self.along[2]) > 0.5)

    def places(self, points: Array) -> tuple[Array, Array]:
        """Of points (N, 3) the place along the axis and the distance from it (N,) [m]."""
        away = points - self.middle
        at = away @ self.along
        return at, lengths(away - at[:, None] * self.along)


def join_coaxial(view: View, segments: list[Segment], settings: SegmentSettings) -> list[Segment]:
    """The segments, largest first, with pieces joined to what is round about the axis on which they are."""
    count = len(segments) + 1
    while 1 < len(segments) < count:  # a cap is on a neck, which is on a bottle
        count, segments = len(segments), joined(segments, _owners(view, segments, voxel_edge(view, settings), settings.coaxial))
    return segments


def _owners(view: View, segments: list[Segment], edge: float, settings: CoaxialSettings) -> list[int]:
    surfaces: dict[int, Surface] = {}
    axes: dict[int, Axis | None] = {}
    owner = list(range(len(segments)))
    lows, highs = (np.array([bound(item.points) for item in segments]) for bound in (lowest, highest))
    for number in range(len(segments) - 1, 0, -1):
        item, low, high = segments[number], lows[number] - settings.touch, highs[number] + settings.touch
        for other in np.flatnonzero(all_of(lows[:number] < high) & all_of(highs[:number] > low)).tolist():
            main = segments[other]
            if len(item) > settings.small * len(main) or not _touch(item, main, low, high, settings.touch):
                continue
            for index in (other, number):
                if index not in surfaces:
                    surfaces[index] = _surface(view, segments[index], edge)
            if other not in axes:
                axes[other] = axis_of(surfaces[other], settings)
            axis = axes[other]
            if axis is not None and _is_on(surfaces[number], surfaces[other], axis, edge, settings, main.whole):
                owner[number] = other
                break
    return owner


def axis_of(surface: Surface, settings: CoaxialSettings) -> Axis | None:
    """The upright or level axis about which a surface is round, None where there is none, or more than one."""
    if len(surface.points) < settings.least:
        return None
    found = [axis for level in (True, False) if (axis := _axis(surface, level, settings)) is not None]
    return found[0] if len(found) == 1 else None


def _axis(surface: Surface, level: bool, settings: CoaxialSettings) -> Axis | None:
    points, normals = surface.points, surface.normals
    middle = points.mean(axis=0)
    weight = np.ones(len(points))
    axis = Axis(middle, np.array([0.0, 0.0, 1.0]), 0.0)
    for _ in range(settings.rounds):
        along, foot = _meeting(points - middle, normals, weight, level)
        axis = Axis(middle + foot, along, 0.0)
        miss = _misses(surface, axis)
        weight = 1 / (1 + (miss / np.sin(settings.off)) ** 4)
    side = np.abs(normals @ axis.along) < np.sin(settings.steep)
    at, far = axis.places(points)
    if (miss < np.sin(settings.off)).mean() < settings.round or side.sum() < settings.least or not _is_curved(normals[side], axis.along, settings):
        return None
    radius = float(np.quantile(far, 1 - settings.rim))
    if not settings.long * radius < np.ptp(np.quantile(at, (settings.rim, 1 - settings.rim))) < settings.longest * radius:
        return None
    slices = [part for part in np.array_split(far[side][np.argsort(at[side])], settings.slices) if len(part)]
    if np.median([np.std(part) for part in slices]) > settings.uneven * radius:
        return None
    return replace(axis, radius=radius)


def _meeting(points: Array, normals: Array, weight: Array, level: bool) -> tuple[Array, Array]:
    """Direction (3,) and a point (3,) of the axis that lines through points (N, 3) along their normals come nearest to, by weighted least squares."""
    ways = np.eye(3)[:2] if level else np.eye(3)[2:]
    turn = cross(points, normals) @ ways.T
    inner = (normals * weight[:, None]).T @ normals + 1e-6 * len(points) * np.eye(3)
    moment = -np.linalg.solve(inner, (normals * weight[:, None]).T @ turn)  # c x a of each way
    left = turn + normals @ moment
    share = np.linalg.eigh((left * weight[:, None]).T @ left)[1][:, 0]
    along = share @ ways
    return along, cross(along, moment @ share)


def _misses(surface: Surface, axis: Axis) -> Array:
    """Sine (N,) of the angles, seen along the axis, by which normals miss it; of what faces along it nearly 0."""
    _, far = axis.places(surface.points)
    aside = cross(axis.along, surface.points - axis.middle)
    return np.asarray(np.abs(np.einsum("ij,ij->i", aside, surface.normals)) / np.maximum(far, 1e-6))


def _is_curved(normals: Array, along: Array, settings: CoaxialSettings) -> bool:
    """Whether normals go round an axis: those of a box have two or three directions, and few between."""
    one = np.cross(along, [0.0, 0.0, 1.0] if abs(along[2]) < 0.5 else [1.0, 0.0, 0.0])
    other = np.cross(along, one)
    count = np.histogram(np.arctan2(normals @ other, normals @ one), bins=settings.sectors, range=(-np.pi, np.pi))[0]
    return bool((count >= settings.some * len(normals)).sum() >= settings.curved * settings.sectors)


def _is_on(item: Surface, main: Surface, axis: Axis, edge: float, settings: CoaxialSettings, ends: bool) -> bool:
    """Whether a piece is round about the axis of ``main``, no wider, and with one radius at each place along it. ``ends``: it may be a flat end."""
    if len(item.points) < 3:
        return False
    at, far = axis.places(item.points)
    if (_misses(item, axis) < np.sin(settings.off)).mean() < settings.piece or np.quantile(far, 1 - settings.rim) > axis.radius + edge:
        return False
    side = np.abs(item.normals @ axis.along) < np.sin(settings.steep)
    if not axis.upright and side.mean() < settings.side:
        return ends
    if side.sum() < 3:
        return False
    slices = np.array_split(far[side][np.argsort(at[side])], max(1, int(side.sum()) // settings.slice))
    if np.median([np.std(part) for part in slices]) > edge / 2:
        return False
    return not axis.upright or _narrows_to(at[side], far[side], main, axis, edge, settings)


def _narrows_to(at: Array, far: Array, main: Surface, axis: Axis, edge: float, settings: CoaxialSettings) -> bool:
    """Whether what stands narrows to the width of what is above it, so that there is nothing to stand on."""
    foot, below = float(np.quantile(at, settings.rim)), axis.places(main.points)
    width = float(np.median(far[at < foot + 2 * edge]))
    near = (below[0] < foot) & (below[0] > foot - 2 * edge)
    return bool(near.sum() >= 3 and np.quantile(below[1][near], 0.9) < width + edge and width < settings.neck * axis.radius)


def _surface(view: View, item: Segment, edge: float) -> Surface:
    points = rows_of(item.points, item.measured)
    if len(points) < 3:
        return Surface(np.zeros((0, 3)), np.zeros((0, 3)))
    voxels = voxels_of(points, view.eye, edge)
    return Surface(voxels.middle, voxels.normal)


def _touch(item: Segment, other: Segment, low: Array, high: Array, touch: float) -> bool:
    """Whether ``other`` is nearer than ``touch`` [m], what of it is between ``low`` and ``high`` (3,)."""
    near = rows_of(other.points, between(other.points, low, high))
    return bool(len(near) and np.isfinite(cKDTree(near).query(item.points[:: 1 + len(item) // 300], distance_upper_bound=touch)[0]).sum() >= 3)
