"""How a body lies: its extents along its heading, across it and upwards, whatever axis of its own happens to point up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deskhand.geometry import Array

SQUARE = 0.2
"""Share by which the sides of a square may seem to differ."""

STRAIGHT = 0.99
"""Cosine of the lean of what stands or lies straight."""


@dataclass(frozen=True)
class Level:
    """The upright box round a body.

    Attributes:
        size: (3,) [m] along ``yaw``, across it, upwards.
        yaw: heading [rad] about world z: of the longer horizontal side; of a square one, of its first axis. Opposite headings are the same.
        straight: one of the body's own axes is upright.
    """

    size: Array
    yaw: float
    straight: bool

    @property
    def oblong(self) -> bool:
        """Whether it has a longer side, and so a heading that a camera can see."""
        return bool(self.size[0] > (1 + SQUARE) * self.size[1])


def level(pose: Any, size: Any) -> Level:
    """How the box of extents ``size`` (3,) [m] along the axes of ``pose`` (4, 4) lies. A leaning one counts as if its steepest axis stood upright."""
    rotation, extents = np.asarray(pose, dtype=float)[:3, :3], np.asarray(size, dtype=float)
    up = int(np.argmax(np.abs(rotation[2]) - 1e-6 * np.arange(2, -1, -1)))
    first, second = (axis for axis in range(3) if axis != up)
    along, across = (second, first) if extents[second] > (1 + SQUARE) * extents[first] else (first, second)
    yaw = math.atan2(float(rotation[1, along]), float(rotation[0, along]))
    return Level(extents[[along, across, up]], yaw, bool(abs(rotation[2, up]) > STRAIGHT))


def turn_between(yaw: float, other: float) -> float:
    """How far [rad] an oblong body at ``yaw`` is turned from ``other``, at most a quarter turn either way."""
    return math.remainder(yaw - other, math.pi)


TURNED = 0.17
"""[rad] that a heading may be off where one was asked for: 10 degrees, three steps of the published seven-number actions."""


def heading_error(size: Sequence[float], yaw: float, wanted: float) -> float:
    """How far [rad] an outline (along, across, …) at ``yaw`` is turned from ``wanted``; half a turn, of a square a quarter, makes no difference."""
    along, across = float(size[0]), float(size[1])
    period = math.pi / 2 if abs(along - across) <= SQUARE * max(along, across) else math.pi
    off = (yaw - wanted) % period
    return min(off, period - off)
