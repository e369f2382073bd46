"""What ends above a slope is a part of what slopes: an object of its own needs a level place to stand on.

A head on a round body, a lobe, a knob: such a piece ends in the air, only one object is below it, of its colour, and that slopes all about the foot of the
piece. A wall is no slope: of blocks that stand flush on each other only walls are seen. Where something hides its foot nobody knows what it stands on, and two
pieces that plain solids explain are two objects.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.fit.part_settings import RESTING
from deskhand.perception.fit.solids import SolidFits
from deskhand.perception.quantiles import quantile
from deskhand.perception.rows import between, highest, lowest, rows_of
from deskhand.perception.segment.hanging import is_rod, joined
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.segment.settings import SegmentSettings
from deskhand.perception.segment.shape import voxel_edge
from deskhand.perception.segment.voxels import Voxels, voxels_of
from deskhand.perception.view import View
from deskhand.perception.visibility import HIDDEN, states


def join_resting(view: View, fits: SolidFits, segments: list[Segment]) -> list[Segment]:
    """The segments, largest first, with those that end above a slope joined to what slopes."""
    if len(segments) < 2:
        return segments
    edge = voxel_edge(view, SegmentSettings())
    feet = {number: quantile(item.points[:, 2], RESTING.foot) for number, item in enumerate(segments)}
    owner = list(range(len(segments)))
    for number in sorted(feet, key=lambda index: -feet[index]):
        item, foot = segments[number], feet[number]
        may = {other for other, main in enumerate(segments) if feet[other] < foot and np.linalg.norm(item.chroma - main.chroma) < RESTING.alike}
        if foot < RESTING.above or not may or is_rod(item, RESTING.rod) or _is_hidden_below(view, item, foot):
            continue
        odd = max(RESTING.odd, 2.0 * view.noise)
        if max(fits.of(segments[piece]).error for piece in (number, *may)) <= odd:
            continue
        around = {other: voxels for other, main in enumerate(segments) if other != number and (voxels := _near_foot(view, item, main, foot, edge)) is not None}
        tilts = _tilts_below(item, foot, around)
        if len(tilts) != 1:
            continue
        ((other, tilt),) = tilts.items()
        main = segments[other]
        slopes = ((tilt > RESTING.level) & (tilt < RESTING.wall)).mean() > RESTING.slope
        if slopes and other in may and max(fits.of(piece).error for piece in (item, main)) > odd:
            owner[number] = other
    return joined(segments, owner)


def _tilts_below(item: Segment, foot: float, around: Mapping[int, Voxels]) -> dict[int, Array]:
    """By number of the other object the tilts (N,) [rad] of its places about the foot of a piece, near it or, where there are too few, a little farther."""
    tilts: dict[int, Array] = {}
    for reach in RESTING.reach:
        tree = cKDTree(item.points[item.points[:, 2] < foot + reach][:, :2])
        for other, voxels in around.items():
            beside = np.abs(voxels.middle[:, 2] - foot) < reach
            beside[beside] = np.isfinite(tree.query(voxels.middle[beside, :2], distance_upper_bound=reach)[0])
            if other not in tilts and beside.sum() >= RESTING.least:
                tilts[other] = np.arccos(np.clip(voxels.normal[beside, 2], -1.0, 1.0))
    return tilts


def _near_foot(view: View, item: Segment, main: Segment, foot: float, edge: float) -> Voxels | None:
    """What of ``main`` is near the foot of a piece, with as much around it as its normals need; None where there is nothing that goes lower."""
    reach = max(RESTING.reach) + 3 * edge
    foot_points = rows_of(item.points, item.points[:, 2] < foot + max(RESTING.reach))
    near = between(main.points, lowest(foot_points) - reach, highest(foot_points) + reach)
    if near.sum() < RESTING.least or main.points[:, 2].min() > foot:
        return None
    return voxels_of(rows_of(main.points, near), view.eye, edge)


def _is_hidden_below(view: View, item: Segment, foot: float) -> bool:
    """Whether it may go on below its lowest points behind something."""
    lowest = item.points[item.points[:, 2] < foot + RESTING.under]
    found = states(view, lowest[:: 1 + len(lowest) // 200] - [0.0, 0.0, RESTING.under], RESTING.before)
    return bool((found == HIDDEN).mean() > RESTING.hidden)
