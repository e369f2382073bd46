"""How high objects reach, seen from above: what a held object can be let down onto."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.ndimage import grey_dilation

from deskhand.geometry import Array
from deskhand.grasping.collision import container_points
from deskhand.perception.fit.surface import complete_surface
from deskhand.types import Scene

CELL = 0.005  # [m]


class HeightMap:
    """Heights [m] above the world origin on a grid of ``CELL`` around ``centre`` (x, y).

    Args:
        scene: objects count with their completed surface, containers with walls and floor, and so do points that belong to nothing.
        half: half edge of the square that is covered [m].
        leave_out: ids that do not count, with their points.
        margin: obstacles are widened by this much [m].
    """

    def __init__(self, scene: Scene, centre: Array, half: float = 0.28, leave_out: Collection[str] = (), margin: float = 0.006) -> None:
        self.origin = np.asarray(centre, dtype=float)[:2] - half
        count = int(np.ceil(2 * half / CELL))
        self.table = float(scene.table.pose[2, 3])
        heights = np.full((count, count), self.table)
        for points in _surfaces(scene, leave_out):
            index = np.floor((points[:, :2] - self.origin) / CELL).astype(int)
            inside = np.all((index >= 0) & (index < count), axis=1)
            np.maximum.at(heights, (index[inside, 0], index[inside, 1]), points[inside, 2])
        self.exact = heights
        reach = int(np.ceil(margin / CELL))
        span = np.arange(-reach, reach + 1) * CELL
        disc = np.hypot(span[:, None], span[None, :]) <= margin + 1e-9
        self.heights: Array = grey_dilation(heights, footprint=disc) if margin > 0 else heights

    def below(self, points: Array) -> Array:
        """Widened height [m] under points (..., 2 or 3); beyond the grid that of its edge."""
        index = np.clip(np.floor((points[..., :2] - self.origin) / CELL).astype(int), 0, len(self.heights) - 1)
        return np.asarray(self.heights[index[..., 0], index[..., 1]])

    def rest_height(self, shape: Array, places: Array) -> Array:
        """Lowest height (G,) [m] of a frame whose points are ``shape`` (N, 3) relative to it, moved to ``places`` (G, 2), that touches nothing."""
        under = self.below(places[:, None, :] + shape[None, :, :2])
        return np.asarray((under - shape[None, :, 2]).max(axis=1))

    def exact_range(self, shape: Array, places: Array) -> tuple[Array, Array]:
        """Lowest and highest unwidened height (G,) [m] under points ``shape`` (N, 3) moved to ``places`` (G, 2)."""
        points = places[:, None, :] + shape[None, :, :2]
        index = np.clip(np.floor((points - self.origin) / CELL).astype(int), 0, len(self.exact) - 1)
        under = self.exact[index[..., 0], index[..., 1]]
        return np.asarray(under.min(axis=1)), np.asarray(under.max(axis=1))

    def highest_near(self, place: Array, radius: float) -> float:
        """Largest height [m] within ``radius`` [m] of (x, y)."""
        low = np.clip(((np.asarray(place)[:2] - radius - self.origin) / CELL).astype(int), 0, len(self.exact) - 1)
        high = np.clip(((np.asarray(place)[:2] + radius - self.origin) / CELL).astype(int) + 1, 1, len(self.exact))
        return float(self.exact[low[0] : high[0], low[1] : high[1]].max())


def _surfaces(scene: Scene, leave_out: Collection[str]) -> list[Array]:
    parts: list[Array] = []
    for item in scene.objects:
        if item.id in leave_out or item.relation == "held":
            continue
        parts.append(container_points(item, 0.004) if item.is_container else complete_surface(item, 0.004).body)
    return parts
