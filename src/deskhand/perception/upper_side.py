"""The upper side of an object as a camera straight above would see it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.perception.quantiles import quantile
from deskhand.types import Frame

PIXEL = 0.001
"""[m] of the view from above."""
TOP = 0.008  # [m] below its highest level surface that belong to it
BESIDE = 0.003  # [m] from where the picture shows a point of the upper side that it may lie
MARGIN = 6  # pixels around it
Mask = npt.NDArray[np.bool_]


def upper_side(frame: Frame, points: npt.NDArray[np.float32], own: Mask, valid: Mask) -> Mask:
    """A mask (H, W), x of the world along its rows, :data:`PIXEL` a pixel: each pixel of the plan is looked up in the picture.

    ``points`` (h, w, 3) in the world and ``valid``, where there are any, of the pixels of ``frame``; ``own``: those that show the object.
    """
    seen = points[own & valid]
    if len(seen) < 20:
        return np.zeros((1, 1), bool)
    top = quantile(seen[:, 2], 0.9)
    upper = seen[seen[:, 2] > top - TOP]
    low = upper[:, :2].min(axis=0) - MARGIN * PIXEL
    shape = tuple(np.ceil((upper[:, :2].max(axis=0) - low) / PIXEL).astype(int) + MARGIN)
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    plan = np.column_stack([(np.stack([rows.ravel(), columns.ravel()], axis=1) + 0.5) * PIXEL + low, np.full(rows.size, top)])
    pixels = np.round(frame.project(plan))
    inside = np.isfinite(pixels).all(axis=1) & (pixels >= 0).all(axis=1) & (pixels[:, 0] < own.shape[1]) & (pixels[:, 1] < own.shape[0])
    u, v = pixels[inside].astype(int).T
    off = np.linalg.norm(points[v, u][:, :2] - plan[inside, :2], axis=1)  # walls below the edge are seen there, but lie elsewhere
    result = np.zeros(rows.size, bool)
    result[inside] = own[v, u] & (np.abs(points[v, u][:, 2] - top) < TOP) & (off < BESIDE)
    return result.reshape(shape)
