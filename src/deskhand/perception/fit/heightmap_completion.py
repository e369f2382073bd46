"""Objects that are no simple solid, completed from their seen points: every seen spot of the top is a column down to the support.

A camera that looks down at a desk sees the tops of objects and the sides that face it. Columns give the hidden sides: exact for what has upright
walls (rims, handles, arms of L- and T-pieces), too thick below where something hangs over. Of
round objects that stand, what is hidden follows from what is seen around their axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.fit.surface_settings import HEIGHTMAP

EMPTY = -1.0

Cells = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Columns:
    """Heights ``top`` (H, W) [m] in ``world`` of square columns, :data:`EMPTY` where nothing is; row 0, column 0 is centred at ``origin`` (x, y)."""

    top: Cells
    origin: Array
    floor: float

    @property
    def filled(self) -> npt.NDArray[np.bool_]:
        """(H, W)"""
        return np.asarray(self.top > EMPTY)

    def cell_of(self, points: Array) -> npt.NDArray[np.int64]:
        """(row, column) (N, 2) of points (N, 2 or 3)."""
        return np.asarray(np.round((points[:, 1::-1] - self.origin[::-1]) / HEIGHTMAP.cell), dtype=np.int64)

    def centres(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> Array:
        """(N, 2) x, y [m]"""
        return np.column_stack([self.origin[0] + columns * HEIGHTMAP.cell, self.origin[1] + rows * HEIGHTMAP.cell])


def columns_of(points: Array, floor: float) -> Columns:
    """Columns from the support at height ``floor`` [m] to the highest seen point of each cell; gaps of one cell are closed."""
    points = points[points[:, 2] > floor - 0.01]
    low = points[:, :2].min(axis=0) - HEIGHTMAP.pad * HEIGHTMAP.cell
    shape = np.ceil((points[:, 1::-1].max(axis=0) - low[::-1]) / HEIGHTMAP.cell).astype(int) + HEIGHTMAP.pad + 1
    top = np.full(shape, EMPTY, np.float32)
    empty = Columns(top, low, floor)
    rows, columns = empty.cell_of(points).T
    np.maximum.at(top, (rows, columns), points[:, 2].astype(np.float32))
    top = cv2.morphologyEx(top, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    top = _without_specks(top)
    return Columns(top, low, floor)


def rounded(field: Columns, centre: Array, radius: float) -> Columns:
    """Hidden cells of a standing round object are as high as the seen ones at the same distance from its axis, ``centre`` (x, y)."""
    rows, columns = np.mgrid[0 : field.top.shape[0], 0 : field.top.shape[1]]
    away = np.hypot(field.origin[0] + columns * HEIGHTMAP.cell - centre[0], field.origin[1] + rows * HEIGHTMAP.cell - centre[1])
    ring = (away / HEIGHTMAP.cell).astype(int)
    hidden = ~field.filled & (away < radius)
    top = field.top.copy()
    for number in np.unique(ring[hidden]):
        seen = field.top[(ring == number) & field.filled]
        if len(seen) >= max(3, 0.3 * (ring == number).sum()):  # less is a handle
            top[hidden & (ring == number)] = np.median(seen)
    return Columns(top, field.origin, field.floor)


def _without_specks(top: Cells) -> Cells:
    """Lone high cells, from noise at edges, are brought down to their neighbours."""
    around = cv2.medianBlur(top, 3)
    return np.where((top - around > 0.006) & (around > EMPTY), around, top).astype(np.float32)


def column_sides(field: Columns, limit: int = 340) -> tuple[Array, Array]:
    """Samples (N, 3) of the upright or leaning sides and their outward normals."""
    filled = field.filled
    if not filled.any():
        return np.zeros((0, 3)), np.zeros((0, 3))
    height = float(field.top[filled].max()) - field.floor
    lowest = field.floor + min(0.006, 0.4 * height)
    highest = max(lowest, field.floor + height - min(0.004, 0.3 * height))
    found = [_sides_at(field, float(level), height) for level in np.linspace(lowest, highest, HEIGHTMAP.levels)]
    points, normals = np.vstack([p for p, _ in found]), np.vstack([n for _, n in found])
    if len(points) > limit:
        chosen = np.random.default_rng(len(points)).permutation(len(points))[:limit]
        points, normals = points[chosen], normals[chosen]
    return points, normals


def _sides_at(field: Columns, level: float, height: float) -> tuple[Array, Array]:
    """The outline of what is higher than ``level``, with normals that lean as the side does above it."""
    mask = (field.top > level).astype(np.uint8)
    smooth = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 1.2)
    inner = cv2.erode(mask, np.ones((3, 3), np.uint8))
    rows, columns = np.nonzero(mask - inner)
    if not len(rows):
        return np.zeros((0, 3)), np.zeros((0, 3))
    slope = np.stack([cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)], axis=-1)[rows, columns]
    steepness = np.linalg.norm(slope, axis=1)
    outward = -slope / np.maximum(steepness, 1e-6)[:, None]
    rise = min(HEIGHTMAP.rise, 0.35 * height)
    higher = (field.top > level + rise).astype(np.uint8)
    recess = HEIGHTMAP.cell * cv2.distanceTransform(1 - higher, cv2.DIST_L2, 3)[rows, columns] if higher.any() else np.zeros(len(rows), np.float32)
    recess = np.where(recess < 2.0 * rise + HEIGHTMAP.cell, np.maximum(recess - 0.8 * HEIGHTMAP.cell, 0.0), 0.0)  # further in is another part, not this side
    lean = np.arctan2(recess, rise)
    normals = np.column_stack([outward * np.cos(lean)[:, None], np.sin(lean)])
    flat = field.centres(rows, columns) + 0.5 * HEIGHTMAP.cell * outward * (1.0 - 0.8 * np.clip(lean, 0, 1))[:, None]
    points = np.column_stack([flat, np.full(len(rows), level)])
    good = steepness > 0.15
    return points[good].astype(float), normals[good].astype(float)


def column_body(field: Columns, spacing: int = 2) -> Array:
    """Samples (N, 3) of the tops and of the outer walls, for tests of contact."""
    thin = np.zeros_like(field.filled)
    thin[::spacing, ::spacing] = True
    rows, columns = np.nonzero(field.filled & thin)
    tops = np.column_stack([field.centres(rows, columns), field.top[rows, columns]])
    # walls: where a column is higher than the lowest around it
    lowest = cv2.erode(np.where(field.filled, field.top, field.floor).astype(np.float32), np.ones((3, 3), np.uint8))
    wall = field.filled & (field.top - lowest > 0.006)
    rows, columns = np.nonzero(wall)
    walls = [tops]
    for share in (0.0, 0.25, 0.6):  # from the foot on: what is let down stands on it
        z = lowest[rows, columns] + share * (field.top[rows, columns] - lowest[rows, columns])
        walls.append(np.column_stack([field.centres(rows, columns), z])[::spacing])
    return np.vstack(walls).astype(float)
