"""Change detection: what differs from the picture that is remembered of a camera that stands still."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.frame_settings import STEADY
from deskhand.perception.monitor.sample import Mask, ThinnedPicture
from deskhand.perception.monitor.settings import CHANGE


@dataclass(frozen=True)
class ChangedRegion:
    """A part of the picture that is not what it was.

    Attributes:
        mask: its pixels (h, w); ``nearer``: those where something stands before what was seen; ``farther``: those where what was seen is gone.
        area: of its pixels as surfaces that face the camera [m2].
        center: middle (3,) of what is seen there now [m, levelled world].
    """

    mask: Mask
    nearer: Mask
    farther: Mask
    area: float
    center: Array


@dataclass(frozen=True)
class PictureChanges:
    """What a picture shows that was not so before: regions, and per pixel (h, w)."""

    changed: Mask
    nearer: Mask
    farther: Mask
    unknown: Mask
    regions: tuple[ChangedRegion, ...]


class Background:
    """What a camera saw of each pixel when nothing happened there. Pixels that the robot covers are learnt when they are seen."""

    def __init__(self, first: ThinnedPicture) -> None:
        self.depth, self.chroma, self.light = first.depth.copy(), first.chroma.copy(), first.light.copy()
        self.known = ~first.robot

    def changes(self, now: ThinnedPicture) -> PictureChanges:
        """Compare a picture with what is remembered, and remember what has not changed."""
        unknown = now.robot | ~self.known
        with np.errstate(invalid="ignore", divide="ignore"):
            tolerance = CHANGE.sure * (STEADY.near + STEADY.far * self.depth**2)
            step = self.depth - now.depth
            nearer, farther = (step > tolerance) & ~unknown, (step < -tolerance) & ~unknown
            bright = np.minimum(now.light, self.light) > CHANGE.dark
            recolored = bright & (np.linalg.norm(now.chroma - self.chroma, axis=-1) > CHANGE.chroma)
            ratio = (now.light + 8.0) / (self.light + 8.0)
            recolored |= (ratio > CHANGE.brighter) | (ratio < CHANGE.darker)
        recolored &= ~unknown & ~_beside(now.robot)
        changed = _opened(nearer | farther | recolored)
        self._learn(now, changed)
        return PictureChanges(changed, nearer & changed, farther & changed, unknown, _regions(now, changed, nearer, farther))

    def forget(self, now: ThinnedPicture, where: Mask) -> None:
        """What is seen there now is how it is from here on."""
        where = where & ~now.robot
        self.depth[where], self.chroma[where], self.light[where] = now.depth[where], now.chroma[where], now.light[where]
        self.known |= where

    def _learn(self, now: ThinnedPicture, changed: Mask) -> None:
        self.forget(now, ~self.known)
        steady = self.known & ~changed & ~now.robot
        share = np.float32(CHANGE.learning)
        seen = steady & np.isfinite(now.depth)
        with np.errstate(invalid="ignore"):
            mixed = np.where(np.isfinite(self.depth), self.depth + share * (now.depth - self.depth), now.depth)
        self.depth = np.where(seen, mixed, self.depth)
        self.chroma = np.where(steady[..., None], self.chroma + share * (now.chroma - self.chroma), self.chroma)
        self.light = np.where(steady, self.light + share * (now.light - self.light), self.light)


def _beside(robot: Mask) -> Mask:
    """Where shadows of the robot and its own edges change colours."""
    return np.asarray(cv2.dilate(robot.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0)


def _opened(mask: Mask) -> Mask:
    kernel = np.ones((CHANGE.open, CHANGE.open), np.uint8)
    return np.asarray(cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, kernel) > 0)


def _regions(now: ThinnedPicture, changed: Mask, nearer: Mask, farther: Mask) -> tuple[ChangedRegion, ...]:
    if not changed.any():
        return ()
    joined = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((CHANGE.close, CHANGE.close), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    found = []
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] < 4:
            continue
        mask = (labels == number) & changed
        area = float(np.nansum(now.pixel_area[mask]))
        if area < CHANGE.area or mask.sum() < CHANGE.fill * stats[number, cv2.CC_STAT_AREA]:
            continue
        points = now.points[mask & np.isfinite(now.depth)]
        center = np.median(points, axis=0) if len(points) else np.full(3, np.nan)
        found.append(ChangedRegion(mask, nearer & mask, farther & mask, area, np.asarray(center, float)))
    return tuple(found)
