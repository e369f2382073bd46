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
NAMED: dict[str, tuple[int, int, int]] = {
    **PALETTE,
    "aqua": (0, 255, 255), "aquamarine": (127, 255, 212), "chartreuse": (127, 255, 0), "crimson": (220, 20, 60), "fuchsia": (255, 0, 255),
    "gold": (255, 215, 0), "golden": (255, 215, 0), "indigo": (75, 0, 130), "ivory": (255, 255, 240), "khaki": (240, 230, 140), "lavender": (230, 230, 250),
    "tan": (210, 180, 140), "turquoise": (64, 224, 208), "scarlet": (190, 1, 25), "burgundy": (97, 0, 35), "lilac": (206, 162, 253),
    "mauve": (174, 113, 129), "taupe": (185, 162, 129), "ochre": (191, 144, 5), "charcoal": (52, 56, 55), "cerulean": (4, 133, 209),
    "vermillion": (244, 50, 12), "emerald": (1, 160, 73), "cobalt": (30, 72, 143), "ultramarine": (32, 0, 177), "jade": (31, 167, 116),
    "cerise": (222, 12, 98), "dark blue": (0, 3, 91), "light blue": (149, 208, 252), "bright blue": (1, 101, 252), "dark green": (3, 53, 0),
    "light green": (150, 249, 123), "bright green": (1, 255, 7), "dark red": (132, 0, 0), "bright red": (255, 0, 13), "light red": (255, 71, 76),
    "dark gray": (54, 55, 55), "light gray": (216, 220, 214), "dark grey": (54, 55, 55), "light grey": (216, 220, 214), "dark purple": (53, 6, 62),
    "light purple": (191, 119, 246), "bright purple": (190, 3, 253), "dark pink": (203, 65, 107), "light pink": (255, 209, 223),
    "bright pink": (254, 1, 177), "hot pink": (255, 2, 141), "dark brown": (52, 28, 2), "light brown": (173, 129, 80), "dark yellow": (213, 182, 10),
    "light yellow": (255, 254, 122), "bright yellow": (255, 253, 1), "dark orange": (198, 81, 2), "light orange": (253, 170, 72),
    "bright orange": (255, 91, 0), "sky blue": (117, 187, 253), "royal blue": (5, 4, 170), "navy blue": (0, 17, 70), "baby blue": (162, 207, 254),
    "lime green": (137, 254, 5), "olive green": (103, 122, 4), "forest green": (6, 71, 12), "sea green": (83, 252, 161), "mint green": (143, 255, 159),
    "blood red": (152, 0, 2), "brick red": (143, 20, 2), "mustard": (206, 179, 1), "peach": (255, 176, 124), "salmon": (255, 121, 108),
    "coral": (252, 90, 80), "plum": (88, 15, 65), "chocolate": (61, 28, 2), "lemon": (253, 255, 82), "rust": (168, 60, 9), "sand": (226, 202, 118),
    "cream": (255, 255, 194), "mint": (159, 254, 176), "wine": (128, 1, 63), "copper": (182, 99, 37), "cherry": (207, 2, 52), "grass": (92, 172, 45),
    "sky": (130, 202, 252),
}  # fmt: skip
"""More words for colours, sRGB 0..255: to turquoise those of the CSS colour module, the rest of the XKCD colour survey (Munroe, 2010; public domain)."""
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
