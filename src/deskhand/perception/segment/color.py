"""Where colours tell objects apart: parts of a few plain colours; what is printed has many, and stays whole."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.perception.rows import rows_of, squares
from deskhand.perception.segment.settings import ColorSettings
from deskhand.perception.view import Mask, View

Labels = npt.NDArray[np.int32]


def printed_parts(view: View, parts: Labels, settings: ColorSettings) -> Mask:
    """Which part numbers (0..most) of a label picture (H, W), 0 for none, are printed."""
    count, width = int(parts.max()) + 1, parts.shape[1]
    inner = _without_outline(parts, settings.outline).reshape(-1)
    pixels = np.flatnonzero(inner > 0)
    number = inner[pixels]
    every, unlike = np.bincount(number, minlength=count), np.zeros(count)
    chroma, light = view.chroma.reshape(-1, 3), np.zeros(inner.shape, np.float32)
    light[pixels] = np.log(view.light.reshape(-1)[pixels] + 12.0)
    for step, inside in ((1, (pixels + 1) % width > 0), (width, pixels < inner.size - width)):
        same = inside & (inner[np.where(inside, pixels + step, 0)] == number)
        here = pixels[same]
        differs = squares(rows_of(chroma, here) - rows_of(chroma, here + step)) > settings.unlike**2
        differs |= np.abs(light[here] - light[here + step]) > settings.light
        unlike += np.bincount(number[same][differs], minlength=count)
    return np.asarray((every >= settings.enough) & (unlike > settings.printed * np.sqrt(every)))


def _without_outline(parts: Labels, width: int) -> Labels:
    """The same with what is near another part, or none, as 0."""
    kernel = np.ones((2 * width + 1, 2 * width + 1), np.uint8)
    picture = parts.astype(np.uint16 if parts.max() < 2**16 else np.float32)  # small numbers take half the time
    same = cv2.dilate(picture, kernel) == cv2.erode(picture, kernel)
    return np.asarray(parts * same)
