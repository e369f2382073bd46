"""Several pictures of one moment made into one: what they agree on has less noise and fewer holes in their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from deskhand.perception.frame_settings import STEADY
from deskhand.types import Frame


def steady(frames: Sequence[Frame]) -> Frame:
    """The last of ``frames``, each pixel the mean of those in which it looks the same, as the temporal filters of depth cameras do it.

    What the last does not measure is taken from those before, where its colour is the same: at edges each picture shows other pixels. Pictures from before
    the camera moved count for nothing.
    """
    newest = frames[-1]
    color, depth = newest.color.astype(np.float32), newest.depth.astype(np.float32)
    looks, times = np.ones(depth.shape, np.float32), np.isfinite(depth).astype(np.float32)
    for older in reversed(frames[:-1]):
        if not _same_view(older, newest):
            break
        change = cv2.absdiff(older.color, newest.color)
        alike = np.maximum(np.maximum(change[..., 0], change[..., 1]), change[..., 2]) < STEADY.color
        with np.errstate(invalid="ignore"):
            again = alike & (np.abs(older.depth - depth) < STEADY.near + STEADY.far * depth * depth)
        hole = alike & (times == 0)
        times += again | (hole & np.isfinite(older.depth))
        depth = np.where(again, depth + (older.depth - depth) / np.maximum(times, 1), np.where(hole, older.depth, depth))
        looks += alike
        share = np.where(alike, 1 / looks, np.float32(0))
        color += cv2.multiply(cv2.subtract(older.color.astype(np.float32), color), cv2.merge([share, share, share]))
    return replace(newest, color=cv2.convertScaleAbs(color), depth=depth) if len(frames) > 1 else newest


def _same_view(one: Frame, other: Frame) -> bool:
    moved = np.abs(one.world_T_camera - other.world_T_camera)
    a, b = one.intrinsics, other.intrinsics
    lenses = np.array([[k.width, k.height, k.fx, k.fy, k.cx, k.cy] for k in (a, b)], dtype=float)
    return bool((lenses[0] == lenses[1]).all() and moved[:3, 3].max() < STEADY.shift and moved[:3, :3].max() < STEADY.turn)
