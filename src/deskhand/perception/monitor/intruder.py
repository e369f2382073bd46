"""Parts of people in the workspace: what reaches in from outside, above the table, and is not the robot's own."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.monitor.change import Background, ChangedRegion
from deskhand.perception.monitor.sample import Floats, Mask, ThinnedPicture
from deskhand.perception.monitor.settings import INTRUDER
from deskhand.types import Table


@dataclass(frozen=True)
class Presence:
    """Somebody reaches in: ``nearest`` (3,) is the point of them nearest to the robot's tool, ``distance`` [m] away; ``area`` [m2] is what is seen of them."""

    nearest: Array
    distance: float
    area: float


class IntruderMonitor:
    """Tells from picture to picture whether a person reaches into the workspace."""

    def __init__(self, first: ThinnedPicture, table: Table) -> None:
        self._background = Background(first)
        self._table = table
        self._streak = 0
        self.present: Presence | None = None

    def update(self, now: ThinnedPicture, tcp: Array) -> bool:
        """Take a picture, the tool being at ``tcp`` (3,) [m]; true when somebody has come or gone since the last event (see ``present``)."""
        found = [seen for region in self._background.changes(now).regions if (seen := self._presence(region, now, tcp)) is not None]
        nearest = min(found, key=lambda seen: seen.distance) if found else None
        changed = (nearest is None) != (self.present is None)
        self._streak = self._streak + 1 if changed else 0
        if not changed:
            self.present = nearest
        elif self._streak >= INTRUDER.again:
            self.present, self._streak = nearest, 0
            return True
        return False

    def _presence(self, region: ChangedRegion, now: ThinnedPicture, tcp: Array) -> Presence | None:
        body = region.nearer
        area = float(np.nansum(now.pixel_area[body]))
        if area < INTRUDER.area:
            return None
        points = now.points[body & np.isfinite(now.depth)]
        if not len(points) or np.percentile(points[:, 2], 80) < INTRUDER.height:
            return None
        if not (self._from_edge(body) or self._from_beyond(points)):
            return None
        distance = np.linalg.norm(points - tcp, axis=1)
        return Presence(np.asarray(points[int(distance.argmin())], float), float(distance.min()), area)

    def _from_edge(self, body: Mask) -> bool:
        wide = cv2.dilate(body.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        edge = INTRUDER.border
        return bool(wide[:edge].any() or wide[-edge:].any() or wide[:, :edge].any() or wide[:, -edge:].any())

    def _from_beyond(self, points: Floats) -> bool:
        half = np.asarray(self._table.size) / 2 + INTRUDER.beyond
        return bool((np.abs(points[:, :2] - self._table.pose[:2, 3]) > half).any(axis=1).mean() > 0.02)
