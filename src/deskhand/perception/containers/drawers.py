"""Open drawers: a hollow with thin walls that comes out of something higher.

Seen from above at the height of its walls, the hollow is free (the camera sees past it, farther down) and closed all round: by thin walls, behind which it is
free again, and on one side by the body out of which it was pulled. Nobody tells that there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.containers.compartments import free_places, holes_in
from deskhand.perception.containers.containers import pieces_of
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.containers.settings import DRAWER
from deskhand.perception.footprint import Rectangle, rectangle
from deskhand.perception.quantiles import median, quantile
from deskhand.perception.rows import rows_of
from deskhand.perception.segment.segmentation import Segment, make_segment, part_of
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.view import Mask, View


@dataclass(frozen=True)
class _Side:
    """One side of a hole: axis 0 or 1 of its rectangle, and direction."""

    axis: int
    sign: float

    def out(self, inner: Rectangle, points: Array) -> Array:
        """(N,) [m] beyond the edge of this side."""
        return np.asarray(self.sign * inner.local(points[:, :2])[:, self.axis] - inner.size[self.axis] / 2)

    def along(self, inner: Rectangle, points: Array) -> Array:
        """(N,) [m] along it, from its middle."""
        return np.asarray(inner.local(points[:, :2])[:, 1 - self.axis])

    @property
    def other(self) -> _Side:
        """The side opposite."""
        return _Side(self.axis, -self.sign)


SIDES = tuple(_Side(axis, sign) for axis in (0, 1) for sign in (1.0, -1.0))


@dataclass(frozen=True)
class _Drawer:
    """``inner`` rectangle of the hollow, ``top`` and ``floor`` [m], thickness ``wall`` [m] of its walls, ``front``: the side away from the body."""

    inner: Rectangle
    top: float
    floor: float
    wall: float
    front: _Side


def find_drawers(view: View, segments: list[Segment], hollows: Sequence[Hollow], settings: PerceptionSettings) -> tuple[list[Hollow], list[Segment]]:
    """Open drawers, and the segments that are left: what they came out of, and what lies in them. Where one of ``hollows`` is, there is no drawer."""
    measured = [rows_of(item.points, item.measured) for item in segments]
    points = np.concatenate(measured) if measured else np.zeros((0, 3))
    if len(points) < DRAWER.least:
        return [], segments
    found: list[_Drawer] = []
    for height in np.arange(quantile(points[:, 2], 0.999), DRAWER.low, -DRAWER.step):
        for hole in holes_in(view, points, float(height), DRAWER.narrowest):
            taken = any(other.inner.inside(hole.inner.centre[None])[0] for other in found)
            known = any(hollow.holds(_ground(hole.inner)).all() for hollow in hollows)
            drawer = None if taken or known else _drawer(view, points, hole.inner, float(height))
            if drawer is not None:
                found.append(drawer)
    drawers, left = [], segments
    for drawer in found:
        rim = rectangle(drawer.inner.centre, drawer.inner.size + 2 * drawer.wall, drawer.inner.yaw)
        own, left = _claimed(view, drawer, rim, left, settings)
        if own:
            segment = make_segment(view, np.concatenate([item.pixels for item in own]))
            bottom = max(drawer.floor - drawer.wall, 0.0)
            drawers.append(Hollow(segment, rim, False, drawer.top, drawer.wall, drawer.floor, bottom, drawer=True))
    return drawers, left


def _drawer(view: View, points: Array, inner: Rectangle, height: float) -> _Drawer | None:
    """What a hole at ``height`` [m] is, where it is an open drawer."""
    if inner.size.max() > DRAWER.longest:
        return None
    bodies = [side for side in SIDES if _is_body(points, inner, side, height)]
    if len(bodies) != 1:
        return None
    front = bodies[0].other
    beside = [side for side in SIDES if side.axis != front.axis]
    walls = {side: _wall(view, points, inner, side, height) for side in (front, *beside)}
    thick = [each[0] for each in walls.values() if each is not None]
    if walls[front] is None or len(thick) < 2:
        return None
    within = points[inner.inside(points[:, :2], DRAWER.off_wall) & _seen_through(inner, height, points, view.eye)]
    if len(within) < DRAWER.seen:
        return None
    floor = quantile(within[:, 2], 0.05)
    if floor < DRAWER.above_table or height - floor < DRAWER.deep:
        return None
    top = max(each[1] for each in walls.values() if each is not None)
    return _Drawer(inner, top, floor, float(np.clip(median(np.array(thick)), *DRAWER.wall)), front)


def _ground(inner: Rectangle) -> Array:
    """Places (4, 3) halfway to its corners."""
    return np.column_stack([inner.centre + (inner.size / 4 * [[1, 1], [1, -1], [-1, 1], [-1, -1]]) @ inner.rotation.T, np.zeros(4)])


def _seen_through(inner: Rectangle, height: float, points: Array, eye: Array) -> Mask:
    """Which points (N, 3) a camera at ``eye`` (3,) sees through the opening at ``height``: not what is seen below the floor, from beside."""
    way = points - eye
    share = np.divide(height - eye[2], way[:, 2], out=np.zeros(len(points)), where=(points[:, 2] < height) & (way[:, 2] < 0))
    return np.asarray((share > 0) & inner.inside((eye + share[:, None] * way)[:, :2]))


def _is_body(points: Array, inner: Rectangle, side: _Side, height: float) -> bool:
    """Whether what is beyond a side is higher than the hole, and thick: no wall of something that stands a hand's breadth away."""
    out, along = side.out(inner, points), side.along(inner, points)
    high = points[:, 2] > height + DRAWER.higher
    return all(_covered(along[high & (out > near) & (out < far)], inner.size[1 - side.axis]) for near, far in pairwise(DRAWER.body))


