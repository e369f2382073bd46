"""How high objects reach, seen from above: what a held object can be let down onto."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from scipy.ndimage import grey_dilation

from deskhand.geometry import Array, cylinder_axis
from deskhand.grasping.collision import container_points
from deskhand.perception.fit.surface import complete_surface
from deskhand.types import Scene, SceneObject

CELL = 0.005  # [m]
PARALLEL = 1e-9  # a line that comes no nearer than this to a face on a metre goes along it


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
        axis = self.origin[:, None] + (np.arange(count) + 0.5) * CELL
        middles = np.stack(np.meshgrid(*axis, indexing="ij"), axis=-1)
        for points, top in _surfaces(scene, leave_out, middles):
            np.maximum(heights, top, out=heights)
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


def _surfaces(scene: Scene, leave_out: Collection[str], middles: Array) -> Iterator[tuple[Array, Array | float]]:
    """Samples (N, 3) of each object's surface, and its height (..., ) over places (..., 2) where it is a plain solid, whose samples may be far apart."""
    for item in scene.objects:
        if item.id in leave_out or item.relation == "held":
            continue
        if item.is_container:
            yield container_points(item, 0.004), -np.inf
            continue
        surface = complete_surface(item, 0.004)
        yield surface.body, top_of(item, middles) if surface.simple else -np.inf


def top_of(item: SceneObject, places: Array) -> Array:
    """Height (...,) [m, world] of a box, cylinder or sphere over places (..., 2): where a vertical line enters it from above; -inf beside it."""
    half = np.asarray(item.size, dtype=float) / 2
    rotation, down = item.pose[:3, :3], -item.pose[2, :3]
    start = (np.concatenate([places, np.zeros((*places.shape[:-1], 1))], axis=-1) - item.pose[:3, 3]) @ rotation
    if item.shape == "sphere":
        first, last = _into_round(start, down, float(half.mean()))
    elif item.shape == "cylinder":
        axis = cylinder_axis(2 * half)
        across = [other for other in range(3) if other != axis]
        first, last = _into_round(start[..., across], down[across], float(half[across].mean()))
        first, last = _both((first, last), _into_slab(start[..., axis], float(down[axis]), float(half[axis])))
    else:
        first, last = _into_slab(start[..., 0], float(down[0]), float(half[0]))
        for axis in (1, 2):
            first, last = _both((first, last), _into_slab(start[..., axis], float(down[axis]), float(half[axis])))
    return np.where(first <= last, -first, -np.inf)


def _both(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.maximum(one[0], other[0]), np.minimum(one[1], other[1])


def _into_slab(start: Array, down: float, half: float) -> tuple[Array, Array]:
    """How far [m] along the line it enters and leaves what lies between ``-half`` and ``half``; for a line that never does the first is the larger."""
    if abs(down) < PARALLEL:
        within = np.abs(start) <= half
        return np.where(within, -np.inf, np.inf), np.where(within, np.inf, -np.inf)
    one, other = (-half - start) / down, (half - start) / down
    return np.minimum(one, other), np.maximum(one, other)


def _into_round(start: Array, down: Array, radius: float) -> tuple[Array, Array]:
    """As :func:`_into_slab` for a circle or sphere about the origin; ``start`` (..., n), ``down`` (n,) of the line."""
    a, b, c = float(down @ down), start @ down, (start * start).sum(axis=-1) - radius**2
    if a < PARALLEL:
        return np.where(c <= 0, -np.inf, np.inf), np.where(c <= 0, np.inf, -np.inf)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    hit = b * b >= a * c
    return np.where(hit, (-b - root) / a, np.inf), np.where(hit, (-b + root) / a, -np.inf)
