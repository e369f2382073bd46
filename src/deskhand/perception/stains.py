"""Stains and painted areas of the table: where its colour is another one than around, and nothing stands."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.desk_view import DeskView

FLAT = 0.006  # [m] from the table's plane, within which a pixel shows the table or what is painted on it
EDGE = 7  # [px] around objects and the robot, whose colours mix with the table's
CLEAR = 8.0  # in CIELAB: a colour that is farther from the table's there is another one
TIMES = 5.0  # and as many times farther than the table's colours are from their own mean
SMALLEST = 2e-4  # [m2] of a stain: 14 mm by 14 mm
JOIN = 5  # [px] over which parts are one stain: less than the narrowest gap that is seen as one
ROUNDS = 6  # of fitting the table's colour without what is not the table
FEWEST = 500  # pixels that tell the table's colour
CELL = 0.003  # [m] of the raster in which areas are measured: a pixel shows 1 to 2 mm of a desk
HOLES = 25  # [px] across, up to which what has no depth is the table around it
AS_DARK = 1.3  # shares of the table's light that differ by a smaller factor are those of shadows of one lamp
SHADOW = (0.05, 0.9)  # of the table's light that a shadow leaves
GAMMA = 2.2  # of pictures
NEUTRAL = 1.6  # times more that a shadow leaves of one primary colour than of another, at most: outdoors it is lit by the blue sky alone
LONG = 1.3  # times as long as wide from which a stain has a direction
STRAIGHT = np.radians(22.5)  # from an axis up to which a direction is called by it
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Stain:
    """An area of the table with another colour, in the world frame.

    Attributes:
        centre, length, width, yaw: the smallest rectangle around it: (x, y) [m], [m], [m], and of its long side from x [rad], -pi/2 to pi/2.
        outline: (N, 2) [m] of its convex hull.
        cells: (K, 2) [m] middles of the squares of ``CELL`` that it covers.
        rgb: median colour, 0..255.
    """

    centre: tuple[float, float]
    length: float
    width: float
    yaw: float
    outline: Array
    cells: Array
    rgb: tuple[int, int, int]

    @property
    def area(self) -> float:
        """[m2]."""
        return len(self.cells) * CELL**2

    @property
    def direction(self) -> str:
        """``left-right`` along y, ``front-back`` along x, ``askew``, by its principal axis, which a triangle's smallest rectangle does not follow; empty where
        it is about as long as wide.
        """
        if self.length < LONG * self.width:
            return ""
        x, y = np.linalg.svd(self.cells - self.cells.mean(axis=0), full_matrices=False)[2][0]
        off = float(np.arctan2(abs(y), abs(x)))  # from x
        if off <= STRAIGHT:
            return "front-back"
        return "left-right" if off >= np.pi / 2 - STRAIGHT else "askew"


def find_stains(view: DeskView) -> list[Stain]:
    """Stains in a picture, the largest first."""
    table = table_seen(view)
    ground = _on_plane(view)
    if table.sum() < FEWEST:
        return []
    color = cv2.medianBlur(np.ascontiguousarray(view.frame.color), 3)
    other, share = _other_colors(color, ground, table)
    dark = other & _neutral(share)
    parts = [*_parts(other & ~dark), *_parts(dark)]
    shadows = _shadows(parts, dark, share, view.objects | view.robot | _high(view))
    kept = np.any([part for part, shadow in zip(parts, shadows, strict=True) if not shadow], axis=0) & table if parts else np.zeros_like(table)
    found = [_stain(ground[part], color[part]) for part in _parts(kept)]
    return sorted((stain for stain in found if stain.area >= SMALLEST), key=lambda stain: -stain.area)


def _parts(mask: Mask) -> list[Mask]:
    """Connected parts, cleaned of what is one pixel wide."""
    opened = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    count, labels = cv2.connectedComponents(cv2.morphologyEx(opened, cv2.MORPH_CLOSE, np.ones((JOIN, JOIN), np.uint8)))
    return [found for number in range(1, count) if (found := (labels == number) & mask).sum() >= FEWEST / 10]


def _neutral(share: Array) -> Mask:
    """Where it is darker than the table in all primary colours alike (H, W): in a shadow, or grey."""
    low, high = share.min(axis=-1), share.max(axis=-1)
    return np.asarray((high < SHADOW[1]) & (low > SHADOW[0]) & (high < NEUTRAL * low))


def _shadows(parts: list[Mask], dark: Mask, share: Array, above: Mask) -> list[bool]:
    """Which parts are shadows: those that begin at what stands on the table, and what is as dark as they."""
    reach = 2 * (EDGE + 3) + 1
    near = cv2.dilate(above.astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    depths = [float(np.median(share[part])) if (part & dark).sum() > part.sum() / 2 else -1.0 for part in parts]
    known = [depth for part, depth in zip(parts, depths, strict=True) if depth > 0 and bool((part & near).any())]
    return [depth > 0 and any(max(depth, one) < AS_DARK * min(depth, one) for one in known) for depth in depths]


def table_seen(view: DeskView) -> Mask:
    """Pixels (H, W) that show the bare table, or paint on it: as deep as it, or without depth between such, as dark paint is; not the floor of a container,
    which its walls surround.
    """
    around = np.zeros(view.valid.shape, np.uint8)
    cv2.drawContours(around, cv2.findContours((view.objects | view.robot).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0], -1, 1, cv2.FILLED)
    above = cv2.dilate(around | _high(view), np.ones((2 * EDGE + 1, 2 * EDGE + 1), np.uint8)) > 0
    with np.errstate(invalid="ignore"):
        flat = view.valid & (np.abs(view.points[..., 2]) < FLAT)
    closed = cv2.morphologyEx(flat.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((HOLES, HOLES), np.uint8)) > 0
    return np.asarray((flat | (closed & ~view.valid)) & ~above)


def _high(view: DeskView) -> Mask:
    """Pixels (H, W) of what is measured above the table, also where nobody looks for objects, as at the robot's foot; without single ones, which are noise."""
    with np.errstate(invalid="ignore"):
        high = view.valid & (view.points[..., 2] > FLAT)
    return np.asarray(cv2.morphologyEx(high.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0)


def left_of(stains: list[Stain], low: Array, high: Array) -> float:
    """Area [m2] of stains in the rectangle from ``low`` to ``high`` (2,) [m]."""
    return sum(float(np.sum(np.all((stain.cells >= low) & (stain.cells <= high), axis=1))) for stain in stains) * CELL**2


def seen_of(view: DeskView, low: Array, high: Array) -> float:
    """Share of the rectangle from ``low`` to ``high`` (2,) [m] that a picture shows as table."""
    points = _on_plane(view)[table_seen(view)]
    inside = points[np.all((points >= low) & (points <= high), axis=1)]
    whole = np.prod(np.maximum(1, np.ceil((high - low) / CELL)))
    return float(min(1.0, len(np.unique(np.floor((inside - low) / CELL).astype(int), axis=0)) / whole))


def _on_plane(view: DeskView) -> Array:
    """Where each pixel's ray meets the table (H, W, 2) [m]; depth, which has noise, is not asked."""
    intrinsics, pose = view.frame.intrinsics, view.frame.world_T_camera
    v, u = np.mgrid[0 : view.valid.shape[0], 0 : view.valid.shape[1]]
    rays = np.stack([(u - intrinsics.cx) / intrinsics.fx, (v - intrinsics.cy) / intrinsics.fy, np.ones_like(u, dtype=float)], axis=-1) @ pose[:3, :3].T
    with np.errstate(divide="ignore", invalid="ignore"):
        away = -pose[2, 3] / rays[..., 2]
    away = np.where(away > 0, away, np.nan)
    return np.asarray(pose[:2, 3] + away[..., None] * rays[..., :2])


def _other_colors(color: npt.NDArray[np.uint8], ground: Array, table: Mask) -> tuple[Mask, Array]:
    """Which table pixels have another colour than the table there (H, W), and their share of its brightness in each primary colour (H, W, 3).

    The table's colour is a quadratic function of the place, fitted without what is far from it: light falls off over a desk.
    """
    lab = cv2.cvtColor((color / 255.0).astype(np.float32), cv2.COLOR_RGB2LAB).astype(float)
    x, y = ground[table][:, 0], ground[table][:, 1]
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
    values = lab[table]
    step = max(1, len(values) // 20000)
    some, some_values = terms[::step], values[::step]
    middle = np.median(some_values, axis=0)
    off = np.linalg.norm(some_values - middle, axis=1)
    weights = np.zeros((6, 3))
    for _ in range(ROUNDS):
        kept = off <= max(CLEAR / 2, 3.0 * float(np.median(off)))
        weights = np.linalg.lstsq(some[kept], some_values[kept], rcond=None)[0]
        off = np.linalg.norm(some_values - some @ weights, axis=1)
    expected = terms @ weights
    far = np.linalg.norm(values - expected, axis=1)
    other, share = np.zeros(table.shape, bool), np.ones((*table.shape, 3))
    other[table] = far > max(CLEAR, TIMES * float(np.median(off)))
    rgb = cv2.cvtColor(expected.astype(np.float32)[None], cv2.COLOR_LAB2RGB)[0]
    share[table] = (color[table] / 255.0 + 0.02) ** GAMMA / (np.clip(rgb, 0, 1) + 0.02) ** GAMMA
    return other, share


def _stain(points: Array, colors: npt.NDArray[np.uint8]) -> Stain:
    cells = np.unique(np.floor(points / CELL).astype(int), axis=0)
    outline = cv2.convexHull(points.astype(np.float32))[:, 0].astype(float)
    (x, y), (first, second), degrees = cv2.minAreaRect(points.astype(np.float32))
    yaw = np.radians(degrees + (0.0 if first >= second else 90.0))
    yaw = float((yaw + np.pi / 2) % np.pi - np.pi / 2)
    red, green, blue = (int(value) for value in np.median(colors, axis=0))
    return Stain((float(x), float(y)), max(first, second), min(first, second), yaw, outline, (cells + 0.5) * CELL, (red, green, blue))
