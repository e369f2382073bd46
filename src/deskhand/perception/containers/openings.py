"""Whether what was fitted as a small solid is a cup: by how far the camera sees into it.

A cup far away has too few points on its rim to be found by that, and on its far inner wall, all that is seen of its inside, they lie little below the top.
How far lines of sight go on behind the plane of the top tells it all the same, beside how far they would go until they meet the inside.
"""

from __future__ import annotations

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.containers.settings import HOLLOW, OPENING, RIM
from deskhand.perception.fit.solid import Solid
from deskhand.perception.footprint import fit_circle, hull, rectangle
from deskhand.perception.quantiles import median, quantile
from deskhand.perception.rows import lengths, rows_of
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.view import View


def opening_of(view: View, segment: Segment, solid: Solid) -> Hollow | None:
    """The open round object that ``solid`` is; None where it is closed, or nothing tells."""
    if solid.lying or float(solid.size.min()) < RIM.min_side or float(solid.size[:2].max()) > HOLLOW.sorting_round:
        return None
    top, bottom = (float(solid.pose[2, 3] + sign * solid.size[2] / 2) for sign in (1, -1))
    middle = solid.pose[:2, 3]
    fitted = (middle, float(solid.size[:2].mean()) / 2) if solid.shape == "cylinder" else None
    for circle in (fitted, _rim(rows_of(segment.points, segment.measured), top)):
        if circle is not None and np.linalg.norm(circle[0] - middle) < circle[1] and _is_open(view, *circle, top, bottom):
            square = rectangle(circle[0], np.array([2 * circle[1], 2 * circle[1]]), 0.0)
            return Hollow(segment, square, True, top, OPENING.wall, bottom + OPENING.wall, bottom)
    return None


def _is_open(view: View, centre: Array, radius: float, top: float, bottom: float) -> bool:
    """Whether the camera sees into what is round about ``centre`` (2,) between two heights [m], and a rim goes round that."""
    points = _seen_from_above(view, centre, radius, top) if view.eye[2] > top else np.zeros((0, 3))
    if len(points) < OPENING.least:
        return False
    way = points - view.eye
    share = (top - view.eye[2]) / way[:, 2]  # of it where it meets the plane of the top
    across = view.eye[:2] + share[:, None] * way[:, :2] - centre
    inside = lengths(across) < OPENING.middle * radius
    if inside.sum() < OPENING.least:
        return False
    length = lengths(way[inside])
    deep, most = (1 - share[inside]) * length, _through(across[inside], way[inside] / length[:, None], radius, top - bottom)
    if median(most) < OPENING.tells * max(view.noise, OPENING.noise) or quantile(deep / most, 0.25) < OPENING.open:
        return False
    return _far_rim(points, view.eye, centre, radius, top)


def _rim(points: Array, top: float) -> tuple[Array, float] | None:
    """Middle (2,) and radius [m] of the circle that the points (N, 3) at the height of the top go round; None where they do not."""
    rim = points[np.abs(points[:, 2] - top) < OPENING.level][:, :2]
    if len(rim) < OPENING.least:
        return None
    centre, radius, error = fit_circle(hull(rim))
    wide = RIM.min_side / 2 < radius < HOLLOW.sorting_round / 2
    return (centre, radius) if wide and error < OPENING.round * radius else None


def _seen_from_above(view: View, centre: Array, radius: float, top: float) -> Array:
    """Measured points (N, 3) in the part of the picture that shows the top, grown by half."""
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    around = centre + 1.5 * radius * np.column_stack([np.cos(angles), np.sin(angles)])
    pixels = view.frame.project(np.column_stack([around, np.full(len(around), top)]))
    if not np.isfinite(pixels).all():
        return np.zeros((0, 3))
    (left, upper), (right, lower) = np.maximum(pixels.min(axis=0), 0).astype(int), np.maximum(pixels.max(axis=0), 0).astype(int)
    part = slice(upper, lower + 2), slice(left, right + 2)
    return view.points[part][view.valid[part]].astype(float)


def _through(across: Array, rays: Array, radius: float, depth: float) -> Array:
    """How far (N,) [m] lines of sight (N, 3), unit, go on from where they pass the top, (N, 2) from its middle, to the far wall or the floor."""
    level = np.maximum(lengths(rays[:, :2]), 1e-6)
    ahead = (across * rays[:, :2]).sum(axis=1) / level
    to_wall = (np.sqrt(np.maximum(radius**2 - (across**2).sum(axis=1) + ahead**2, 0.0)) - ahead) / level
    return np.asarray(np.maximum(np.minimum(to_wall, depth / np.maximum(-rays[:, 2], 1e-6)), 1e-6))


def _far_rim(points: Array, eye: Array, centre: Array, radius: float, top: float) -> bool:
    """Whether the edge beyond the middle is as high as the top: what is round or pointed is lower there."""
    away = centre - eye[:2]
    offset = points[:, :2] - centre
    ahead, aside = offset @ away, offset @ np.array([-away[1], away[0]])
    out = lengths(offset) / radius
    on_rim = (np.abs(points[:, 2] - top) < OPENING.level) & (out > OPENING.rim[0]) & (out < OPENING.rim[1]) & (ahead > 0)
    counts = np.histogram(np.arctan2(aside[on_rim], ahead[on_rim]), bins=OPENING.bins, range=(-np.pi / 2, np.pi / 2))[0]
    return bool((counts > 0).mean() >= OPENING.goes_round)
