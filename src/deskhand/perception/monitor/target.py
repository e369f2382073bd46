"""One target followed from picture to picture by its place, size and colour, and found again after it was lost."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.monitor.sample import Floats, Mask, ThinnedPicture
from deskhand.perception.monitor.settings import TARGET


@dataclass(frozen=True)
class Tracked:
    """Where the target is: its pixels (h, w) of the thinned picture, the middle (3,) of what is seen of it [m, levelled world], and how sure that is, 0..1.

    A target that is lost has no pixels; its middle is where it was last seen.
    """

    mask: Mask
    center: Array
    sure: float

    @property
    def lost(self) -> bool:
        """True when it is not seen."""
        return not self.mask.any()


class TargetTracker:
    """Follows what ``mask`` (h, w) shows in ``first``; colour and size stay those of that picture."""

    def __init__(self, first: ThinnedPicture, mask: Mask) -> None:
        self._color = first.chroma[mask].mean(axis=0), float(np.median(first.light[mask]))
        self._area = float(np.nansum(first.pixel_area[mask]))
        points = first.points[mask & np.isfinite(first.depth)]
        self._reach = float(np.quantile(np.linalg.norm(points - np.median(points, axis=0), axis=1), 0.95)) + TARGET.margin
        self.now = Tracked(mask, np.median(points, axis=0), 1.0)
        self._speed = np.zeros(3)
        self._stamp = first.stamp

    def update(self, sample: ThinnedPicture) -> Tracked:
        """Follow it into the next picture."""
        could = self._could_be(sample)
        since = sample.stamp - self._stamp
        self._stamp = sample.stamp
        found = None
        if not self.now.lost:
            found = self._near(sample, could, self.now.center + self._speed * since)
        if found is None:
            found = self._anywhere(sample, could)
        if found is None:
            self._speed = np.zeros(3)
            self.now = Tracked(np.zeros_like(could), self.now.center, 0.0)
            return self.now
        if since > 0 and not self.now.lost:
            self._speed = 0.5 * self._speed + 0.5 * (found.center - self.now.center) / since
        self.now = found
        return found

    def _could_be(self, sample: ThinnedPicture) -> Mask:
        """Pixels above the table with its colour that are not the robot's."""
        color, light = self._color
        with np.errstate(invalid="ignore"):
            high = sample.points[..., 2] > TARGET.height
        alike = np.linalg.norm(sample.chroma - color, axis=-1) < TARGET.chroma
        ratio = (sample.light + 8.0) / (light + 8.0)
        mask = high & alike & (ratio > TARGET.darker) & (ratio < TARGET.brighter) & ~sample.robot
        return np.asarray(mask & (cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0))

    def _near(self, sample: ThinnedPicture, could: Mask, place: Array) -> Tracked | None:
        """Mean shift (Comaniciu et al. 2003) in space: what could be the target within its own reach of where it should be."""
        where, points = np.nonzero(could), sample.points[could]
        if not len(points):
            return None
        reach = self._reach + TARGET.step
        for _ in range(6):
            distance = np.linalg.norm(points - place, axis=1)
            within = distance < reach
            if within.sum() < TARGET.pixels:
                return None
            new = points[within].mean(axis=0)
            reach = max(self._reach, 0.7 * reach)
            if np.linalg.norm(new - place) < 5e-4 and reach == self._reach:
                break
            place = new
        within = np.linalg.norm(points - place, axis=1) < self._reach
        mask = np.zeros_like(could)
        mask[where[0][within], where[1][within]] = True
        return self._told(sample, mask)

    def _anywhere(self, sample: ThinnedPicture, could: Mask) -> Tracked | None:
        """The part of the picture that is most like the target in size and colour."""
        count, labels = cv2.connectedComponents(could.astype(np.uint8), connectivity=8)
        found = [self._told(sample, labels == number) for number in range(1, count) if (labels == number).sum() >= TARGET.pixels]
        good = [one for one in found if one is not None and one.sure >= TARGET.again]
        return max(good, key=lambda one: one.sure) if good else None

    def _told(self, sample: ThinnedPicture, mask: Mask) -> Tracked | None:
        points: Floats = sample.points[mask]
        if len(points) < TARGET.pixels:
            return None
        share = float(np.nansum(sample.pixel_area[mask])) / max(self._area, 1e-9)
        if share < TARGET.least:
            return None
        unlike = float(np.linalg.norm(sample.chroma[mask].mean(axis=0) - self._color[0])) / TARGET.chroma
        return Tracked(mask, np.asarray(np.median(points, axis=0), float), float(np.clip(min(share, 1 / share) * (1 - unlike / 2), 0.0, 1.0)))
