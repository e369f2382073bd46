"""Statistics of features as LeRobot keeps them for normalising: of each episode, and of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
PICTURES = 100
"""So many pictures of an episode are looked at, evenly spread over it."""
SIDE = 150
"""And only about so many of their columns."""


@dataclass(frozen=True)
class FrameStats:
    """Of one feature: arrays (c,), or (c, 1, 1) of pictures, which count from 0 to 1 (depth: of 65535 mm); ``count`` frames."""

    low: Array
    high: Array
    mean: Array
    std: Array
    quantiles: dict[str, Array]
    count: int

    def to_json(self) -> dict[str, Any]:
        """By LeRobot's names."""
        plain = {"min": self.low, "max": self.high, "mean": self.mean, "std": self.std}
        told: dict[str, Any] = {name: np.asarray(value, float).tolist() for name, value in plain.items()}
        return told | {"count": [self.count]} | {name: np.asarray(value, float).tolist() for name, value in self.quantiles.items()}


def of_vectors(values: Array) -> FrameStats:
    """Of (frames, n)."""
    quantiles = {name: np.quantile(values, share, axis=0) for name, share in QUANTILES.items()}
    return FrameStats(values.min(axis=0), values.max(axis=0), values.mean(axis=0), values.std(axis=0), quantiles, len(values))


def of_pictures(files: Sequence[bytes]) -> FrameStats:
    """Of encoded pictures, over their pixels; (c, 1, 1)."""
    chosen = np.unique(np.round(np.linspace(0, len(files) - 1, min(len(files), PICTURES))).astype(int))
    pixels = np.concatenate([_pixels(files[number]) for number in chosen])
    found = of_vectors(pixels)
    shaped = [np.reshape(each, (-1, 1, 1)) for each in (found.low, found.high, found.mean, found.std)]
    quantiles = {name: np.reshape(value, (-1, 1, 1)) for name, value in found.quantiles.items()}
    return FrameStats(shaped[0], shaped[1], shaped[2], shaped[3], quantiles, len(chosen))


def _pixels(data: bytes) -> Array:
    """(pixels, channels) from 0 to 1, of an even choice of rows and columns; RGB."""
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if image is None:
        raise DeskhandError("invalid_input", "a recorded picture cannot be read.")
    step = max(1, image.shape[1] // SIDE)
    chosen: npt.NDArray[Any] = np.asarray(image)[::step, ::step]
    if chosen.ndim == 3:
        chosen = chosen[..., ::-1]
    return np.asarray(chosen.reshape(-1, chosen.shape[2] if chosen.ndim == 3 else 1) / float(np.iinfo(chosen.dtype).max), float)


def of_all(parts: Sequence[FrameStats]) -> FrameStats:
    """Of all episodes: quantiles are the means of theirs by the number of frames, as LeRobot joins them; all else is exact."""
    counts = np.array([part.count for part in parts], float)
    total = counts.sum()

    def weighted(values: Sequence[Array]) -> Array:
        return np.asarray(sum(value * count for value, count in zip(values, counts, strict=True)) / total)

    mean = weighted([part.mean for part in parts])
    variance = weighted([part.std**2 + (part.mean - mean) ** 2 for part in parts])
    quantiles = {name: weighted([part.quantiles[name] for part in parts]) for name in QUANTILES}
    low = np.min([part.low for part in parts], axis=0)
    return FrameStats(low, np.max([part.high for part in parts], axis=0), mean, np.sqrt(variance), quantiles, int(total))
