"""Handles of drawers and lids: what sticks out of a level or upright side of an object, narrow enough for fingers, and touches nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, inverse, transform_points
from deskhand.types import Scene, SceneObject

CELL = 0.004  # [m] of the raster in which a side is drawn
NOISE = 0.004  # [m] that points of a flat side lie off it
LEAST, MOST = 0.010, 0.075  # [m] that a handle sticks out: less is a frame or a label, more another object
SIDE = 0.0015  # [m2] of a side that must be seen flat
BODY = 0.045  # [m] edge of the smallest side that a handle is on
THIN, NARROW = 0.004, 0.035  # [m] the thinner way of a handle: less is an edge, more no hand closes on
LONG = 0.20  # [m]
FEWEST = 8  # points
EDGE = 0.75  # of the side: what is longer, and farther off its middle, is an edge
ROUND = 0.1  # by which the ways across an upright round object differ at most
ABOVE = 0.012  # [m] over the table, from which on points count; what comes down so far stands in front of it


@dataclass(frozen=True)
class Handle:
    """A handle, in the world frame.

    Attributes:
        object_id: what it is on.
        centre: (3,) [m], of what sticks out.
        outward: (3,) unit normal of the side that it is on: horizontal for a drawer, up for a lid.
        along: (3,) unit vector of its longer way within that side.
        size: (3,) [m] along ``outward`` (from the side to its outermost point), ``along``, and across both.
        gap: [m] behind its outer part that is free, as behind a bar on two posts; 0 where that is not seen.
    """

    object_id: str
    centre: Array
    outward: Array
    along: Array
    size: Array
    gap: float = 0.0

    @property
    def across(self) -> Array:
        """(3,) unit vector of its thinner way within the side."""
        return np.asarray(np.cross(self.outward, self.along))

    @property
    def on_top(self) -> bool:
        """Whether it is on an upper side, as that of a lid."""
        return bool(self.outward[2] > 0.7)


def handles_in(scene: Scene, item: SceneObject) -> list[Handle]:
    """Handles of ``item``, see :func:`find_handles`, without what belongs to a larger object beside it, as the case does out of which a drawer came."""
    larger = [other for other in scene.objects if other.id != item.id and not other.is_container and max(other.size) > LONG / 2]
    found = find_handles(scene.cloud, item, float(scene.table.pose[2, 3]))
    return [handle for handle in found if not any(_holds(other, handle.centre) for other in larger)]


def _holds(item: SceneObject, place: Array) -> bool:
    return bool((np.abs(transform_points(inverse(item.pose), place[None])[0]) < np.asarray(item.size, dtype=float) / 2 + NOISE).all())


def find_handles(cloud: npt.NDArray[np.float32], item: SceneObject, floor: float = 0.0) -> list[Handle]:
    """Handles on the sides of ``item`` that are seen, the uppermost first.

    ``cloud`` (N, 3) [m, world]: everything seen above the table. ``floor`` [m]: height of the table.
    """
    size = np.asarray(item.size, dtype=float)
    local = transform_points(inverse(item.pose), np.asarray(cloud, dtype=float))
    close = (np.abs(local) < size / 2 + MOST).all(axis=1) & (cloud[:, 2] > floor + ABOVE)
    near, heights = local[close], np.asarray(cloud[close, 2] - floor, dtype=float)
    found = [handle for axis, sign in _sides(item) for handle in _on_side(near, heights, size, axis, sign)]
    return sorted((_in_world(item, *each) for each in found), key=lambda handle: -float(handle.centre[2]))


def _sides(item: SceneObject) -> Iterator[tuple[int, float]]:
    """Axis of the object's box and direction of its flat sides, but for the one it stands on."""
    round_about = item.shape in ("cylinder", "sphere") and abs(item.size[0] - item.size[1]) < ROUND * max(item.size[:2]) and abs(item.pose[2, 2]) > 0.7
    for axis in (2,) if round_about else range(3):
        for sign in (1.0, -1.0):
            if sign * float(item.pose[2, axis]) > -0.7:
                yield axis, sign


