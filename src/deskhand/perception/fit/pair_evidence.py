"""What tells whether two segments that touch are one object: how they meet, how they look, what the upper one could stand on, which solids explain them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.fit.solids import Solid, SolidFits
from deskhand.perception.neighbours import nearest
from deskhand.perception.quantiles import median, quantile
from deskhand.perception.rows import highest, is_among, lowest, rows_of
from deskhand.perception.segment.gaps import gap_share
from deskhand.perception.segment.segmentation import Segment, union_of
from deskhand.perception.segment.voxels import Voxels, unit, voxels_of
from deskhand.perception.view import Mask, View
from deskhand.perception.visibility import FREE, HIDDEN, states

REACH = 2.0  # voxels between what touches, at most
NAMES = (
    "contact",
    "bend",
    "step",
    "gap",
    "color",
    "light",
    "ratio",
    "extent",
    "foot",
    "meets",
    "air",
    "hidden",
    "slope",
    "level",
    "wall",
    "overhang",
    "error_up",
    "error_down",
    "error_both",
    "usual_up",
    "usual_down",
    "usual_both",
    "odder",
    "plainer",
    "inside",
)
Inside = Callable[[Segment], bool]
"""Whether a segment lies in a container: where people put several objects close together."""


def nowhere(item: Segment) -> bool:
    """There is no container."""
    return False


@dataclass(frozen=True)
class Piece:
    """A segment with its voxels, prepared once: it meets several others."""

    item: Segment
    voxels: Voxels
    tree: cKDTree
    low: Array
    high: Array
    foot: float
    top: float
    inside: bool


def piece_of(view: View, item: Segment, edge: float, inside: bool = False) -> Piece | None:
    """None for what is too little to tell anything; ``inside``: it lies in a container."""
    points = rows_of(item.points, item.measured)
    if len(points) < 20:
        return None
    voxels = voxels_of(points, view.eye, edge)
    if len(voxels) < 5:
        return None
    low, high = lowest(voxels.middle), highest(voxels.middle)
    tree = cKDTree(voxels.middle, compact_nodes=False, balanced_tree=False)
    return Piece(item, voxels, tree, low, high, quantile(points[:, 2], 0.03), quantile(points[:, 2], 0.97), inside)


def evidence(view: View, fits: SolidFits, one: Piece, other: Piece) -> Array | None:
    """Features (len(NAMES),) of a pair; None when they do not touch."""
    edge = one.voxels.edge
    reach = REACH * edge
    if ((one.low > other.high + reach) | (other.low > one.high + reach)).any():
        return None
    near = one.tree.sparse_distance_matrix(other.tree, reach, output_type="ndarray")
    i, j = near["i"], near["j"]
    if len(i) < 3:
        return None
    up, down, upper, lower = (one, other, i, j) if one.foot > other.foot else (other, one, j, i)
    a, b = up.voxels, down.voxels
    seam = (a.middle[upper] + b.middle[lower]) / 2
    smaller, larger = sorted((len(a), len(b)))
    # Directions beside the seam, not at it, where the neighbours of both are mixed.
    normal_a, middle_a = _beside(up, seam, edge)
    normal_b, middle_b = _beside(down, seam, edge)
    way = unit(middle_a - middle_b)
    angle = float(np.arccos(np.clip(normal_a @ normal_b, -1.0, 1.0)))
    bend = -angle if float(way @ (normal_a - normal_b)) > 0 else angle
    step = min(abs(float((middle_a - middle_b) @ normal_a)), abs(float((middle_a - middle_b) @ normal_b))) - float(
        np.linalg.norm(middle_a - middle_b)
    ) * np.sin(angle / 2)
    gap = float(gap_share(view, a.middle[upper], b.middle[lower], 1.5 * edge).mean())
    color = float(np.linalg.norm(up.item.chroma - down.item.chroma))
    light = abs(float(np.log((up.item.light + 12.0) / (down.item.light + 12.0))))
    extent = float(np.ptp(np.vstack([a.middle, b.middle]), axis=0).max())
    meets = (median(seam[:, 2]) - up.foot) / max(up.top - up.foot, 0.002)
    air, hidden = _below(view, up)
    tilt = np.arccos(np.clip(b.normal[_around(up, down, seam, edge)][:, 2], -1.0, 1.0))
    slope = float(((tilt > 0.35) & (tilt < 1.3)).mean()) if len(tilt) else 0.0
    level = float((tilt <= 0.35).mean()) if len(tilt) else 0.0
    overhang = _overhang(up, seam)
    solids = [fits.of(up.item), fits.of(down.item), fits.of(union_of(up.item, [down.item]))]
    errors = [error_of(view, solid) for solid in solids]
    usual = [float(fits.prior(solid.shape, solid.size[None])[0]) for solid in solids]
    return np.array(
        [
            np.log(len(i) / smaller**0.5),
            bend,
            float(np.clip(step / edge, -3.0, 5.0)),
            gap,
            min(color, 0.4),
            min(light, 2.0),
            np.log10(larger / smaller),
            np.log10(extent),
            min(up.foot, 0.08) * 100,
            float(np.clip(meets, -1.0, 2.0)),
            air,
            hidden,
            slope,
            level,
            max(0.0, 1.0 - slope - level) if len(tilt) else 0.0,
            overhang,
            *errors,
            *usual,
            max(errors[:2]),
            min(errors[:2]),
            float(up.inside and down.inside),
        ]
    )


def error_of(view: View, solid: Solid) -> float:
    """Of a solid, over the noise of the depth."""
    return min(solid.error / max(0.0008, view.noise), 8.0)


def _beside(piece: Piece, seam: Array, edge: float) -> tuple[Array, Array]:
    """Direction and middle (3,) of what of a piece is near a seam, but not at it."""
    far, _ = nearest(seam, piece.voxels.middle, 5 * edge)
    chosen = (far > 1.5 * edge) & (far < 4.5 * edge)
    if chosen.sum() < 3:
        chosen = far < 4.5 * edge
    if not chosen.any():
        chosen = np.ones(len(piece.voxels), bool)
    return unit(piece.voxels.normal[chosen].mean(axis=0)), np.asarray(piece.voxels.middle[chosen].mean(axis=0))


def _below(view: View, up: Piece) -> tuple[float, float]:
    """Shares of the places just under its lower outline that the camera looks through to, and that are hidden."""
    lower = up.item.points[up.item.points[:, 2] < (up.foot + up.top) / 2]
    under = lower[:: 1 + len(lower) // 200] - [0.0, 0.0, 0.006]
    height, width = view.valid.shape
    u, v = np.rint(view.frame.project(under)).astype(np.int64).T
    there = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    there[there] = ~is_among(v[there] * width + u[there], up.item.pixels, height * width)
    if there.sum() < 5:
        return 0.0, 0.0
    found = states(view, under[there], 0.003)
    return float((found == FREE).mean()), float((found == HIDDEN).mean())


def _around(up: Piece, down: Piece, seam: Array, edge: float) -> Mask:
    """Which voxels of the lower piece are near the seam, seen from above, and near the foot of the upper one."""
    far, _ = nearest(seam[:, :2], down.voxels.middle[:, :2], 4 * edge)
    return np.asarray(np.isfinite(far) & (np.abs(down.voxels.middle[:, 2] - median(seam[:, 2])) < 4 * edge))


def _overhang(up: Piece, seam: Array) -> float:
    """How far [of its width] the middle of the upper piece is outside of what it may rest on: where it touches the other low down, or the table."""
    low = up.foot + 0.35 * (up.top - up.foot)
    rests = [seam[seam[:, 2] < low, :2]]
    if up.foot < 0.012:
        rests.append(up.voxels.middle[up.voxels.middle[:, 2] < up.foot + 0.01, :2])
    ground = np.vstack(rests)
    middle = up.voxels.middle[:, :2].mean(axis=0)
    width = max(0.01, float(np.sqrt(np.prod(np.maximum(np.ptp(up.voxels.middle[:, :2], axis=0), 0.005)))))
    if len(ground) < 3:
        return 1.0
    outline = cv2.convexHull(ground.astype(np.float32))
    away = -cv2.pointPolygonTest(outline, (float(middle[0]), float(middle[1])), True)
    return float(np.clip(away / width, -0.5, 1.0))
