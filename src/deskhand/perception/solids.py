"""The solid that a segment is part of: box, standing or lying cylinder, sphere; with its support plane known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.geometry import Array, make_transform
from deskhand.perception.footprint import filled_rectangle, fit_circle, hull, hull_area, tight_rectangle
from deskhand.perception.segmentation import Segment
from deskhand.perception.view import Mask, View

_MAX_POINTS = 900
_OUTLINE_WEIGHT = 0.008  # [m] of surface error that a wholly wrong outline counts as


@dataclass(frozen=True)
class Solid:
    """An oriented box with a shape in it.

    Attributes:
        shape: ``box``, ``cylinder``, ``sphere`` or ``other``.
        pose: centre; x along the longest horizontal side, z up.
        size: extents (3,) [m] along the axes of ``pose``.
        error: rms distance [m] of the points from the shape's surface.
        lying: a cylinder whose axis is the pose's x.
        flat_top: share of the footprint that is at the height of the top.
    """

    shape: str
    pose: Array
    size: Array
    error: float
    lying: bool = False
    flat_top: float = 0.0


def surface_distance(solid: Solid, points: Array) -> Array:
    """Signed distance (N,) [m] of world points from the surface, negative inside."""
    local = (points - solid.pose[:3, 3]) @ solid.pose[:3, :3]
    half = solid.size / 2
    if solid.shape == "sphere":
        return np.asarray(np.linalg.norm(local, axis=1) - half[0])
    if solid.shape == "cylinder":
        axis, across = (0, (1, 2)) if solid.lying else (2, (0, 1))
        gap = np.column_stack([np.hypot(local[:, across[0]], local[:, across[1]]) - half[across[0]], np.abs(local[:, axis]) - half[axis]])
    else:
        gap = np.abs(local) - half
    outside = np.linalg.norm(np.maximum(gap, 0.0), axis=1)
    return np.asarray(np.where(outside > 0, outside, gap.max(axis=1)))


class SolidFits:
    """Fits of one look, each made once: cutting, joining and placing ask for the same ones."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[tuple[int, float], tuple[Segment, Solid]] = {}

    def of(self, item: Segment, support: float = 0.0) -> Solid:
        """The solid of a segment that stands at height ``support`` [m]."""
        key = (id(item), round(support, 5))
        if key not in self._known:
            # The segment is kept with its fit, so that its id stays its own.
            self._known[key] = item, fit_solid(item.points, item.measured, support, self._view.eye, self._view.noise)
        return self._known[key][1]


def fit_solid(points: Array, measured: Mask, support: float, eye: Array, noise: float) -> Solid:
    """The solid on a plane at height ``support`` [m] whose seen points are ``points`` (N, 3); the camera is at ``eye`` (3,).

    Points that are not ``measured`` (N,) tell where the outline is, but not how the surface is curved.
    """
    if len(points) > _MAX_POINTS:
        chosen = np.random.default_rng(0).permutation(len(points))[:_MAX_POINTS]
        points, measured = points[chosen], measured[chosen]
    whole = points
    points = points[measured] if measured.sum() >= 20 else points
    top = _top_height(points[:, 2])
    band = max(0.003, 2.2 * noise)
    plateau = whole[np.abs(whole[:, 2] - top) < band]
    outline = tight_rectangle(points[:, :2])
    candidates = [_sphere(points, support, noise)]
    if outline.size[0] > 1.6 * outline.size[1] or outline.size[1] > top - support:
        candidates.append(_lying(points, whole, support, eye))
    candidates += [_prism(points, plateau, top, support, eye)]
    solids = [item for item in candidates if item is not None]
    return min(solids, key=lambda item: item.error)


