"""Frames of a video between which nothing moves, and what has come and gone from one rest to the next."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.types import Frame

Mask = npt.NDArray[np.bool_]
BLUR = 5  # [px] over which colours are averaged: less grain
OTHER = 24.0  # of 255: pixels whose colour differs by more show another thing (perception/frame_settings.py)
FEWEST = 40  # such pixels are a change: a thing of 10 mm on a desk
HIGHER = 0.010  # [m] that a surface is higher than what was seen there before: more than the depth's noise, less than things are high
GRAIN = 3  # [px] that are needed side by side


@dataclass(frozen=True)
class Change:
    """Where things have gone from and come to, between two frames at rest: masks (H, W) of the earlier and of the later one."""

    gone: Mask
    came: Mask


def key_frames(frames: Sequence[Frame]) -> list[int]:
    """Numbers of frames at rest: the last one of each run of at least two that show the same, those that show nothing new left out."""
    soft = [cv2.blur(frame.color, (BLUR, BLUR)) for frame in frames]
    still = [not _differ(first, second) for first, second in itertools.pairwise(soft)]
    rests = [number for number in range(1, len(frames)) if still[number - 1] and (number == len(still) or not still[number])]
    kept: list[int] = []
    for number in rests:
        if not kept or _differ(soft[kept[-1]], soft[number]):
            kept.append(number)
    return kept


def _differ(first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8]) -> bool:
    other = (cv2.absdiff(first, second).max(axis=2) > OTHER).astype(np.uint8)
    return int(cv2.morphologyEx(other, cv2.MORPH_OPEN, np.ones((GRAIN, GRAIN), np.uint8)).sum()) >= FEWEST


def changed(before: Frame, after: Frame, heights: tuple[Array, Array]) -> Change:
    """What has gone and come between two frames; ``heights`` (H, W) [m] of what each shows, NaN for nothing. A shadow is neither."""
    first, second = heights
    with np.errstate(invalid="ignore"):
        return Change(_clean(first > second + HIGHER), _clean(second > first + HIGHER))


def _clean(mask: Mask) -> Mask:
    return np.asarray(cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((GRAIN, GRAIN), np.uint8)) > 0)
