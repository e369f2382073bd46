"""What was found, drawn over the colour picture, beside the labels."""

from __future__ import annotations

import cv2
import numpy as np

from deskhand.bench.frames.plane import Labels, Mask
from deskhand.types import Image

_COLORS = np.random.default_rng(3).integers(60, 256, (997, 3))
_OUTLINE = (255, 255, 0)


def drawn(color: Image, labels: Labels, inside: Mask) -> Image:
    """``color`` (H, W, 3) with every object of ``labels`` (H, W), 0 for none, in its own colour; dark where nothing is judged."""
    picture: Image = color.copy()
    own = labels > 0
    picture[own] = (0.45 * color[own] + 0.55 * _COLORS[labels[own] % len(_COLORS)]).astype(np.uint8)
    picture[~inside] = (0.6 * picture[~inside]).astype(np.uint8)
    for number in np.unique(labels[own]):
        outline, _ = cv2.findContours((labels == number).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(picture, outline, -1, _OUTLINE, 1)
    return picture


def side_by_side(color: Image, found: Labels, labels: Labels | None, inside: Mask) -> Image:
    """What was found at the left, and at the right the labels, or the plain picture where there are none."""
    right = color if labels is None else drawn(color, np.where(labels > 1, labels, 0).astype(np.int32), inside)
    return np.concatenate([drawn(color, found, inside), right], axis=1)