def _top_height(z: Array) -> float:
    """Height of the highest level with many points: robust against flying pixels, not below the true top of a flat thing."""
    high = float(np.quantile(z, 0.985))
    edges = np.arange(high - 0.012, high + 0.003, 0.001)
    counts = np.convolve(np.histogram(z, edges)[0], [0.25, 0.5, 1, 0.5, 0.25], "same")
    strong = np.nonzero(counts > 0.6 * counts.max())[0]
    mode = float(edges[strong[-1]] + 0.0005)
    level = z[np.abs(z - mode) < 0.003]
    return float(np.mean(level)) if len(level) else high


def _frame(x: float, y: float, z: float, yaw: float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return make_transform([[c, -s, 0], [s, c, 0], [0, 0, 1]], [x, y, z])


def _sphere(points: Array, support: float, noise: float) -> Solid | None:
    """Least squares, outliers trimmed; it must rest on its support."""
    keep = np.ones(len(points), bool)
    centre, radius, error = np.zeros(3), 0.0, np.zeros(len(points))
    for _ in range(3):
        p = points[keep]
        solution = np.linalg.lstsq(np.column_stack([2 * p, np.ones(len(p))]), (p**2).sum(axis=1), rcond=None)[0]
        centre = solution[:3]
        radius = float(np.sqrt(max(solution[3] + centre @ centre, 1e-9)))
        error = np.abs(np.linalg.norm(points - centre, axis=1) - radius)
        keep = error <= max(1e-3, 2.5 * float(np.median(error)))
    rests = abs(centre[2] - support - radius) < 0.15 * radius + 0.002
    if not 0.006 < radius < 0.08 or not rests:
        return None
    rms = float(np.sqrt(np.mean(np.minimum(error, 0.01) ** 2)))
    return Solid("sphere", make_transform(None, centre), np.full(3, 2 * radius), rms)


def _lying(points: Array, whole: Array, support: float, eye: Array) -> Solid | None:
    """A cylinder that lies on its side: axis from the footprint, then section (across, height) on a circle that touches the support."""
    ground = points[:, :2]
    axis = _main_axis(ground)
    middle = ground.mean(axis=0)
    for _ in range(2):
        side = np.array([-axis[1], axis[0]])
        across, height = (ground - middle) @ side, points[:, 2] - support
        radius0 = max(0.003, float(np.quantile(height, 0.97)) / 2)
        toward = float(np.sign((eye[:2] - middle) @ side))

        shift, radius = _resting_circle(across, height, float(np.median(across)) - 0.3 * toward * radius0, radius0)
        middle = middle + side * shift
        # The ridge says where the axis runs better than the whole visible half does.
        ridge = np.abs((ground - middle) @ side) < 0.6 * radius
        if ridge.sum() < 20:
            break
        axis = _main_axis(ground[ridge]) if ridge.sum() > 40 else axis
    along = (whole[:, :2] - middle) @ axis
    low, high = np.quantile(along, [0.02, 0.98])
    low, high = low - 0.02 / 0.96 * (high - low), high + 0.02 / 0.96 * (high - low)
    if not 0.002 < radius < 0.06 or high - low < 1.25 * 2 * radius:
        return None
    centre = middle + axis * (low + high) / 2
    yaw = float((np.arctan2(axis[1], axis[0]) + np.pi / 2) % np.pi - np.pi / 2)
    error = np.abs(np.hypot((ground - centre) @ np.array([-axis[1], axis[0]]), points[:, 2] - support - radius) - radius)
    rms = float(np.sqrt(np.mean(np.minimum(error, 0.01) ** 2)))
    size = np.array([high - low, 2 * radius, 2 * radius])
    return Solid("cylinder", _frame(centre[0], centre[1], support + radius, yaw), size, rms, lying=True)


def _resting_circle(across: Array, height: Array, shift: float, radius: float) -> tuple[float, float]:
    """Circle on the line height = 0 through section points: its place across and its radius, by robust Gauss-Newton steps."""
    every = 1 + len(across) // 300
    across, height = across[::every], height[::every]
    for _ in range(12):
        dx, dz = across - shift, height - radius
        length = np.maximum(np.hypot(dx, dz), 1e-6)
        residual = length - radius
        weight = 1.0 / (1.0 + (residual / 0.002) ** 2)
        jacobian = np.column_stack([-dx / length, -dz / length - 1.0])
        normal = jacobian.T @ (jacobian * weight[:, None]) + 1e-9 * np.eye(2)
        step = np.linalg.solve(normal, -jacobian.T @ (weight * residual))
        shift, radius = shift + float(np.clip(step[0], -0.01, 0.01)), max(0.001, radius + float(np.clip(step[1], -0.01, 0.01)))
        if np.abs(step).max() < 1e-5:
            break
    return shift, radius


def _main_axis(ground: Array) -> Array:
    values, vectors = np.linalg.eigh(np.cov(ground.T))
    return np.asarray(vectors[:, int(np.argmax(values))])


def _prism(points: Array, plateau: Array, top: float, support: float, eye: Array) -> Solid:
    """A standing thing with a level top: its footprint is that of the top, which the camera sees whole."""
    ground = plateau[:, :2]
    whole = tight_rectangle(points[:, :2])
    if len(plateau) < 12:
        return _upright(points, whole.centre, whole.size, whole.yaw, top, support, "other", 0.0)
    share = min(1.0, hull_area(ground) / max(1e-9, hull_area(points[:, :2])))
    box = tight_rectangle(ground)
    roundness = hull_area(ground) / max(1e-9, float(np.prod(box.size)))
    filled = filled_rectangle(ground)
    centre, size = _near_sides(points, filled.centre, filled.size, filled.yaw, top, eye)
    as_box = _upright(points, centre, size, filled.yaw, top, support, "box", share)
    if roundness > 0.96 or box.size[1] / box.size[0] < 0.72 or box.size[0] > 0.12:
        return as_box
    centre, radius = _disc(points, ground, top, eye)
    as_cylinder = _upright(points, centre, np.array([2 * radius, 2 * radius]), 0.0, top, support, "cylinder", share)
    # The top's outline is pi / 4 of its rectangle for a disc and all of it for a box; holes at its corners make less of it.
    doubt_box, doubt_cylinder = max(0.0, 0.88 - roundness), max(0.0, roundness - 0.88)
    return as_box if as_box.error + _OUTLINE_WEIGHT * doubt_box <= as_cylinder.error + _OUTLINE_WEIGHT * doubt_cylinder else as_cylinder


def _upright(points: Array, centre: Array, size: Array, yaw: float, top: float, support: float, shape: str, share: float) -> Solid:
    if size[1] > size[0]:
        size, yaw = size[::-1], yaw + np.pi / 2
    yaw = float((yaw + np.pi / 2) % np.pi - np.pi / 2)
    pose = _frame(centre[0], centre[1], (top + support) / 2, yaw)
    extent = np.array([size[0], size[1], max(0.002, top - support)])
    solid = Solid(shape, pose, extent, 0.0, flat_top=share)
    distance = np.abs(surface_distance(solid, points))
    rms = float(np.sqrt(np.mean(np.minimum(distance, 0.01) ** 2)))
    return replace(solid, error=rms)


def _disc(points: Array, ground: Array, top: float, eye: Array) -> tuple[Array, float]:
    """Circle of a standing cylinder: from the outline of its top, and its side where enough of it is seen."""
    centre, radius, _ = fit_circle(hull(ground))
    side = points[points[:, 2] < top - 0.006][:, :2]
    if len(side) < 40:
        return centre, radius
    # The side gives a sharp near arc; the top fixes the far end.
    near = side[np.abs(np.linalg.norm(side - centre, axis=1) - radius) < 0.006]
    if len(near) < 30:
        return centre, radius
    arc_centre, arc_radius, rms = fit_circle(near)
    if rms < 0.003 and abs(arc_radius - radius) < 0.25 * radius and np.linalg.norm(arc_centre - centre) < 0.005:
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
            (high if sign > 0 else low)[axis] = float(np.median(face))
    return centre + rotation @ ((low + high) / 2), high - low
