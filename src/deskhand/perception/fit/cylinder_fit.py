"""Round solids: spheres, cylinders that lie or lean."""

from __future__ import annotations

import numpy as np

from deskhand.geometry import Array, make_transform
from deskhand.perception.fit.settings import CYLINDER_FIT
from deskhand.perception.fit.solid import Solid, rms, standing_pose
from deskhand.perception.footprint import fit_round
from deskhand.perception.quantiles import quantile, spread
from deskhand.perception.rows import cross
from deskhand.perception.small_systems import solve_small


def sphere(points: Array, support: float) -> Solid | None:
    """Least squares, outliers trimmed; it must rest on its support."""
    centre, radius, error, _ = fit_round(points, 1e-3)
    # Of a ball seen from above only the upper part is seen, so that it may seem to begin where it does not rest.
    rests = min(abs(centre[2] - height - radius) for height in {support, 0.0}) < 0.15 * radius + 0.002
    if not 0.006 < radius < 0.08 or not rests:
        return None
    return Solid("sphere", make_transform(None, centre), np.full(3, 2 * radius), rms(error))


def lying(points: Array, whole: Array, support: float, eye: Array) -> Solid | None:
    """A cylinder that lies on its side on ``support`` [m]; ``whole`` (M, 3) tells where it ends."""
    axis = np.append(_main_axis(points[:, :2]), 0.0)
    side = np.array([-axis[1], axis[0], 0.0])
    middle = points.mean(axis=0)
    radius = max(0.003, (quantile(points[:, 2], 0.97) - support) / 2)
    toward = float(np.sign((eye - middle) @ side))
    shift = -0.3 * toward * radius
    shift, slope, _, _, radius = _fit_axis(points - middle, axis, side, (shift, 0.0, support + radius - middle[2], 0.0, radius), support - middle[2])
    axis = axis + slope * side
    axis /= np.linalg.norm(axis)
    centre = middle + side * shift
    centre[2] = support + radius
    low, high = _ends((whole - centre) @ axis)
    if not 0.002 < radius < 0.06 or high - low < 1.25 * 2 * radius:
        return None
    centre = centre + axis * (low + high) / 2
    yaw = float((np.arctan2(axis[1], axis[0]) + np.pi / 2) % np.pi - np.pi / 2)
    return _cylinder(standing_pose(centre[0], centre[1], centre[2], yaw), high - low, radius, points)


def leaning(points: Array, whole: Array, eye: Array) -> Solid | None:
    """A long cylinder whose axis is neither level nor upright, wherever it is."""
    middle = points.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((points - middle).T))
    axis = vectors[:, 2]
    if values[2] < 9 * values[1] or not np.sin(CYLINDER_FIT.leans) < abs(axis[2]) < 0.97:
        return None
    side = np.cross([0.0, 0.0, 1.0], axis)
    side /= np.linalg.norm(side)
    up = np.cross(axis, side)
    radius = max(0.003, 2.1 * float(np.sqrt(values[1])))
    toward = eye - middle
    toward = toward / float(np.linalg.norm(toward))
    start = (-0.7 * radius * float(toward @ side), 0.0, -0.7 * radius * float(toward @ up), 0.0, radius)
    shift, slope, rise, climb, radius = _fit_axis(points - middle, axis, side, start, None)
    centre = middle + side * shift + up * rise
    axis = axis + slope * side + climb * up
    axis /= np.linalg.norm(axis)
    low, high = _ends((whole - centre) @ axis)
    if not 0.003 < radius < 0.03 or high - low < 3 * 2 * radius or abs(axis[2]) < np.sin(CYLINDER_FIT.leans):
        return None
    side = np.cross([0.0, 0.0, 1.0], axis)
    side /= np.linalg.norm(side)
    pose = make_transform(np.column_stack([axis, side, np.cross(axis, side)]), centre + axis * (low + high) / 2)
    return _cylinder(pose, high - low, radius, points)


def _cylinder(pose: Array, length: float, radius: float, points: Array) -> Solid:
    local = (points - pose[:3, 3]) @ pose[:3, :3]
    body = np.abs(local[:, 0]) < CYLINDER_FIT.body * length if length > CYLINDER_FIT.long * 2 * radius else np.ones(len(local), bool)
    error = rms(np.hypot(local[body, 1], local[body, 2]) - radius) if body.any() else np.inf
    return Solid("cylinder", pose, np.array([length, 2 * radius, 2 * radius]), error, lying=True)


def _ends(along: Array) -> tuple[float, float]:
    low, high = spread(along, 0.02, 0.98)
    rest = 0.02 / 0.96 * (high - low)
    return low - rest, high + rest


def _fit_axis(
    points: Array, axis: Array, side: Array, start: tuple[float, float, float, float, float], floor: float | None
) -> tuple[float, float, float, float, float]:
    """A cylinder about nearly ``axis`` through points (N, 3), by robust Gauss-Newton steps.

    Returns shift and slope along ``side``, the same upwards, and the radius. With ``floor`` it lies on that height: nothing upwards is free.
    """
    up = cross(axis, side)
    points = points[:: 1 + len(points) // CYLINDER_FIT.fit_points]
    t, x, z = points @ axis, points @ side, points @ up
    s1, a1, s2, a2, radius = start
    free = 3 if floor is not None else 5
    jacobian, small = np.full((free, len(t)), -1.0), 1e-7 * np.eye(free)  # the third row, that of the radius, stays so without a floor
    for _ in range(8):
        if floor is not None:
            s2, a2 = floor + radius, 0.0
        dx, dz = x - s1 - a1 * t, z - s2 - a2 * t
        length = np.maximum(np.hypot(dx, dz), 1e-6)
        residual = length - radius
        weight = 1.0 / (1.0 + (residual / 0.002) ** 2)
        dx, dz = dx / length, dz / length
        np.negative(dx, out=jacobian[0])
        np.multiply(t, jacobian[0], out=jacobian[1])
        if floor is not None:
            np.subtract(-1.0, dz, out=jacobian[2])
        else:
            np.negative(dz, out=jacobian[3])
            np.multiply(t, jacobian[3], out=jacobian[4])
        weighted = jacobian * weight
        normal, right = weighted @ jacobian.T + small, -(weighted @ residual)
        if floor is None:  # an arc alone says little of the radius; how wide the object looks says more
            normal[2, 2] += CYLINDER_FIT.width * len(t)
            right[2] += CYLINDER_FIT.width * len(t) * (start[4] - radius)
        step = solve_small(normal, right)
        s1, a1, radius = s1 + _within(step[0], 0.01), a1 + _within(step[1], 0.05), max(0.001, radius + _within(step[2], 0.01))
        if floor is None:
            s2, a2 = s2 + _within(step[3], 0.01), a2 + _within(step[4], 0.05)
        if max(map(abs, step)) < 4e-4:
            break
    if floor is not None:
        s2 = floor + radius
    return s1, a1, s2, a2, radius


def _within(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


def _main_axis(ground: Array) -> Array:
    near = ground - ground.mean(axis=0)
    _, vectors = np.linalg.eigh(near.T @ near)
    return np.asarray(vectors[:, 1])
