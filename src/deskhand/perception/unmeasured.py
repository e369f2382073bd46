"""Things without depth: glass and mirrors leave holes in it, whose outline and colour in the picture tell that something stands there.

What is transparent or shiny is what depth sensors cannot measure (Sajjan et al., *Clear Grasp*, 2020). Where the table is seen round about such a hole and
the hole is of another colour, an upright cylinder on the table is laid through its outline, and its surface stands for the depth that is missing. Of dark cups
the rim is measured, though neither the inside nor all of the outside is: there the cylinder is that of the rim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import cv2
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from deskhand.geometry import Array
from deskhand.perception.footprint import fit_circle, hull
from deskhand.perception.frame_settings import UNMEASURED
from deskhand.perception.quantiles import quantile
from deskhand.perception.rows import lengths
from deskhand.perception.table import TableFit
from deskhand.perception.view import Mask
from deskhand.types import Frame


@dataclass(frozen=True)
class _Hole:
    """A blob of pixels without depth: ``window`` of the picture, ``own`` (h, w) which of its pixels."""

    window: tuple[slice, slice]
    own: Mask


def with_guesses(frame: Frame, fit: TableFit) -> Frame:
    """A levelled frame in which things without depth have that of an upright cylinder in their outline."""
    depth = frame.depth
    for hole in _holes(frame, fit):
        if not _stands_out(frame, hole):
            continue
        solid = _cylinder(frame, hole)
        if solid is not None:
            depth = depth.copy() if depth is frame.depth else depth
            part = depth[hole.window]
            inside = hole.own & ~np.isfinite(part)
            part[inside] = _seen_depth(frame, hole, _with_rim(frame, hole, solid))[inside]
    return frame if depth is frame.depth else replace(frame, depth=depth)


def _holes(frame: Frame, fit: TableFit) -> Iterator[_Hole]:
    """Blobs without depth on the table, not too small and not too large to be a thing on it."""
    missing = (~np.isfinite(frame.depth)).astype(np.uint8)
    closed = cv2.morphologyEx(missing, cv2.MORPH_CLOSE, np.ones((UNMEASURED.close, UNMEASURED.close), np.uint8))
    count, labels, facts, middles = cv2.connectedComponentsWithStats(closed, connectivity=8)
    half, centre = np.asarray(fit.table.size) / 2, fit.table.pose[:2, 3]
    height, width = missing.shape
    for number in range(1, count):
        left, top, wide, high, area = (int(value) for value in facts[number])
        if area < UNMEASURED.least or max(wide, high) > UNMEASURED.most or area < UNMEASURED.compact * wide * high:
            continue
        if left == 0 or top == 0 or left + wide == width or top + high == height:
            continue
        eye, ray = frame.world_T_camera[:3, 3], _rays(frame, np.array([middles[number]]))[0]
        if ray[2] > -0.05 or (np.abs((eye - ray * (eye[2] / ray[2]))[:2] - centre) > half).any():
            continue
        reach = UNMEASURED.gap + UNMEASURED.ring
        window = slice(max(0, top - reach), top + high + reach), slice(max(0, left - reach), left + wide + reach)
        yield _Hole(window, labels[window] == number)


def _stands_out(frame: Frame, hole: _Hole) -> bool:
    """Whether the table is seen round about a hole, in another colour: what stands before the sensor's light leaves holes in the table's own."""
    own = hole.own.astype(np.uint8)
    inner, outer = (cv2.dilate(own, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)) for reach in (UNMEASURED.gap, UNMEASURED.gap + UNMEASURED.ring))
    inside = cv2.erode(own, np.ones((3, 3), np.uint8)) > 0
    v, u = np.nonzero(outer > inner)
    depth = frame.depth[hole.window][v, u].astype(float)
    rays = _rays(frame, np.column_stack([u + hole.window[1].start, v + hole.window[0].start]))
    with np.errstate(invalid="ignore"):
        height = frame.world_T_camera[2, 3] + rays[:, 2] * depth
        table, raised = np.abs(height) < UNMEASURED.flat, height > UNMEASURED.flat
    if table.mean() < UNMEASURED.around:
        return False
    color = frame.color[hole.window].astype(float) + 8.0
    chroma = color / color.sum(axis=-1, keepdims=True)
    own_hue, table_hue = np.median(chroma[inside], axis=0), np.median(chroma[v[table], u[table]], axis=0)
    if raised.mean() > UNMEASURED.beside and np.linalg.norm(own_hue - np.median(chroma[v[raised], u[raised]], axis=0)) < UNMEASURED.color:
        return False  # a part of what is measured beside it
    lights = [float(np.median(part)) for part in (color[inside].sum(axis=-1), color[v[table], u[table]].sum(axis=-1))]
    return bool(np.linalg.norm(own_hue - table_hue) > UNMEASURED.color or max(lights) > UNMEASURED.light * min(lights))


def _cylinder(frame: Frame, hole: _Hole) -> Array | None:
    """x, y, radius and height (4,) [m] of the upright cylinder on the table whose outline is that of a hole best; None where none is."""
    v, u = np.nonzero(hole.own)
    pixels = np.column_stack([u + hole.window[1].start, v + hole.window[0].start])
    eye = frame.world_T_camera[:3, 3]
    ray = _rays(frame, pixels[[int(v.argmax())]])[0]
    near = eye - ray * (eye[2] / ray[2])
    away = (near - eye)[:2] / max(1e-6, float(np.linalg.norm((near - eye)[:2])))
    wide = float(np.ptp(u)) / frame.intrinsics.fx * float(np.linalg.norm(near - eye))
    found: list[tuple[float, Array]] = []
    for slim in UNMEASURED.slim:
        start = np.array([*(near[:2] + away * wide / 2), wide / 2])
        simplex = np.vstack([start, start + np.diag([0.008, 0.008, 0.2 * start[2]])])
        cost = partial(_miss, frame, hole, slim)
        result = minimize(cost, start, method="Nelder-Mead", options={"maxfev": UNMEASURED.tries, "initial_simplex": simplex})
        found.append((float(result.fun), _upright(result.x, slim)))
    least = min(miss for miss, _ in found)
    alike = [solid for miss, solid in found if miss < least + UNMEASURED.alike]
    solid = alike[int(np.argmin([abs(np.log(each[3] / (2 * UNMEASURED.likely * each[2]))) for each in alike]))]
    fits = least < 1.0 - UNMEASURED.overlap and UNMEASURED.narrow < 2 * solid[2] < UNMEASURED.wide and UNMEASURED.low < solid[3] < UNMEASURED.high
    return solid if fits else None


def _miss(frame: Frame, hole: _Hole, slim: float, where: Array) -> float:
    return 1.0 - _overlap(frame, hole, _upright(where, slim))


def _upright(where: Array, slim: float) -> Array:
    """The cylinder (4,) at x, y with a radius (3,) [m] that is ``slim`` times as high as wide."""
    return np.array([*where, 2 * slim * where[2]])


def _overlap(frame: Frame, hole: _Hole, solid: Array) -> float:
    """Intersection over union of a hole with the outline of an upright cylinder (4,)."""
    x, y, radius, height = solid
    if radius < 0.003 or height < 0.003:
        return 0.0
    angle = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
    ring = np.column_stack([x + radius * np.cos(angle), y + radius * np.sin(angle)])
    points = np.vstack([np.column_stack([ring, np.full(len(ring), z)]) for z in (0.0, height)])
    places = frame.project(points) - [hole.window[1].start, hole.window[0].start]
    if not np.isfinite(places).all() or np.abs(places).max() > 2000:
        return 0.0
    drawn = np.zeros(hole.own.shape, np.uint8)
    cv2.fillConvexPoly(drawn, cv2.convexHull(np.rint(places * 16).astype(np.int32)), 1, shift=4)
    inside = drawn.astype(bool)
    return float((inside & hole.own).sum() / (inside | hole.own).sum())


def _with_rim(frame: Frame, hole: _Hole, solid: Array) -> Array:
    """The cylinder (4,) on whose upper end a rim lies that is measured round about a hole, higher than that of ``solid``; that where there is no such rim."""
    x, y, radius, height = solid
    v, u = np.mgrid[hole.window][:, : hole.own.shape[0], : hole.own.shape[1]]
    eye, rays = frame.world_T_camera[:3, 3], _rays(frame, np.column_stack([u.reshape(-1), v.reshape(-1)]))
    depth = frame.depth[hole.window].reshape(-1).astype(float)
    points = eye + rays * depth[:, None]
    with np.errstate(invalid="ignore"):
        higher = points[:, 2] > height + UNMEASURED.rim
    rim = points[higher & (lengths(points[:, :2] - [x, y]) < UNMEASURED.rim_reach * radius)]
    if len(rim) < UNMEASURED.rim_points:
        return solid
    centre, wide, error = fit_circle(hull(rim[:, :2]))
    top = quantile(rim[:, 2], UNMEASURED.rim_top)
    turns = np.histogram(np.arctan2(*(rim[:, :2] - centre).T), bins=12, range=(-np.pi, np.pi))[0]
    through = eye[:2] + rays[:, :2] * ((top - eye[2]) / rays[:, 2])[:, None] - centre
    within = lengths(through) < UNMEASURED.rim_inside * wide
    is_rim = (
        error < UNMEASURED.rim_off * wide
        and (turns > 0).mean() >= UNMEASURED.rim_round
        and within.any()
        and np.isnan(depth[within]).mean() > UNMEASURED.rim_hole
    )
    return np.array([*centre, wide, top]) if is_rim and 2 * wide < UNMEASURED.wide and top < UNMEASURED.high else solid


def _seen_depth(frame: Frame, hole: _Hole, solid: Array) -> npt.NDArray[np.float32]:
    """Depth (h, w) [m] of the surface of an upright cylinder in the window of a hole, NaN beside it."""
    x, y, radius, height = solid
    v, u = np.mgrid[hole.window][:, : hole.own.shape[0], : hole.own.shape[1]]
    rays = _rays(frame, np.column_stack([u.reshape(-1), v.reshape(-1)]))
    begin = frame.world_T_camera[:3, 3] - [x, y, 0.0]
    with np.errstate(divide="ignore", invalid="ignore"):
        top = (height - begin[2]) / rays[:, 2]
        on_top = np.hypot(begin[0] + top * rays[:, 0], begin[1] + top * rays[:, 1]) < radius
        a, b, c = (rays[:, :2] ** 2).sum(axis=1), rays[:, :2] @ begin[:2], float(begin[:2] @ begin[:2]) - radius**2
        side = (-b - np.sqrt(b * b - a * c)) / a
        z = begin[2] + side * rays[:, 2]
        on_side = (z > 0) & (z < height)
    depth = np.where(on_top, top, np.where(on_side, side, np.nan))
    return np.asarray(depth.reshape(hole.own.shape), np.float32)


def _rays(frame: Frame, pixels: Array) -> Array:
    """Directions (N, 3) in the world, at depth 1, of the rays through pixels (N, 2) u, v."""
    k = frame.intrinsics
    rays = np.column_stack([(pixels[:, 0] - k.cx) / k.fx, (pixels[:, 1] - k.cy) / k.fy, np.ones(len(pixels))])
    return np.asarray(rays @ frame.world_T_camera[:3, :3].T)
