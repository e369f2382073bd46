"""How much the depth of this frame errs, by its table: what is below it is noise, and there is as much above."""

from __future__ import annotations

import numpy as np

from deskhand.perception.segment.settings import NoiseSettings
from deskhand.types import Frame


def bend_of(frame: Frame, settings: NoiseSettings) -> float:
    """Height [1/m] over the square of the distance up to which the table of a levelled frame may seem to rise."""
    depth = frame.depth[:: settings.stride, :: settings.stride]
    k = frame.intrinsics
    v, u = np.ogrid[0 : k.height : settings.stride, 0 : k.width : settings.stride]
    right, down = (u - k.cx) / k.fx, (v - k.cy) / k.fy
    pose = frame.world_T_camera
    height = depth * (right * pose[2, 0] + down * pose[2, 1] + pose[2, 2]) + pose[2, 3]
    with np.errstate(invalid="ignore"):
        below = np.isfinite(depth) & (height < 0) & (height > -settings.deepest)
    if below.sum() < settings.least:
        return 0.0
    squared = (right**2 + down**2 + 1.0)[below] * depth[below] ** 2
    most, usual = np.quantile(-height[below] / squared, (settings.share, settings.usual))
    return settings.margin * float(min(most, settings.tail * usual))  # a table's front edge, and what is seen beyond it, lies lower and is no noise
