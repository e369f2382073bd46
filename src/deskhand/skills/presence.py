"""Is an object that a look did not tell apart still at its place? The depth picture says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import transform_points
from deskhand.perception.corrected import corrected
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.track.presence import seen_at_place
from deskhand.types import Frame, SceneObject
from deskhand.world.history.recorder import Evidence

_SHRINK = 0.8  # of the box, so that round objects fill it


def evidence_of(observe: Callable[[], Frame]) -> Evidence:
    """Evidence from one more picture, :func:`levelled`, which is taken when the first object is missed."""
    frames: list[Frame] = []

    def evidence(item: SceneObject) -> Literal["there", "gone", "hidden"]:
        if not frames:
            frames.append(observe())
        return seen_at_place(frames[0], replace(item, points=top_points(item)), item.bottom)

    return evidence


def top_points(item: SceneObject) -> npt.NDArray[np.float32]:
    """Points (N, 3) [m, world] over the upper side of an object's box, for objects of which no points are known any more."""
    u, v = (axis.ravel() for axis in np.meshgrid(np.linspace(-0.5, 0.5, 9), np.linspace(-0.5, 0.5, 9)))
    up = int(np.argmax(np.abs(item.pose[2, :3])))
    local = np.zeros((len(u), 3))
    local[:, (up + 1) % 3], local[:, (up + 2) % 3] = _SHRINK * u, _SHRINK * v
    local[:, up] = 0.5 * np.sign(item.pose[2, up])
    return transform_points(item.pose, local * item.size).astype(np.float32)


def levelled(frame: Frame) -> Frame:
    """With the camera's pose levelled to the table, as perception sees it; as it is where no table is found."""
    try:
        return corrected(frame, PerceptionSettings())[0]
    except DeskhandError:
        return frame
