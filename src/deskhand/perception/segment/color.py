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
    count = int(parts.max()) + 1
    inner = _without_outline(parts, settings.outline)
    every, unlike = np.bincount(inner.reshape(-1), minlength=count), np.zeros(count)
    chroma, light = view.chroma.reshape(-1, 3), np.log(view.light + 12.0).reshape(-1)
    flat = np.arange(light.size).reshape(inner.shape)
    for first, second in (((slice(None), slice(0, -1)), (slice(None), slice(1, None))), ((slice(0, -1), slice(None)), (slice(1, None), slice(None)))):
        here, beyond = flat[first], flat[second]
        same = (inner[first] == inner[second]) & (inner[first] > 0)
        here, beyond = here[same], beyond[same]
        number = inner.reshape(-1)[here]
        differs = squares(rows_of(chroma, here) - rows_of(chroma, beyond)) > settings.unlike**2
        differs |= np.abs(light[here] - light[beyond]) > settings.light
        unlike += np.bincount(number, differs, count)
    return np.asarray((every >= settings.enough) & (unlike > settings.printed * np.sqrt(every)))


def _without_outline(parts: Labels, width: int) -> Labels:
    """The same with what is near another part, or none, as 0."""
    kernel = np.ones((2 * width + 1, 2 * width + 1), np.uint8)
    picture = parts.astype(np.float32)
    same = cv2.dilate(picture, kernel) == cv2.erode(picture, kernel)
    return np.where(same, parts, 0).astype(np.int32)
