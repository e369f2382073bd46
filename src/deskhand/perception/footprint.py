"""Rectangles and circles around footprints: points in the plane, (N, 2) [m]."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.quantiles import median, spread
from deskhand.perception.rows import all_of, lengths, rows_of, squares
from deskhand.perception.small_systems import solve_small
from deskhand.perception.view import Mask


@dataclass(frozen=True)
class Rectangle:
    """``size`` (x, y) with x >= y, x axis at ``yaw`` [rad] in (-pi/2, pi/2], ``centre`` (2,)."""

    centre: Array
    size: Array
    yaw: float

    @property
    def rotation(self) -> Array:
        """(2, 2): columns are the axes."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return np.array([[c, -s], [s, c]])

    def local(self, points: Array) -> Array:
        """(N, 2) in the rectangle's axes, from its centre."""
        return np.asarray((points - self.centre) @ self.rotation)

    def inside(self, points: Array, margin: float = 0.0) -> Mask:
        """Which points are inside by at least ``margin`` [m] (negative: outside by at most)."""
        return np.asarray(all_of(np.abs(self.local(points)) < self.size / 2 - margin))


def rectangle(centre: Array, size: Array, yaw: float) -> Rectangle:
    """With the longer side first and the yaw wrapped."""
    if size[1] > size[0]:
        size, yaw = size[::-1], yaw + np.pi / 2
    yaw = float((yaw + np.pi / 2) % np.pi - np.pi / 2)
    return Rectangle(np.asarray(centre, float), np.asarray(size, float), yaw)


def hull(points: Array) -> Array:
    """Convex hull (M, 2)."""
    return np.asarray(cv2.convexHull(points.astype(np.float32)).reshape(-1, 2), dtype=float)


def hull_area(points: Array) -> float:
    """[m2]"""
    return float(cv2.contourArea(cv2.convexHull(points.astype(np.float32))))


def tight_rectangle(points: Array) -> Rectangle:
    """The smallest rectangle around all points."""
    (x, y), (w, h), angle = cv2.minAreaRect((points * 1000).astype(np.float32))
    return rectangle(np.array([x, y]) / 1000, np.array([w, h]) / 1000, np.radians(angle))


def filled_rectangle(points: Array, trim: float = 0.03) -> Rectangle:
    """The rectangle that evenly spread points fill: its ends come from inner quantiles, so that single outliers do not count."""
    some = points[:: 1 + len(points) // 200]
    yaw = 0.0
    for step, span in ((6.0, 42.0), (1.5, 4.5), (0.5, 1.0)):
        yaw = _tightest(some, yaw + np.radians(np.arange(-span, span + 0.1, step)), trim)
    rotation = _axes(yaw)
    low, high = np.array([spread(column, trim, 1 - trim) for column in (points @ rotation).T]).T
    return rectangle(rotation @ ((low + high) / 2), (high - low) / (1 - 2 * trim), yaw)


def _axes(yaw: float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s], [s, c]])


def _tightest(points: Array, yaws: Array, trim: float) -> float:
    """The yaw [rad] whose axes hold the points, without the outermost share, in the smallest rectangle."""
    axes = np.stack([np.cos(yaws), np.sin(yaws), -np.sin(yaws), np.cos(yaws)], axis=1).reshape(-1, 2)
    along, n = axes @ points.T, len(points)
    k = max(1, int(trim * n))
    ends = np.partition(along, [k, n - 1 - k], axis=1)[:, [k, n - 1 - k]]
    areas = (ends[:, 1] - ends[:, 0]).reshape(-1, 2).prod(axis=1)
    return float(yaws[int(np.argmin(areas))])


def fit_circle(points: Array) -> tuple[Array, float, float]:
    """Centre (2,), radius and robust rms of the residual [m] of a circle through points (N, 2), outliers trimmed."""
    centre, radius, error, keep = fit_round(points, 1e-4)
    return centre, radius, float(np.sqrt(np.mean(error[keep] ** 2)))


def fit_round(points: Array, slack: float) -> tuple[Array, float, Array, npt.NDArray[np.bool_]]:
    """A circle or sphere through points (N, d): centre (d,), radius, residuals (N,) [m], and which points (N,) were no outliers beyond ``slack`` [m]."""
    size = points.shape[1]
    keep = np.ones(len(points), bool)
    centre, radius, error = np.zeros(size), 0.0, np.zeros(len(points))
    system = np.ones((len(points), size + 2))
    np.multiply(points, 2.0, out=system[:, :size])
    system[:, size + 1] = squares(points)
    for _ in range(3):
        own = rows_of(system, keep)
        sums = own.T @ own
        solution = solve_small(sums[:-1, :-1] + 1e-12 * np.eye(size + 1), sums[:-1, -1])
        centre = np.array(solution[:size])
        radius = float(np.sqrt(max(solution[size] + float(centre @ centre), 1e-9)))
        error = np.abs(lengths(points - centre) - radius)
        before, keep = keep, error <= max(slack, 2.5 * median(error))
        if (keep == before).all():
            break
    return centre, radius, error, keep
