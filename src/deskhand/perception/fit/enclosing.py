"""Bodies that no plain solid explains, in a box around all that is seen of them: a solid through their top, or their body, would leave out what sticks out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.perception.fit.settings import SOLIDS
from deskhand.perception.fit.solid import Solid, standing_pose
from deskhand.perception.footprint import tight_rectangle
from deskhand.perception.quantiles import quantile
from deskhand.perception.rows import all_of
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.support.support import Placed

OUT = 0.15  # share of what is seen of a body that may be outside of its solid
TRIM = 0.01  # share of its points that may be noise


def enclosed(item: Placed) -> Placed:
    """The same, its solid an upright box around all of it where that is whole and its solid leaves out more than :data:`OUT`."""
    if not item.segment.whole or item.hollow is not None or item.relation == "held" or outside(item.solid, item.segment) < OUT:
        return item
    points = item.segment.points[item.segment.measured]
    low, high = quantile(points[:, 2], TRIM), quantile(points[:, 2], 1 - TRIM)
    bottom = min(low, float(item.solid.pose[2, 3] - np.abs(item.solid.pose[2, :3]) @ item.solid.size / 2))
    outline = tight_rectangle(points[(points[:, 2] >= low) & (points[:, 2] <= high), :2])
    pose = standing_pose(float(outline.centre[0]), float(outline.centre[1]), (bottom + high) / 2, outline.yaw)
    return replace(item, solid=Solid("box", pose, np.array([*outline.size, high - bottom]), item.solid.error))


def outside(solid: Solid, item: Segment) -> float:
    """Share of the measured points of a segment that are outside of a solid, and not just by noise."""
    points = item.points[item.measured]
    points = points[:: 1 + len(points) // SOLIDS.max_points] - solid.pose[:3, 3]
    return float((~all_of(np.abs(points @ solid.pose[:3, :3]) <= solid.size / 2 + SOLIDS.within)).mean()) if len(points) else 0.0
