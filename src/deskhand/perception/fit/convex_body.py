"""A convex body is one object: two that touch leave a notch between them, but where they lie flush, and then a plain solid explains both together."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from deskhand.perception.fit.part_settings import CONVEX
from deskhand.perception.rows import rows_of, spans
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.view import View


def is_convex(view: View, item: Segment) -> bool:
    """Whether nearly all that is seen of a segment lies on its convex hull, as that of a carton with its gable, a wedge or a cone."""
    points = rows_of(item.points, item.measured)
    if len(points) < CONVEX.least:
        return False
    try:
        hull = ConvexHull(points[:: 1 + len(points) // CONVEX.hull])
    except QhullError:
        return False
    toward = hull.equations[:, :3] @ view.eye + hull.equations[:, 3] > 0  # the rest of the hull is what the camera does not see
    some = points[:: 1 + len(points) // CONVEX.asked]
    below = -(some @ hull.equations[toward, :3].T + hull.equations[toward, 3]).max(axis=1)
    off = max(CONVEX.noise * view.noise, CONVEX.off * float(spans(points).max()))
    return bool(np.mean(below > off) < CONVEX.notch)
