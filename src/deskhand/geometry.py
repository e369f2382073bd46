"""Rigid transforms, said once for the whole package.

- ``a_T_b`` is a (4, 4) float64 matrix that takes points in frame b to frame a.
- Quaternions are ``xyzw``, as in ROS; transforms3d is wxyz and is wrapped here only.
- Lengths are in metres, angles in radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from transforms3d import quaternions as _quaternions

from deskhand.errors import DeskhandError

Array = npt.NDArray[np.float64]
_UNIT = np.eye(3)


def identity() -> Array:
    """The (4, 4) identity."""
    return np.eye(4)


def make_transform(rotation: npt.ArrayLike | None = None, translation: npt.ArrayLike | None = None) -> Array:
    """(4, 4) from a (3, 3) rotation and a (3,) translation [m]; either may be left out."""
    transform = np.eye(4)
    if rotation is not None:
        transform[:3, :3] = np.asarray(rotation, dtype=float)
    if translation is not None:
        transform[:3, 3] = np.asarray(translation, dtype=float)
    return transform


def inverse(transform: Array) -> Array:
    """Inverse of a rigid transform: b_T_a from a_T_b."""
    result = np.eye(4)
    result[:3, :3] = transform[:3, :3].T
    result[:3, 3] = -transform[:3, :3].T @ transform[:3, 3]
    return result


def transform_points(a_T_b: Array, points: npt.ArrayLike) -> Array:
    """Points (..., 3) in b to a."""
    return np.asarray(np.asarray(points, dtype=float) @ a_T_b[:3, :3].T + a_T_b[:3, 3])


def quaternion_from_matrix(rotation: npt.ArrayLike) -> Array:
    """Unit quaternion xyzw (4,) of a (3, 3) rotation."""
    w, x, y, z = _quaternions.mat2quat(np.asarray(rotation, dtype=float)[:3, :3])
    return np.array([x, y, z, w])


def matrix_from_quaternion(xyzw: Sequence[float] | Array) -> Array:
    """(3, 3) rotation of a quaternion xyzw.

    Raises:
        DeskhandError: ``invalid_input`` when it is not finite or its norm is not within 1 % of 1.
    """
    quaternion = np.asarray(xyzw, dtype=float)
    norm = float(np.linalg.norm(quaternion)) if quaternion.shape == (4,) else float("nan")
    if not np.isfinite(norm) or abs(norm - 1.0) > 0.01:
        raise DeskhandError("invalid_input", f"the quaternion (xyzw) {list(xyzw)} is not of unit length.")
    x, y, z, w = quaternion / norm
    return np.asarray(_quaternions.quat2mat([w, x, y, z]), dtype=float)


def pose_from_xyz_quaternion(xyz: npt.ArrayLike, xyzw: Sequence[float] | Array) -> Array:
    """(4, 4) from a position [m] and a quaternion xyzw."""
    return make_transform(matrix_from_quaternion(xyzw), xyz)


def rotation_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """(3, 3) rotation from fixed-axis roll, pitch, yaw [rad], as in URDF: Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(rotation: Array) -> Array:
    """Roll, pitch, yaw (3,) [rad] of a (3, 3) or (4, 4) matrix; the inverse of :func:`rotation_rpy`."""
    r = rotation[:3, :3]
    cos_pitch = float(np.hypot(r[0, 0], r[1, 0]))
    pitch = np.arctan2(-r[2, 0], cos_pitch)
    if cos_pitch < 1e-6:  # roll and yaw turn about the same axis: all of it is called roll; nearer to it both would be of rounding errors
        return np.array([np.arctan2(-r[1, 2], r[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(r[2, 1], r[2, 2]), pitch, np.arctan2(r[1, 0], r[0, 0])])


def pose_from_xyz_rpy(xyz: npt.ArrayLike, rpy: Sequence[float]) -> Array:
    """(4, 4) from a position [m] and URDF roll, pitch, yaw [rad]."""
    return make_transform(rotation_rpy(*rpy), xyz)


def rotation_about(axis: npt.ArrayLike, angle: float | Array) -> Array:
    """(..., 3, 3) rotation by ``angle`` (...) [rad], a number or many, about ``axis`` (3,), which need not be of unit length."""
    unit = np.asarray(axis, dtype=float)
    unit = unit / np.linalg.norm(unit)
    skew = np.array([[0, -unit[2], unit[1]], [unit[2], 0, -unit[0]], [-unit[1], unit[0], 0]])
    sine, cosine = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.asarray(np.eye(3) + sine * skew + (1 - cosine) * skew @ skew)


def look_at(eye: npt.ArrayLike, target: npt.ArrayLike, up: Sequence[float] = (0.0, 0.0, 1.0)) -> Array:
    """world_T_optical of a camera at ``eye`` that looks at ``target``: x right, y down, z forward (REP 103)."""
    position = np.asarray(eye, dtype=float)
    forward = np.asarray(target, dtype=float) - position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, np.asarray(up, dtype=float))
    right = right / np.linalg.norm(right)
    return make_transform(np.column_stack([right, np.cross(forward, right), forward]), position)


def rotation_angle(a: Array, b: Array) -> float:
    """Angle [rad] between the rotations of two (3, 3) or (4, 4) matrices."""
    (r00, r01, r02), (r10, r11, r12), (r20, r21, r22) = (a[:3, :3].T @ b[:3, :3]).tolist()
    # By sine and cosine: the cosine alone, near one, makes rounding an angle of 1e-8.
    return math.atan2(math.hypot(r21 - r12, r02 - r20, r10 - r01), r00 + r11 + r22 - 1.0)


def _determinant(matrix: Array) -> float:
    """Of (3, 3); a fraction of what numpy's takes."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    return float(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))


def check_pose(pose: npt.ArrayLike, name: str = "pose") -> Array:
    """``pose`` as a (4, 4) float64 rigid transform.

    Raises:
        DeskhandError: ``invalid_input`` when the shape is wrong, a value is not finite or the rotation is not orthonormal.
    """
    matrix = np.asarray(pose, dtype=float)
    if matrix.shape != (4, 4) or not np.all(np.isfinite(matrix)):
        raise DeskhandError("invalid_input", f"{name} must be a finite 4x4 matrix, got shape {matrix.shape}: {matrix.tolist()}.")
    rotation = matrix[:3, :3]
    if np.abs(rotation @ rotation.T - _UNIT).max() > 1e-3 or _determinant(rotation) < 0:
        raise DeskhandError("invalid_input", f"the rotation of {name} is not orthonormal and right-handed.")
    return matrix


def cylinder_axis(size: Array) -> int:
    """Index of the axis of a cylinder with these extents: z when it may stand, else the one that differs from two alike."""
    if abs(size[0] - size[1]) <= 0.15 * max(size[0], size[1]):
        return 2
    return min(range(3), key=lambda k: abs(size[(k + 1) % 3] - size[(k + 2) % 3]))


def convex_intersection(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """What two convex polygons (N, 2), (M, 2) share, as corners (K, 2); (0, 2) where that has no area. Sutherland and Hodgman (1974).

    OpenCV's intersectConvexConvex works in single precision and loses most of two polygons that nearly coincide.
    """
    kept, bounds = (_counter_clockwise(np.asarray(polygon, float).reshape(-1, 2)) for polygon in (a, b))
    for start, end in zip(bounds, np.roll(bounds, -1, axis=0), strict=True):
        along = end - start
        inside = along[0] * (kept[:, 1] - start[1]) - along[1] * (kept[:, 0] - start[0])
        corners: list[Array] = []
        for k in range(len(kept)):
            after = (k + 1) % len(kept)
            if inside[k] >= 0:
                corners.append(kept[k])
            if inside[k] * inside[after] < 0:
                corners.append(kept[k] + (kept[after] - kept[k]) * inside[k] / (inside[k] - inside[after]))
        if len(corners) < 3:
            return np.zeros((0, 2))
        kept = np.array(corners)
    return kept if abs(_signed_area(kept)) > 0 else np.zeros((0, 2))


def convex_hull(points: npt.ArrayLike) -> Array:
    """Corners (M, 2), counter-clockwise, of the convex hull of points (N, 2). Andrew's monotone chain (1979), for few points."""
    order = sorted(map(tuple, np.asarray(points, float).reshape(-1, 2).tolist()))
    halves: list[list[tuple[float, ...]]] = []
    for row in (order, order[::-1]):
        half: list[tuple[float, ...]] = []
        for x, y in row:
            while len(half) > 1 and (half[-1][0] - half[-2][0]) * (y - half[-2][1]) - (half[-1][1] - half[-2][1]) * (x - half[-2][0]) <= 1e-15:
                half.pop()
            half.append((x, y))
        halves.append(half[:-1])
    return np.array(halves[0] + halves[1])


def convex_gap(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Distance of two convex polygons (N, 2), (M, 2), whose corners are given in their order; 0 where they overlap."""
    one, other = (_counter_clockwise(np.asarray(polygon, float).reshape(-1, 2)) for polygon in (a, b))
    if not any(_beyond_a_side(*pair) for pair in ((one, other), (other, one))):
        return 0.0
    return min(_corners_to_sides(one, other), _corners_to_sides(other, one))


def _beyond_a_side(polygon: Array, other: Array) -> bool:
    """Whether all of another polygon lies beyond one side of a counter-clockwise one."""
    along = np.roll(polygon, -1, axis=0) - polygon
    away = other[None] - polygon[:, None]
    return bool((along[:, :1] * away[..., 1] - along[:, 1:] * away[..., 0] < 0).all(axis=1).any())


def _corners_to_sides(corners: Array, polygon: Array) -> float:
    """The least distance of corners (N, 2) to the sides of a polygon (M, 2)."""
    along = np.roll(polygon, -1, axis=0) - polygon
    away = corners[:, None] - polygon[None]
    share = np.clip((away * along).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-18), 0.0, 1.0)
    return float(np.linalg.norm(away - share[..., None] * along, axis=2).min())


def _counter_clockwise(polygon: Array) -> Array:
    return polygon if _signed_area(polygon) >= 0 else polygon[::-1]


def _signed_area(polygon: Array) -> float:
    x, y = polygon.T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def polygon_middle(corners: Array) -> tuple[float, Array]:
    """Area [m2] and the middle (2,) [m] of the area of a polygon (K, 2)."""
    x, y = corners.T
    twice = x * np.roll(y, -1) - np.roll(x, -1) * y
    middle = ((corners + np.roll(corners, -1, axis=0)) * twice[:, None]).sum(axis=0) / (3 * twice.sum())
    return abs(float(twice.sum())) / 2, np.asarray(middle)
