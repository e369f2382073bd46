"""The parts of a view that shape tells apart, whatever their colours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.perception.segment.convexity import convex_parts
from deskhand.perception.segment.settings import ShapeSettings
from deskhand.perception.view import View

Labels = npt.NDArray[np.int32]


def shape_labels(view: View, settings: ShapeSettings) -> Labels:
    """Number (H, W) of the part that each pixel of things belongs to, 0 for none."""
    labels = np.zeros(view.things.shape, np.int32)
    flat = np.flatnonzero(view.things)
    if len(flat) < 3:
        return labels
    points = view.points.reshape(-1, 3)[flat].astype(float)
    labels.reshape(-1)[flat] = 1 + convex_parts(points, view.eye, voxel_edge(view, settings), settings)
    return labels


def voxel_edge(view: View, settings: ShapeSettings) -> float:
    """[m], from the noise and the distance of pixels where things are."""
    far = float(np.median(view.frame.depth[view.things]))
    edge = max(settings.voxel_noise * view.noise, settings.voxel_pixels * far / view.frame.intrinsics.fx)
    return float(np.clip(edge, settings.voxel_least, settings.voxel_most))
