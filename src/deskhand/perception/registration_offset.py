"""By how many pixels the depth lies beside the colour, from the outlines that both show, and the depth put back.

Where something stands before something else, depth jumps, and the colour mostly changes. Of all small shifts of the depth the right one lays its jumps on the
changes of colour, whatever is on the desk; print and shadows change colours elsewhere, which is the same for every shift.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.quantiles import median
from deskhand.types import Frame

_HALVES = ([0, 1], [2, 3], [0, 2], [1, 3])  # of the quarters: above, below, left, right
_FAR = np.float32(1e3)  # [m] farther than anything: in place of holes


@dataclass(frozen=True)
class OffsetSettings:
    """How the offset is found.

    Attributes:
        farthest: shifts up to this are tried [px].
        jump: change of depth within the window, relative to it, that is an outline.
        window: [px] across which the depth jumps; pixels at outlines are often lost.
        least: with fewer pixels at outlines nothing is told; of more than ``most`` every few count.
        strongest: change of colour [of 255] above which more of it counts no more.
        smallest: an offset below this [px], across or down, is left alone: open objects and shadows feign up to 1.3 px on well registered frames.
        better: by this factor the best shift must explain the outlines better than none does.
        agree: [px] that the best shifts of the left and the right half of the outlines, and of the upper and the lower one, may be from that of all: where
            depth is wider or narrower than what is seen, each side asks for another shift, and none is right.
    """

    farthest: int = 4
    jump: float = 0.02
    window: int = 5
    least: int = 600
    most: int = 6000
    strongest: float = 60.0
    smallest: float = 1.5
    better: float = 1.03
    agree: int = 1


def registered(frame: Frame, settings: OffsetSettings | None = None) -> Frame:
    """A frame whose depth lies on its colour; the frame itself where it does already, to what can be told."""
    used = settings or OffsetSettings()
    offset = offset_of_depth(frame, used)
    if offset is None or float(np.abs(offset).max()) < used.smallest:
        return frame
    across, down = (round(float(value)) if abs(value) >= used.smallest else 0 for value in offset)
    depth = np.full_like(frame.depth, np.nan)
    rows, columns = frame.depth.shape
    depth[max(0, -down) : rows - max(0, down), max(0, -across) : columns - max(0, across)] = frame.depth[
        max(0, down) : rows + min(0, down), max(0, across) : columns + min(0, across)
    ]
    return replace(frame, depth=depth)


def offset_of_depth(frame: Frame, settings: OffsetSettings) -> Array | None:
    """How far (2,) [px] right and down the depth lies of the colour; None where too few outlines are seen, or they tell nothing."""
    rows, columns = np.divmod(np.flatnonzero(_outlines(frame.depth, settings)), frame.depth.shape[1])
    margin = settings.farthest
    inside = (rows >= margin) & (rows < frame.depth.shape[0] - margin) & (columns >= margin) & (columns < frame.depth.shape[1] - margin)
    rows, columns = rows[inside], columns[inside]
    if len(rows) < settings.least:
        return None
    every = -(-len(rows) // settings.most)
    rows, columns = rows[::every], columns[::every]
    change = _change(frame, settings, (slice(rows.min() - margin, rows.max() + margin + 1), slice(columns.min() - margin, columns.max() + margin + 1)))
    quarter = 2 * (rows > median(rows)) + (columns > median(columns))
    width, shifts = change.shape[1], np.arange(-margin, margin + 1)
    here, away = rows * width + columns, (shifts[:, None] * width + shifts).reshape(-1)
    of_quarter = (quarter[:, None] == np.arange(4)).astype(float)
    sums = (change.reshape(-1)[here - away[:, None]] @ of_quarter).reshape(len(shifts), len(shifts), 4)
    count = np.bincount(quarter, minlength=4)
    scores = sums.sum(axis=2) / len(rows)
    down, across = np.unravel_index(int(np.argmax(scores)), scores.shape)
    if scores[down, across] < settings.better * scores[margin, margin]:
        return np.zeros(2)
    halves = [sums[..., half].sum(axis=2) / max(1, int(count[half].sum())) for half in _HALVES]
    alone = np.array([np.unravel_index(int(np.argmax(half)), half.shape) for half in halves])
    if min(down, across) == 0 or max(down, across) == 2 * margin or np.abs(alone - (down, across)).max() > settings.agree:
        return None
    return np.array([across + _peak(scores[down, across - 1 : across + 2]), down + _peak(scores[down - 1 : down + 2, across])]) - margin


def _outlines(depth: npt.NDArray[np.float32], settings: OffsetSettings) -> npt.NDArray[np.bool_]:
    """Pixels (H, W) about which the depth jumps."""
    window = np.ones((settings.window, settings.window), np.uint8)
    hole = ~np.isfinite(depth)
    near = cv2.erode(np.where(hole, _FAR, depth), window)
    far = cv2.dilate(np.where(hole, np.float32(0.0), depth), window)
    return np.asarray(far > near * np.float32(1 + settings.jump))


def _change(frame: Frame, settings: OffsetSettings, part: tuple[slice, slice]) -> npt.NDArray[np.float32]:
    """How much the colour changes about each pixel (H, W) of a part of the picture, over a window as wide as that of the depth; 0 elsewhere."""
    window = np.ones((3, 3), np.uint8)
    color = cv2.GaussianBlur(np.ascontiguousarray(frame.color[part]), (0, 0), 0.8)
    red, green, blue = cv2.split(cv2.subtract(cv2.dilate(color, window), cv2.erode(color, window)))
    step = np.minimum(cv2.max(cv2.max(red, green), blue), settings.strongest).astype(np.float32)
    change = np.zeros(frame.depth.shape, np.float32)
    change[part] = cv2.blur(step, (settings.window - 2, settings.window - 2))
    return change


def _peak(scores: Array) -> float:
    """Where between -1 and 1 the parabola through three scores is highest."""
    bend = scores[0] - 2 * scores[1] + scores[2]
    return float(0.5 * (scores[0] - scores[2]) / bend) if bend < 0 else 0.0
