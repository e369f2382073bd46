"""Names of colours, from the lit pixels of a thing."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt


def name_color(pixels: npt.NDArray[np.uint8]) -> str:
    """Name of the colour of RGB pixels (N, 3): by hue, saturation and brightness of the well lit ones."""
    rgb = representative(pixels)
    hsv = cv2.cvtColor((rgb / 255).astype(np.float32).reshape(1, 1, 3), cv2.COLOR_RGB2HSV)[0, 0]
    hue, saturation, value = float(hsv[0]), float(hsv[1]), float(hsv[2])
    return _name(hue, saturation, value)


def representative(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """RGB (3,) 0..255: the median of the brighter half, without the brightest twentieth (highlights)."""
    data = pixels.astype(float)
    light = data.sum(axis=1)
    low, high = np.quantile(light, [0.5, 0.95])
    return np.asarray(np.median(data[(light >= low) & (light <= high)], axis=0))


def _name(hue: float, saturation: float, value: float) -> str:
    """``hue`` 0..360, ``saturation`` and ``value`` 0..1."""
    if value < 0.14 or (value < 0.22 and saturation < 0.35):
        return "black"
    if saturation < 0.16 or (saturation < 0.28 and value < 0.40):
        return "white" if value > 0.72 else "grey"
    if (hue < 14 or hue >= 335) and saturation < 0.62 and value > 0.55:
        return "pink"
    if 280 <= hue < 335 and saturation < 0.55 and value > 0.65:
        return "pink"
    if hue < 13 or hue >= 345:
        return "brown" if hue < 345 and saturation < 0.72 and value < 0.45 else "red"
    if hue < 42:
        return "brown" if value < 0.62 or saturation < 0.45 else "orange"
    if hue < 70:
        return "yellow" if value > 0.4 else "brown" if hue < 50 else "green"
    if hue < 165:
        return "green"
    if hue < 200:
        return "cyan"
    if hue < 258:
        return "blue"
    if hue < 315:
        return "purple"
    return "pink"
