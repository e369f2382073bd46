"""An open hollow object as it was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.containers.settings import HANDLE, HOLLOW
from deskhand.perception.footprint import Rectangle
from deskhand.perception.rows import lengths
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.view import Mask


@dataclass(frozen=True)
class Hollow:
    """An open object.

    Attributes:
        segment: its own pixels, without what lies in it.
        rim: outer rectangle of the rim (for round ones the square around the circle).
        round: whether the rim is a circle.
        height: of the rim above the table [m].
        wall: thickness [m] of the walls.
        floor: height of the inner floor above the table [m].
        bottom: height above the table [m] of what it stands on, where its own height is known.
        divided: whether it is one of several compartments within one rim.
        drawer: whether it comes out of something higher.
    """

    segment: Segment
    rim: Rectangle
    round: bool
    height: float
    wall: float
    floor: float
    bottom: float = 0.0
    divided: bool = False
    drawer: bool = False

    @property
    def for_sorting(self) -> bool:
        """True when it is wide enough for objects to be put in."""
        return self.drawer or float(self.rim.size.min()) >= (HOLLOW.sorting_round if self.round else HOLLOW.sorting_side)

    def holds(self, points: Array, margin: float = 0.0) -> Mask:
        """Which points (N, 3) are within the rim's outline, seen from above."""
        if self.round:
            return np.asarray(lengths(points[:, :2] - self.rim.centre) < self.rim.size[0] / 2 - margin)
        return self.rim.inside(points[:, :2], margin)

    def shows(self, points: Array) -> bool:
        """Whether points (N, 3) of a piece are the walls of this cup, outside or inside; what stands in it is in its middle, or not as high as its rim."""
        if self.for_sorting or not self.round or abs(float(points[:, 2].max()) - self.height) > HOLLOW.same_rim:
            return False
        out = lengths(points[:, :2] - self.rim.centre) / (self.rim.size[0] / 2)
        return bool(self.holds(points, -HOLLOW.beside).mean() > HOLLOW.within and np.median(out) > HOLLOW.outer)

    def handle_plane(self, points: Array, noise: float = 0.0) -> tuple[Array, float]:
        """Direction (2,), unit, of the upright plane through the axis of a round object in which points (N, 3) beside it lie, and the share of them that are
        where a handle is: near that plane, neither far out nor higher than the rim nor at the foot. ``noise`` [m] of the depth.
        """
        offset = points[:, :2] - self.rim.centre
        way = offset.mean(axis=0)
        way = way / max(1e-9, float(np.linalg.norm(way)))
        out, aside = offset @ way, offset @ np.array([-way[1], way[0]])
        radius = float(self.rim.size[0]) / 2
        flat = np.abs(aside) < HANDLE.thick / 2 + HANDLE.noise * noise
        near = (out > HANDLE.narrower * radius) & (out < radius + HANDLE.out)
        high = (points[:, 2] > self.bottom + HANDLE.above) & (points[:, 2] < self.height + HANDLE.over)
        return way, float((flat & near & high).mean())

    def handle(self, points: Array) -> Mask:
        """Which points (N, 3) of a piece are beside the wall of this round object, where these all are where a handle is; else none."""
        beside = lengths(points[:, :2] - self.rim.centre) > self.rim.size[0] / 2 + HANDLE.beside
        is_handle = bool(self.round and beside.any() and self.handle_plane(points[beside])[1] > HANDLE.within)
        return np.asarray(beside & is_handle)

    def seen_within(self, points: Array, eye: Array) -> Mask:
        """Which points (N, 3) below the rim a camera at ``eye`` (3,) sees through the opening."""
        below = points[:, 2] < self.height
        way = points - eye
        share = np.divide(self.height - eye[2], way[:, 2], out=np.ones(len(points)), where=below & (way[:, 2] < 0))
        return np.asarray(below & self.holds(eye + share[:, None] * way, self.wall))

    def inside_at(self, points: Array) -> Array:
        """Height [m] of what is seen of the inside of the empty object, at most, at points (N, 3); that of a bowl curves."""
        height = np.full(len(points), self.floor)
        width = float(self.rim.size[0])
        if self.round and self.height < HOLLOW.bowl * width:
            out = lengths(points[:, :2] - self.rim.centre) / (width / 2)
            height += (self.height - self.floor) * np.minimum(out, 1.0) ** 2
        return height
