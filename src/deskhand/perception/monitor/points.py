"""Points followed from picture to picture by optical flow in colour, checked forth and back and against how they looked at first, and laid on that anew.

Flow from picture to picture adds its errors up; a step to the first appearance takes them away again (Matthews, Ishikawa and Baker 2004, "The template update
problem").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.types import Image

WINDOW = (21, 21)  # [px] of Lucas and Kanade
CLOSE = (15, 15)  # [px] of the step to the first appearance: less of what moves otherwise behind a corner
DRIFT = 3.0  # [px] that this step takes away at most in one picture: further off, something else is alike
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
        self._first, self._begun = first, self.pixels.copy()
        self._patches = [_patch(first, point) for point in self.pixels]
        self._shown = [first] * len(self.pixels)  # the picture in which each point was last visible
        self._before = (self.pixels.copy(), list(self._shown))

    def update(self, image: Image) -> None:
        """Follow them into the next colour picture."""
        self._before = (self.pixels.copy(), list(self._shown))
        places = np.empty_like(self.pixels)
        for shown in {id(picture): picture for picture in self._shown}.values():
            of = [index for index, picture in enumerate(self._shown) if picture is shown]
            places[of] = _followed(shown, image, self.pixels[of])
        closer = _aligned(self._first, image, self._begun, places)
        for index, flowed in enumerate(places):
            found = [(_correlation(self._patches[index], _patch(image, place)), place) for place in (closer[index], flowed) if np.isfinite(place).all()]
            likeness, place = max(found, key=lambda one: one[0], default=(0.0, flowed))
            self.visible[index] = likeness >= ALIKE
            if self.visible[index]:
                self.pixels[index], self._shown[index] = place, image

    def reject(self, index: int) -> None:
        """What was found of a point in the last picture is something else: it is hidden, where it was before."""
        pixels, shown = self._before
        self.pixels[index], self._shown[index], self.visible[index] = pixels[index], shown[index], False


def _followed(before: Image, after: Image, points: Pixels) -> Pixels:
    """Where points (N, 2) are in the next picture (N, 2); NaN where going back misses one."""
    there, found = _flow(before, after, points, WINDOW, 3)
    back, returned = _flow(after, before, there, WINDOW, 3)
    inside = (there >= 0).all(axis=1) & (there <= [after.shape[1] - 1, after.shape[0] - 1]).all(axis=1)
    good = found & returned & inside & (np.linalg.norm(back - points, axis=1) < BACK)
    return np.where(good[:, None], there, np.float32(np.nan))


def _aligned(first: Image, image: Image, begun: Pixels, places: Pixels) -> Pixels:
    """The first picture's surroundings of points (N, 2) laid on a picture from ``places`` (N, 2) on; NaN where they end further off than drift brings them."""
    start = np.isfinite(places).all(axis=1)
    ends = np.full_like(places, np.nan)
    if start.any():
        there, found = _flow(first, image, begun[start], CLOSE, 0, places[start])
        near = found & (np.linalg.norm(there - places[start], axis=1) < DRIFT)
        ends[start] = np.where(near[:, None], there, np.float32(np.nan))
    return ends


def _flow(
    before: Image, after: Image, points: Pixels, window: tuple[int, int], levels: int, guess: Pixels | None = None
) -> tuple[Pixels, npt.NDArray[np.bool_]]:
    """Lucas and Kanade's flow of points (N, 2) between colour pictures, from a guess (N, 2) on: where they are (N, 2), and for which it was found (N,)."""
    settings: dict[str, Any] = {"winSize": window, "maxLevel": levels, "criteria": (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 0.01)}
    start: Any = None
    if guess is not None:
        start, settings["flags"] = guess.reshape(-1, 1, 2).copy(), cv2.OPTFLOW_USE_INITIAL_FLOW
    there, found, _ = cv2.calcOpticalFlowPyrLK(before, after, points.reshape(-1, 1, 2), start, **settings)
    return np.asarray(there[:, 0], np.float32), np.asarray(found[:, 0] > 0)


def _patch(image: Image, point: Pixels) -> Pixels:
    return np.asarray(cv2.getRectSubPix(image, (2 * PATCH + 1, 2 * PATCH + 1), (float(point[0]), float(point[1]))), np.float32)


def _correlation(a: Pixels, b: Pixels) -> float:
    """Normalised, -1 to 1; patches without texture are alike when they are about as bright."""
    a0, b0 = a - a.mean(), b - b.mean()
    spread = float(a0.std() * b0.std())
    if spread < 4.0:
        return 1.0 if abs(float(a.mean() - b.mean())) < 15 else 0.0
    return float((a0 * b0).mean()) / spread
