"""A small cup far away is open because lines of sight go on into it; what is closed, recessed, round or pointed at the top is not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import pytest
from cast import cast

from deskhand.perception.pipeline import Perception


@dataclass(frozen=True)
class Tube:
    """A standing cylinder on the table: middle, radius, height [m]; closed ``recess`` [m] below its rim, which is ``wall`` wide."""

    middle: tuple[float, float]
    radius: float
    height: float
    recess: float
    wall: float = 0.003
    color: tuple[int, int, int] = (200, 160, 30)

    def hit(self, eye, rays):
        begin, way = eye - [*self.middle, 0.0], rays
        outer = self._side(begin, way, self.radius, first=True)
        rim = self._level(begin, way, self.height, self.radius - self.wall, self.radius)
        if self.recess <= 0:
            return np.minimum(outer, self._level(begin, way, self.height, 0.0, self.radius))
        through = np.isfinite(self._level(begin, way, self.height, 0.0, self.radius - self.wall))
        inner = self._side(begin, way, self.radius - self.wall, first=False)
        floor = self._level(begin, way, self.height - self.recess, 0.0, self.radius - self.wall)
        return np.minimum(np.minimum(outer, rim), np.where(through, np.minimum(inner, floor), np.inf))

    def paint(self, points, random):
        return np.broadcast_to(self.color, points.shape)

    def _side(self, begin, way, radius, first):
        a, b, c = (way[..., :2] ** 2).sum(axis=-1), way[..., :2] @ begin[:2], (begin[:2] ** 2).sum() - radius**2
        t = (-b + (-1 if first else 1) * np.sqrt(np.maximum(b * b - a * c, 0))) / a
        z = begin[2] + t * way[..., 2]
        lowest = 0.0 if first else self.height - self.recess
        return np.where((b * b > a * c) & (z > lowest) & (z < self.height), t, np.inf)

    def _level(self, begin, way, z, low, high):
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (z - begin[2]) / way[..., 2]
            out = np.hypot(*np.moveaxis(begin[:2] + t[..., None] * way[..., :2], -1, 0))
        return np.where((t > 0) & (out >= low) & (out <= high), t, np.inf)


def seen(tube, seed=0, blur=1.0, **how):
    frame = cast(tube, seed=seed, **how)[0]
    frame = replace(frame, depth=cv2.GaussianBlur(frame.depth, (0, 0), blur))  # sensors mix what is near with what is behind it
    found = [item for item in Perception().detect(frame).objects if np.hypot(*(item.position[:2] - tube.middle)) < 0.03]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("distance", [0.7, 1.0, 1.25])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_cup_is_a_cup_near_and_far(distance, seed):
    cup = seen(Tube((0.0, 0.03), 0.02, 0.05, 0.046), seed, distance=distance, noise=0.003)
    assert cup.label == "cup" and not cup.is_container
    assert cup.size[0] == pytest.approx(0.04, abs=0.006)


@pytest.mark.parametrize("recess", [0.0, 0.003])
@pytest.mark.parametrize("distance", [0.7, 1.0, 1.25])
def test_a_can_is_closed_and_its_end_lies_below_its_seam(recess, distance):
    can = seen(Tube((0.0, 0.03), 0.0265, 0.09, recess, wall=0.0015), distance=distance, noise=0.003)
    assert can.label != "cup"