def _on_side(points: Array, heights: Array, size: Array, axis: int, sign: float) -> list[tuple[int, float, Array, Array, float]]:
    """(axis, sign, middle (3,), extents (3,), gap) in the frame of the object's box of what sticks out of one side."""
    others = [number for number in range(3) if number != axis]
    out, flat = sign * points[:, axis], points[:, others]
    if min(size[others]) < BODY or len(points) < FEWEST:
        return []
    inside = (np.abs(flat) < size[others] / 2).all(axis=1)
    level = _level(out[inside], flat[inside], size[axis] / 2)
    if level is None:
        return []
    sticks = (out > level + LEAST / 2) & (out < level + MOST) & (np.abs(flat) < size[others] / 2 + CELL).all(axis=1)
    own = [one for one in _clusters(flat, sticks) if not _stands(heights[one]) and _is_handle(out[one] - level, flat[one])]
    own = [one for one in own if not _is_edge(flat[one], size[others])]
    return [(axis, sign, *_measured(out[one], flat[one], level, axis, sign)) for one in own]


def _level(out: Array, flat: Array, half: float) -> float | None:
    """How far out [m] the flat side is: the outermost level at which enough of it is seen; None where there is none near the side of the box."""
    near = (out > half - MOST) & (out < half + MOST)
    if near.sum() < FEWEST:
        return None
    steps = np.round(out[near] / (NOISE / 2)).astype(int)
    cells = np.round(flat[near] / CELL).astype(int)
    areas = {step: len(np.unique(cells[np.abs(steps - step) <= 1], axis=0)) * CELL**2 for step in np.unique(steps)}
    large = [step for step, area in areas.items() if area > max(SIDE, 0.4 * max(areas.values()))]
    return max(large, key=lambda step: (areas[step] > 0.7 * max(areas.values()), step)) * NOISE / 2 if large else None


def _clusters(flat: Array, sticks: npt.NDArray[np.bool_]) -> Iterator[npt.NDArray[np.intp]]:
    """Indices of points that stick out side by side."""
    index = np.flatnonzero(sticks)
    if len(index) < FEWEST:
        return
    cells = np.round(flat[index] / CELL).astype(int)
    cells -= cells.min(axis=0) - 1
    raster = np.zeros(cells.max(axis=0) + 2, np.uint8)
    raster[cells[:, 0], cells[:, 1]] = 1
    labels = cv2.connectedComponents(cv2.morphologyEx(raster, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), connectivity=8)[1]
    of = labels[cells[:, 0], cells[:, 1]]
    for number in range(1, int(labels.max()) + 1):
        if (of == number).sum() >= FEWEST:
            yield index[of == number]


def _is_handle(out: Array, flat: Array) -> bool:
    spread = np.sort(np.quantile(flat, 0.95, axis=0) - np.quantile(flat, 0.05, axis=0))
    return bool(THIN < spread[0] < NARROW and spread[1] < LONG and np.quantile(out, 0.9) > LEAST and np.mean(out > MOST - 2 * NOISE) < 0.03)


def _stands(heights: Array) -> bool:
    """Whether its points go down to the table, as those of what stands in front do; a few stray ones do not count."""
    low, high = np.quantile(heights, 0.1), np.quantile(heights, 0.98)
    return bool(low < ABOVE + 0.1 * (high - ABOVE) + 1.5 * CELL)


def _is_edge(flat: Array, size: Array) -> bool:
    """Whether it goes along a whole edge of the side, as what overhangs does."""
    low, high = np.quantile(flat, 0.05, axis=0), np.quantile(flat, 0.95, axis=0)
    long = int(np.argmax((high - low) / size))
    return bool((high - low)[long] > EDGE * size[long] and abs(low + high)[1 - long] > EDGE * size[1 - long])


def _measured(out: Array, flat: Array, level: float, axis: int, sign: float) -> tuple[Array, Array, float]:
    """Middle (3,) and extents (3,) in the frame of the box, and the gap behind."""
    low, high = np.quantile(flat, 0.02, axis=0), np.quantile(flat, 0.98, axis=0)
    outermost = float(np.quantile(out, 0.98))
    middle, extents = np.zeros(3), np.zeros(3)
    others = [number for number in range(3) if number != axis]
    middle[others], extents[others] = (low + high) / 2, high - low
    middle[axis], extents[axis] = sign * (level + outermost) / 2, outermost - level
    gap = max(0.0, outermost - level - float(extents[others].min()))  # as thick as it is high: a rod
    return middle, extents, gap


def _in_world(item: SceneObject, axis: int, sign: float, middle: Array, extents: Array, gap: float) -> Handle:
    others = [number for number in range(3) if number != axis]
    longer = max(others, key=lambda number: extents[number])
    shorter = next(number for number in others if number != longer)
    outward, along = sign * item.pose[:3, axis], item.pose[:3, longer]
    centre = transform_points(item.pose, middle[None])[0]
    return Handle(item.id, centre, outward, along, np.array([extents[axis], extents[longer], extents[shorter]]), gap)
