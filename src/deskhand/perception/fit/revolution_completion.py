"""Standing round objects (cups, bowls, bottles, spools): what is hidden, and what hangs over, follows from the side that is seen.

The camera sees the near half of the outside. Its radius at each height, the same all around, gives the outer wall with its lean; a handle sticks out of
it at few angles only, and what is seen inside, beyond the rim, lies within it: neither counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.fit.surface_settings import REVOLUTION


@dataclass(frozen=True)
class Turned:
    """Outer ``radius`` (K,) [m] at ``heights`` (K,) [m], about a vertical axis through ``centre`` (x, y)."""

    centre: Array
    heights: Array
    radius: Array

    def radius_at(self, z: Array) -> Array:
        """[m], of heights (N,)."""
        return np.interp(z, self.heights, self.radius)

    def sides(self, spacing: float) -> tuple[Array, Array]:
        """Samples (N, 3) of the outer wall and their outward normals, which look down where it hangs over."""
        slope = np.gradient(self.radius, self.heights) if len(self.heights) > 1 else np.zeros(1)
        points, normals = [], []
        for z, radius, rise in zip(self.heights, self.radius, slope, strict=True):
            count = max(12, 2 * int(np.pi * radius / spacing))
            angle = 2 * np.pi * np.arange(count) / count
            out = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])
            points.append(out * radius + [*self.centre, z])
            normal = out - [0.0, 0.0, rise]
            normals.append(normal / np.linalg.norm(normal, axis=1)[:, None])
        return np.vstack(points), np.vstack(normals)


def turned(points: Array, centre: Array, floor: float) -> Turned | None:
    """The outer wall of what was seen (N, 3) around ``centre`` (x, y), or None when it is not round."""
    away = points[:, :2] - centre
    radius, angle = np.linalg.norm(away, axis=1), np.arctan2(away[:, 1], away[:, 0])
    bins = ((angle + np.pi) / (2 * np.pi) * REVOLUTION.bins).astype(int) % REVOLUTION.bins
    top = float(np.quantile(points[:, 2], 0.98))
    edges = np.arange(floor, top + REVOLUTION.step / 2, REVOLUTION.step)
    heights, outer, around = [], [], []
    for low, high in zip(edges, edges + REVOLUTION.step, strict=True):
        rows = (points[:, 2] >= low) & (points[:, 2] < high)
        if rows.sum() < REVOLUTION.min_side:
            continue
        seen = _outermost(bins[rows], radius[rows])
        if len(seen) < REVOLUTION.bins // 4:
            continue
        outer.append(float(np.quantile(seen, 0.75)))
        heights.append(min((low + high) / 2, top))
        around.append(seen)
    if len(heights) < 2:
        return None
    alike = max(float((np.abs(seen - radius) < REVOLUTION.same).mean()) for seen, radius in list(zip(around, outer, strict=True))[-2:])
    if alike < REVOLUTION.round:
        return None
    z, smooth = np.array([floor, *heights]), np.array([outer[0], *outer])
    return Turned(np.asarray(centre, dtype=float), z, np.convolve(np.pad(smooth, 1, mode="edge"), [0.25, 0.5, 0.25], "valid"))


def turning_axis(points: Array, floor: float) -> Array | None:
    """Where (x, y) [m] the upright axis stands about which all that is seen (N, 3) goes round; None when it goes round none.

    Circles with one centre through the slices of all heights: an algebraic fit (I. Kåsa, A circle fitting procedure and its error analysis, 1976), then
    Gauss-Newton steps on the distances from the circles without what is far off them, as a handle is.
    """
    slices = np.floor((points[:, 2] - floor) / REVOLUTION.step).astype(int)
    _, slices, count = np.unique(slices, return_inverse=True, return_counts=True)
    enough = count[slices] >= REVOLUTION.min_side / 2
    _, slices = np.unique(slices[enough], return_inverse=True)
    if len(slices) < REVOLUTION.min_points:
        return None
    levels = int(slices.max()) + 1
    middle = points[enough, :2].mean(axis=0)
    across = points[enough, :2] - middle
    system = np.zeros((len(across), 2 + levels))
    system[:, :2] = 2 * across
    system[np.arange(len(across)), 2 + slices] = 1.0
    centre = np.linalg.lstsq(system, np.einsum("ij,ij->i", across, across), rcond=None)[0][:2]
    near = np.ones(len(across), bool)
    for _ in range(REVOLUTION.rounds):
        away = across - centre
        distance = np.linalg.norm(away, axis=1)
        total = np.maximum(np.bincount(slices, near, levels), 1.0)
        radius = (np.bincount(slices, distance * near, levels) / total)[slices]
        off = distance - radius
        outward = away / np.maximum(distance, 1e-9)[:, None]
        mean = np.stack([np.bincount(slices, outward[:, axis] * near, levels) / total for axis in range(2)], axis=1)
        near = np.abs(off) < np.clip(REVOLUTION.uneven * radius, REVOLUTION.noise, REVOLUTION.same)
        if near.sum() < REVOLUTION.around * len(near):
            return None
        centre = centre + np.linalg.lstsq((outward - mean[slices])[near], off[near], rcond=None)[0]
    return np.asarray(middle + centre)


def _outermost(bins: npt.NDArray[np.int64], radius: Array, share: float = 0.9) -> Array:
    """The quantile ``share`` of the ``radius`` (N,) of each bin that has any."""
    order = np.lexsort((radius, bins))
    _, first, count = np.unique(bins[order], return_index=True, return_counts=True)
    at = share * (count - 1)
    low = np.floor(at).astype(int)
    ranked = radius[order]
    below, above = ranked[first + low], ranked[first + np.minimum(low + 1, count - 1)]
    return np.asarray(below + (at - low) * (above - below))
