"""What the colour camera makes of the light: white balance and exposure with their errors, blur of motion, noise."""

from __future__ import annotations

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.sim.reality.light import GAMMA, white_of
from deskhand.sim.reality.spec import RealitySpec
from deskhand.types import Image

SHOULDER = 0.8  # of full scale, from which on brightness is compressed instead of cut off, as cameras do
NOISE = 3  # of 255, at most; the standard deviation is 2


class ColorCamera:
    """Turns rendered pictures into those of a camera."""

    def __init__(self, reality: RealitySpec) -> None:
        self._shutter = reality.color.shutter
        evened = reality.light.direct > 0
        gains = balance(reality.color.white_balance) / (white_of(reality.light) if evened else 1.0) * 2.0**reality.color.exposure
        linear = (np.arange(256)[:, None] / 255.0) ** GAMMA * gains
        shown = linear ** (1 / GAMMA)
        over = np.maximum(shown - SHOULDER, 0.0)
        room = 1 - SHOULDER
        # identity below the shoulder; above it the curve reaches full scale asymptotically, but where nothing is changed nothing is compressed
        bent = np.where(shown > SHOULDER, SHOULDER + room * (1 - np.exp(-over / room)) / (1 - np.exp(-1.0)), shown)
        curve = shown if np.allclose(gains, 1.0) else bent
        self._table = np.clip(np.round(255 * curve), 0, 255).astype(np.uint8)[:, None, :]

    def expose(self, color: Image, rng: np.random.Generator, motion: Array | None = None) -> Image:
        """A picture (H, W, 3); ``motion`` (2,) [px/s]: how fast it moves over the sensor."""
        if motion is not None and self._shutter > 0:
            color = blurred(color, np.asarray(motion) * self._shutter)
        shown = cv2.LUT(color, self._table)
        return noisy(np.asarray(shown, dtype=np.uint8), rng)


def balance(angle: float) -> Array:
    """Gains (3,) of red, green, blue, green 1, with which grey shows at ``angle`` [rad] from grey: warm when positive."""
    # (1 + e, 1, 1 - e) is at the angle t from (1, 1, 1) with tan(t) = e * sqrt(2 / 3)
    change = np.tan(angle) / np.sqrt(2 / 3)
    return np.array([1 + change, 1.0, 1 - change])


def blurred(color: Image, way: Array) -> Image:
    """Smeared along ``way`` (2,) [px]."""
    length = int(np.ceil(np.linalg.norm(way)))
    if length < 2:
        return color
    kernel = np.zeros((2 * (length // 2) + 1,) * 2, np.float32)
    middle = length // 2
    end = np.round(way / 2).astype(int)
    cv2.line(kernel, (middle - int(end[0]), middle - int(end[1])), (middle + int(end[0]), middle + int(end[1])), 1.0)
    return np.asarray(cv2.filter2D(color, -1, kernel / kernel.sum()), dtype=np.uint8)


def noisy(color: Image, rng: np.random.Generator) -> Image:
    """With the noise of a sensor: whole numbers from -3 to 3."""
    noise = rng.integers(-NOISE, NOISE + 1, color.shape, dtype=np.int16)
    return np.asarray(cv2.add(color, noise, dtype=cv2.CV_8U), dtype=np.uint8)
