"""Points followed from picture to picture by optical flow, checked forth and back and against how they looked at first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.types import Image

WINDOW = (21, 21)  # [px] of Lucas and Kanade
BACK = 1.5  # [px] that a point followed forth and back may miss its start by
ALIKE = 0.55  # correlation of a point's surroundings, in colour, with those at the start, below which something hides it
PATCH = 10  # [px] half the side of these surroundings
Pixels = npt.NDArray[np.float32]


class PointTracker:
    """Follows points (N, 2) (column, row) [px] of a colour picture (H, W, 3).

    Attributes:
        pixels: where they are (N, 2); of a hidden one where it was last seen.
        visible: which are seen (N,).
    """

    def __init__(self, first: Image, points: Sequence[Sequence[float]]) -> None:
        self.pixels: Pixels = np.array(points, np.float32).reshape(-1, 2)
        self.visible = np.ones(len(self.pixels), bool)
        self._patches = [_patch(first, point) for point in self.pixels]
        self._shown = [_grey(first)] * len(self.pixels)  # the picture in which each point was last visible
        self._before = (self.pixels.copy(), list(self._shown))

    def update(self, image: Image) -> None:
        """Follow them into the next colour picture."""
        grey = _grey(image)
        self._before = (self.pixels.copy(), list(self._shown))
        for index, point in enumerate(self.pixels):
            place = _followed(self._shown[index], grey, point)
            self.visible[index] = place is not None and _correlation(self._patches[index], _patch(image, place)) >= ALIKE
            if self.visible[index] and place is not None:
                self.pixels[index], self._shown[index] = place, grey

    def reject(self, index: int) -> None:
        """What was found of a point in the last picture is something else: it is hidden, where it was before."""
        pixels, shown = self._before
        self.pixels[index], self._shown[index], self.visible[index] = pixels[index], shown[index], False


def _grey(image: Image) -> Image:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)


def _followed(before: Image, after: Image, point: Pixels) -> Pixels | None:
    """Where a point (2,) is in the next picture; None when going back misses it."""
    settings: dict[str, Any] = {"winSize": WINDOW, "maxLevel": 3, "criteria": (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 0.01)}
    nothing: Any = None
    start = point.reshape(1, 1, 2)
    there, found, _ = cv2.calcOpticalFlowPyrLK(before, after, start, nothing, **settings)
    back, returned, _ = cv2.calcOpticalFlowPyrLK(after, before, there, nothing, **settings)
    inside = 0 <= there[0, 0, 0] <= after.shape[1] - 1 and 0 <= there[0, 0, 1] <= after.shape[0] - 1
    good = bool(found[0, 0] and returned[0, 0]) and inside and float(np.linalg.norm(back - start)) < BACK
    return np.asarray(there[0, 0]) if good else None


def _patch(image: Image, point: Pixels) -> Pixels:
    return np.asarray(cv2.getRectSubPix(image, (2 * PATCH + 1, 2 * PATCH + 1), (float(point[0]), float(point[1]))), np.float32)


def _correlation(a: Pixels, b: Pixels) -> float:
    """Normalised, -1 to 1; patches without texture are alike when they are about as bright."""
    a0, b0 = a - a.mean(), b - b.mean()
    spread = float(a0.std() * b0.std())
    if spread < 4.0:
        return 1.0 if abs(float(a.mean() - b.mean())) < 15 else 0.0
    return float((a0 * b0).mean()) / spread
