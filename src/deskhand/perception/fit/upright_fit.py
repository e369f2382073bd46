"""Standing boxes and cylinders whose level top is seen: the footprint is that of the top."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.fit.settings import UPRIGHT_FIT
from deskhand.perception.fit.solid import Solid, rms, standing_pose, surface_distance
from deskhand.perception.footprint import filled_rectangle, fit_circle, hull, hull_area, tight_rectangle
from deskhand.perception.quantiles import median, quantile, spread
from deskhand.perception.rows import lengths


def top_height(z: Array) -> float:
    """Height of the highest level with many points: robust against flying pixels, not below the true top of a flat object."""
    high = quantile(z, 0.985)
    lowest = high - 0.012
    numbers = np.floor((z[z >= lowest] - lowest) * 1000.0).astype(np.int64)
    counts = np.convolve(np.bincount(numbers[numbers < UPRIGHT_FIT.levels], minlength=UPRIGHT_FIT.levels), [0.25, 0.5, 1, 0.5, 0.25], "same")
    strong = np.nonzero(counts > 0.6 * counts.max())[0]
    mode = float(lowest + 0.001 * strong[-1] + 0.0005)
    level = z[np.abs(z - mode) < 0.003]
    return float(np.mean(level)) if len(level) else high


def from_top(points: Array, plateau: Array, top: float, support: float, eye: Array) -> Solid:
    """A box or a cylinder whose top, the ``plateau`` (M, 3) among its points (N, 3), is seen whole."""
    ground = plateau[:, :2]
    if len(plateau) < 12:
        whole = tight_rectangle(points[:, :2])
        return upright(points, whole.centre, whole.size, whole.yaw, top, support, "other", 0.0)
    outline = hull(ground)
    area = hull_area(outline)
    box = tight_rectangle(outline)
    share = min(1.0, area / max(1e-9, hull_area(points[:, :2]))) if box.size[1] > UPRIGHT_FIT.strip else 0.0
    roundness = area / max(1e-9, float(np.prod(box.size)))
    filled = filled_rectangle(ground)
    centre, size = _near_sides(points, filled.centre, filled.size, filled.yaw, top, eye)
    as_box = upright(points, centre, size, filled.yaw, top, support, "box", share)
    if roundness > 0.96 or box.size[1] / box.size[0] < 0.72 or box.size[0] > 0.12:
        return as_box
    centre, radius = _disc(points, outline, top)
    as_cylinder = upright(points, centre, np.array([2 * radius, 2 * radius]), 0.0, top, support, "cylinder", share)
    # The top's outline is pi / 4 of its rectangle for a disc and all of it for a box; holes at its corners make less of it.
    doubt_box, doubt_cylinder = max(0.0, 0.88 - roundness), max(0.0, roundness - 0.88)
    return as_box if as_box.error + UPRIGHT_FIT.outline_weight * doubt_box <= as_cylinder.error + UPRIGHT_FIT.outline_weight * doubt_cylinder else as_cylinder


def boxes_along_edges(points: Array, top: float, support: float) -> list[Solid]:
    """Boxes around points (N, 3), each along one of the longest straight edges of their outline: what is cut off by something before it keeps some edges."""
    ground = points[:, :2]
    corners = cv2.approxPolyDP(hull(ground).astype(np.float32).reshape(-1, 1, 2), UPRIGHT_FIT.rough, True).reshape(-1, 2).astype(float)
    edges = np.roll(corners, -1, axis=0) - corners
    yaws: list[float] = []
    for edge in edges[np.argsort(-np.linalg.norm(edges, axis=1))]:
        yaw = float(np.arctan2(edge[1], edge[0]))
        if (
            np.linalg.norm(edge) > UPRIGHT_FIT.edge
            and len(yaws) < UPRIGHT_FIT.ways
            and all(abs((yaw - other + np.pi / 4) % (np.pi / 2) - np.pi / 4) > UPRIGHT_FIT.turned for other in yaws)
        ):
            yaws.append(yaw)
    found = []
    for yaw in yaws:
        c, s = np.cos(yaw), np.sin(yaw)
        rotation = np.array([[c, -s], [s, c]])
        low, high = np.array([spread(column, UPRIGHT_FIT.trim, 1 - UPRIGHT_FIT.trim) for column in (ground @ rotation).T]).T
        found.append(upright(points, rotation @ ((low + high) / 2), high - low, yaw, top, support, "box", 0.0))
    return found


def upright(points: Array, centre: Array, size: Array, yaw: float, top: float, support: float, shape: str, share: float) -> Solid:
    """The solid with this footprint between two heights [m], and how far ``points`` are from its surface."""
    if size[1] > size[0]:
        size, yaw = size[::-1], yaw + np.pi / 2
    yaw = float((yaw + np.pi / 2) % np.pi - np.pi / 2)
    pose = standing_pose(centre[0], centre[1], (top + support) / 2, yaw)
    extent = np.array([size[0], size[1], max(0.002, top - support)])
    solid = Solid(shape, pose, extent, 0.0, flat_top=share)
    return replace(solid, error=rms(surface_distance(solid, points)))


def _disc(points: Array, outline: Array, top: float) -> tuple[Array, float]:
    """Circle of a standing cylinder: from the outline of its top, and its side where enough of it is seen."""
    centre, radius, _ = fit_circle(outline)
    side = points[points[:, 2] < top - 0.006][:, :2]
    if len(side) < 40:
        return centre, radius
    # The side gives a sharp near arc; the top fixes the far end.
    near = side[np.abs(lengths(side - centre) - radius) < 0.006]
    if len(near) < 30:
        return centre, radius
    arc_centre, arc_radius, error = fit_circle(near)
    if error < 0.003 and abs(arc_radius - radius) < 0.25 * radius and np.linalg.norm(arc_centre - centre) < 0.005:
        return (centre + arc_centre) / 2, (radius + arc_radius) / 2
    return centre, radius


def _near_sides(points: Array, centre: Array, size: Array, yaw: float, top: float, eye: Array) -> tuple[Array, Array]:
    """Move the sides that face the camera to where their points are; averaging many makes them exact."""
    c, s = np.cos(yaw), np.sin(yaw)
    rotation = np.array([[c, -s], [s, c]])
    side = points[points[:, 2] < top - 0.006]
    local, view = (side[:, :2] - centre) @ rotation, (eye[:2] - centre) @ rotation
    low, high = -size / 2, size / 2
    for axis in (0, 1):
        sign = 1.0 if view[axis] > 0 else -1.0
        if abs(view[axis]) < size[axis] / 2 + 0.05:
            continue
        edge = (high if sign > 0 else low)[axis]
        other = np.abs(local[:, 1 - axis]) < size[1 - axis] / 2 - 0.004
        face = local[other & (np.abs(local[:, axis] - edge) < 0.006), axis]
        if len(face) >= 25:
            (high if sign > 0 else low)[axis] = median(face)
    return centre + rotation @ ((low + high) / 2), high - low
