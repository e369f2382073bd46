"""Names of colours as points in CIELAB, where distances are about as large as people see them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

PALETTE: dict[str, tuple[int, int, int]] = {
    "red": (255, 0, 0), "maroon": (128, 0, 0), "lime": (0, 255, 0), "green": (0, 128, 0), "blue": (0, 0, 255), "navy": (0, 0, 128),
    "yellow": (255, 255, 0), "cyan": (0, 255, 255), "magenta": (255, 0, 255), "silver": (192, 192, 192), "gray": (128, 128, 128),
    "olive": (128, 128, 0), "purple": (128, 0, 128), "teal": (0, 128, 128), "azure": (0, 128, 255), "violet": (128, 0, 255), "rose": (255, 0, 128),
    "black": (0, 0, 0), "white": (255, 255, 255), "orange": (255, 165, 0), "brown": (165, 42, 42), "pink": (255, 192, 203), "beige": (245, 245, 220),
}  # fmt: skip
"""sRGB 0..255. The first 19 are those of RLBench (James et al., 2020), the rest those of the CSS colour module."""
_TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])  # IEC 61966-2-1
_WHITE = np.array([0.95047, 1.0, 1.08883])  # D65


def lab_of(rgb: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """CIELAB (..., 3) under D65 of sRGB (..., 3) 0..255."""
    share = np.clip(np.asarray(rgb, dtype=float) / 255.0, 0.0, 1.0)
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    ratio = linear @ _TO_XYZ.T / _WHITE
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