def _wall(view: View, points: Array, inner: Rectangle, side: _Side, height: float) -> tuple[float, float] | None:
    """Thickness and height [m] of a thin wall at a side: seen along most of it, and soon behind it free."""
    out, along = side.out(inner, points), side.along(inner, points)
    near = (out > -DRAWER.off_wall) & (out < DRAWER.thick) & (points[:, 2] > height - DRAWER.below) & (points[:, 2] < height + DRAWER.over)
    if not _covered(along[near], inner.size[1 - side.axis]):
        return None
    ways = np.linspace(-0.4, 0.4, 9) * inner.size[1 - side.axis]
    steps = np.arange(DRAWER.wall[0], DRAWER.beyond, DRAWER.wall[0])
    local = np.zeros((len(steps), len(ways), 2))
    local[..., side.axis] = side.sign * (inner.size[side.axis] / 2 + steps[:, None])
    local[..., 1 - side.axis] = ways
    places = inner.centre + local.reshape(-1, 2) @ inner.rotation.T
    free = free_places(view, np.column_stack([places, np.full(len(places), height)])).reshape(len(steps), len(ways)).mean(axis=1)
    if free.max() < DRAWER.free:
        return None
    top = quantile(points[near, 2], 0.9)
    return quantile(out[near & (points[:, 2] > top - DRAWER.margin)], 0.9), top


def _is_its_handle(out: Array, z: Array, there: Mask) -> bool:
    """Whether a segment is what sticks out of the front: nearly all of it is where a handle is, it begins near the front, and does not stand on the table."""
    return bool(there.mean() > DRAWER.all_of_it and quantile(out, 0.05) < DRAWER.begins and quantile(z, 0.05) > DRAWER.off_table)


def _covered(along: Array, length: float) -> bool:
    """Whether places along a side (N,) [m from its middle] cover most of its ``length`` [m]."""
    count = max(3, round(length / DRAWER.bin))
    cells = np.floor((along / length + 0.5) * count).astype(int)
    return len(np.unique(cells[(cells >= 0) & (cells < count)])) >= DRAWER.covered * count


def _claimed(view: View, drawer: _Drawer, rim: Rectangle, segments: list[Segment], settings: PerceptionSettings) -> tuple[list[Segment], list[Segment]]:
    """What of the segments is its walls, floor and handle; and the rest, with what lies in it apart from what it came out of."""
    own: list[Segment] = []
    left: list[Segment] = []
    for item in segments:
        points = item.points
        z, out = points[:, 2], drawer.front.out(rim, points)
        level = (z < drawer.top + DRAWER.margin) & (z > drawer.floor - DRAWER.under) & (drawer.front.other.out(drawer.inner, points) < 0)
        within = rim.inside(points[:, :2], drawer.wall + DRAWER.margin)
        handle = (out > 0) & (out < DRAWER.handle) & (np.abs(drawer.front.along(rim, points)) < rim.size[1 - drawer.front.axis] / 2)
        shell = rim.inside(points[:, :2], -DRAWER.margin) & (~within | (z < drawer.floor + DRAWER.margin))
        through = _seen_through(drawer.inner, drawer.top, points, view.eye)
        walls = level & shell
        if walls.sum() < DRAWER.scrap:
            (own if _is_its_handle(out, z, level & handle) else left).append(item)
            continue
        mine = walls | (level & handle)
        contents = within & ~mine & through & (z > drawer.floor)
        pieces = pieces_of(view, item.pixels[contents], settings) if contents.sum() >= settings.min_pixels else []
        own.append(part_of(item, mine))
        left += pieces
        if (~(mine | contents)).sum() >= DRAWER.scrap:
            left.append(part_of(item, ~(mine | contents)))
    return own, left
