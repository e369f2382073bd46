"""What can be said of objects in a container that are not seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deskhand.geometry import Array, inverse, transform_points
from deskhand.types import Frame, Scene, SceneObject
from deskhand.world.spatial import carriers, inside

ABOVE_FLOOR = 0.008  # [m] that a point must be above the container's floor to be content
CONTENT_POINTS = 15
COVERED = 0.01  # [m] that the camera must see short of a spot for it to be covered
HIDDEN_SHARE = 0.15  # of the space of the container that the camera cannot see into


def content_evidence(observe: Callable[[], Frame], scene: Scene, container: SceneObject, height: float) -> tuple[bool, str]:
    """Whether an object ``height`` [m] tall can be in ``container`` although it is not seen by itself, and the evidence in words.

    It can when the picture shows content that it may be part of or lie under, or when the walls hide enough of the inside.
    """
    others = [item for item in scene.objects if item.id != container.id and item.relation != "held"]
    seen = [item.id for item in others if ("in", container.id) in carriers(scene, item) or inside(item, container)]
    if seen:
        return True, f"{', '.join(seen)} can be seen in {container.id} and may hide it"
    count = len(content_points(scene, container))
    if count >= CONTENT_POINTS:
        return True, f"the camera sees content in {container.id} ({count} points) that it cannot tell apart"
    share = hidden_share(observe(), container, height)
    if share >= HIDDEN_SHARE:
        return True, f"the camera cannot see into {100 * share:.0f} % of {container.id} at that height"
    return False, f"{container.id} looks empty and only {100 * share:.0f} % of its inside is hidden"


def content_points(scene: Scene, container: SceneObject) -> Array:
    """Seen points (N, 3) between the walls of a container, above its floor and below its rim [m, world]."""
    cloud = np.asarray(scene.cloud, dtype=float).reshape(-1, 3)
    local = transform_points(inverse(container.pose), cloud)
    half = container.size / 2
    margin = container.wall + 0.006
    within = (np.abs(local[:, :2]) < half[:2] - margin).all(axis=1)
    return np.asarray(cloud[within & (local[:, 2] > -half[2] + container.wall + ABOVE_FLOOR) & (local[:, 2] < half[2] - 0.005)])


def hidden_share(frame: Frame, container: SceneObject, height: float) -> float:
    """The share of the spots on a container's floor where the top of an object ``height`` [m] tall would not be seen.

    A spot is hidden when the depth picture shows something nearer, or nothing, along its line of sight.
    """
    half = container.size / 2
    reach = np.maximum(half[:2] - container.wall - 0.005, 0.001)
    x, y = np.meshgrid(np.linspace(-reach[0], reach[0], 15), np.linspace(-reach[1], reach[1], 15))
    z = np.full(x.size, min(-half[2] + container.wall + height, half[2]))
    spots = transform_points(container.pose, np.column_stack([x.ravel(), y.ravel(), z]))
    pixels = frame.project(spots)
    rows, columns = frame.depth.shape
    seen = np.isfinite(pixels).all(axis=1) & (pixels >= 0).all(axis=1) & (pixels[:, 0] <= columns - 1) & (pixels[:, 1] <= rows - 1)
    visible = np.zeros(len(spots), dtype=bool)
    if seen.any():
        column, row = np.round(pixels[seen]).astype(int).T
        expected = transform_points(inverse(frame.world_T_camera), spots[seen])[:, 2]
        visible[seen] = frame.depth[row, column] >= expected - COVERED  # NaN compares false: not seen
    return float(1.0 - visible.mean())
