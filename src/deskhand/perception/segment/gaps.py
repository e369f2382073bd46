"""Where the camera looks through between two places that are near each other in space: they belong to two objects, or to two arms of one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.segment.pixel_settings import GAPS
from deskhand.perception.view import View
from deskhand.perception.visibility import FREE, UNKNOWN, states


def gap_share(view: View, begin: Array, end: Array, margin: float) -> Array:
    """How far (N,) the ways from ``begin`` to ``end`` (N, 3) lead through a gap: 1 where the picture shows what is farther than ``margin`` [m] behind the way,
    or nothing at all, anywhere on it. Depth is lost in crevices, of which a sensor's projector or its second camera does not see the ground.
    """
    measured = replace(view, frame=replace(view.frame, depth=np.where(view.filled, np.float32(np.nan), view.frame.depth)))
    places = np.concatenate([begin + share * (end - begin) for share in GAPS.way])
    found = states(measured, places, margin).reshape(len(GAPS.way), -1)
    return np.where((found == FREE).any(axis=0), 1.0, np.where((found == UNKNOWN).any(axis=0), GAPS.unseen, 0.0))
