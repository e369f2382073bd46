"""Several pictures of one moment: what has not changed between them has less noise and fewer holes in their mean."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.types import Frame

_NEAR, _FAR = 0.003, 0.004  # [m], [1/m]: by so much, and so much times the depth squared, two measurements of one surface differ at most
_COLOR = 24  # of 255: more than the noise and the exposure of a camera, less than another thing
_MOST = 8  # pictures: what is older counts less and less
_SHIFT, _TURN = 0.0005, 0.001  # [m], sine: a camera that is told to have moved by more does not stand still

Floats = npt.NDArray[np.float32]


class SteadyView:
    """The mean of successive pictures of one camera, pixel by pixel, from where each last changed.

    As the temporal filters of depth cameras do it; a picture from elsewhere begins anew. A pixel that is not measured keeps its depth for some pictures
    while its colour stays: at edges each picture shows other pixels.
    """

    def __init__(self) -> None:
        self._last: Frame | None = None
        self._color: Floats = np.zeros((0, 0, 3), np.float32)
        self._depth: Floats = np.zeros((0, 0), np.float32)
        self._times: Floats = np.zeros((0, 0), np.float32)  # that a depth is the mean of
        self._since: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)  # pictures ago it was measured last

    def add(self, frame: Frame) -> Frame:
        """``frame`` with what it shares with the pictures before it."""
        measured = np.isfinite(frame.depth)
        if self._last is None or not _same_view(self._last, frame):
            self._color, self._depth = frame.color.astype(np.float32), frame.depth.astype(np.float32)
            self._times, self._since = measured.astype(np.float32), np.zeros(frame.depth.shape, np.uint8)
            self._last = frame
            return frame
        change = cv2.absdiff(frame.color, self._last.color)
        alike = np.maximum(np.maximum(change[..., 0], change[..., 1]), change[..., 2]) < _COLOR
        with np.errstate(invalid="ignore"):
            again = alike & (np.abs(frame.depth - self._depth) < _NEAR + _FAR * frame.depth * frame.depth)
        kept = alike & ~measured & (self._since < _MOST)
        self._since = np.where(measured, np.uint8(0), np.minimum(self._since, _MOST) + np.uint8(1))
        times = np.where(again, np.minimum(self._times + 1, np.float32(_MOST)), np.where(kept, self._times, measured.astype(np.float32)))
        share = 1 / np.maximum(times, 1)
        self._depth = np.where(again, self._depth + (frame.depth - self._depth) * share, np.where(kept, self._depth, frame.depth))
        share = np.where(again | kept, share, np.float32(1))
        self._color += cv2.multiply(cv2.subtract(frame.color.astype(np.float32), self._color), cv2.merge([share, share, share]))
        self._times = times
        self._last = replace(frame, color=cv2.convertScaleAbs(self._color), depth=self._depth)
        return self._last


def _same_view(one: Frame, other: Frame) -> bool:
    moved = np.abs(one.world_T_camera - other.world_T_camera)
    a, b = one.intrinsics, other.intrinsics
    lenses = np.array([[k.width, k.height, k.fx, k.fy, k.cx, k.cy] for k in (a, b)], dtype=float)
    return bool((lenses[0] == lenses[1]).all() and moved[:3, 3].max() < _SHIFT and moved[:3, :3].max() < _TURN)
