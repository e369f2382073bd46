"""Whether there is writing in a picture: rows of small marks of one height. It reads nothing."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.perception.frame_settings import WRITING
from deskhand.types import Image

Boxes = npt.NDArray[np.int64]


def has_writing(picture: Image) -> bool:
    """Whether rows of marks stand in a picture (H, W, 3) RGB, dark on light or light on dark. Of letters lower than some 8 px it misses many."""
    gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    for scale in (1.0, 2.0):  # small print closes up at its own size
        shown = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC) if scale != 1 else gray
        local = cv2.GaussianBlur(shown, (0, 0), 9 * scale)
        for difference in (local.astype(np.float32) - shown, shown - local.astype(np.float32)):
            if _in_rows(_marks((difference > WRITING.ink).astype(np.uint8), scale)):
                return True
    return False


def _marks(ink: npt.NDArray[np.uint8], scale: float) -> Boxes:
    """Boxes (N, 4) of what may be letters: left, top, width, height [px]."""
    count, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    boxes = stats[1:count].astype(np.int64)
    width, height, area = boxes[:, cv2.CC_STAT_WIDTH], boxes[:, cv2.CC_STAT_HEIGHT], boxes[:, cv2.CC_STAT_AREA]
    letters = (height >= WRITING.height[0] * scale) & (height <= WRITING.height[1] * scale) & (width <= 2.2 * height)
    good = letters & (area >= 0.12 * width * height) & (area <= 0.9 * width * height)
    return np.asarray(boxes[good][:, :4])


def _in_rows(boxes: Boxes) -> bool:
    """Whether enough of the boxes stand side by side at one height, each next to the one before."""
    if len(boxes) < WRITING.fewest:
        return False
    boxes = boxes[np.argsort(boxes[:, 0])]
    left, top, width, height = boxes.T
    middle = top + height / 2
    length = np.ones(len(boxes), dtype=int)
    for index in range(1, len(boxes)):
        before = np.arange(index)
        gap = left[index] - (left[before] + width[before])
        tall = np.maximum(height[index], height[before])
        beside = (gap > -0.2 * tall) & (gap < 1.3 * tall) & (np.abs(middle[index] - middle[before]) < 0.35 * tall)
        beside &= np.minimum(height[index], height[before]) > 0.45 * tall
        if beside.any():
            length[index] = 1 + length[before][beside].max()
    return bool(length.max() >= WRITING.fewest)
