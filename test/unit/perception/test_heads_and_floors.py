"""Shapes that no plain solid explains: a body with a head is one object, a ball on a block is two; a cup with a thick floor is one."""

from dataclasses import dataclass

import numpy as np
import pytest
from cast import Box, cast

from deskhand.perception.pipeline import Perception

YELLOW = (190, 160, 20)


@dataclass(frozen=True)
class Ellipsoid:
    """Middle and half axes [m]."""

    middle: tuple[float, float, float]
    half: tuple[float, float, float]
    color: tuple[int, int, int] = YELLOW

    def hit(self, eye, rays):
        way, begin = rays / np.array(self.half), (eye - self.middle) / np.array(self.half)
        a, b, c = (way**2).sum(axis=-1), way @ begin, begin @ begin - 1
        t = (-b - np.sqrt(np.maximum(b * b - a * c, 0))) / a
        return np.where(b * b > a * c, t, np.inf)

    def paint(self, points, random):
        return np.broadcast_to(self.color, points.shape)


@dataclass(frozen=True)
class Cup:
    """An upright open cylinder at the origin: radius, height, height of its floor [m]; its wall is 4 mm thick."""

    radius: float
    height: float
    floor: float
    color: tuple[int, int, int] = (225, 225, 225)

    def hit(self, eye, rays):
        near = np.minimum(self._disc(eye, rays, self.height, (self.radius - 0.004, self.radius)), self._disc(eye, rays, self.floor, (0.0, self.radius - 0.004)))
        return np.minimum(near, np.minimum(self._wall(eye, rays, self.radius, -1, 0.0), self._wall(eye, rays, self.radius - 0.004, 1, self.floor)))

    def _disc(self, eye, rays, height, radii):
        t = (height - eye[2]) / rays[..., 2]
        far = np.hypot(eye[0] + t * rays[..., 0], eye[1] + t * rays[..., 1])
        return np.where((t > 0) & (far >= radii[0]) & (far <= radii[1]), t, np.inf)

    def _wall(self, eye, rays, radius, sign, low):
        a, b, c = (rays[..., :2] ** 2).sum(axis=-1), rays[..., :2] @ eye[:2], eye[:2] @ eye[:2] - radius**2
        t = (-b + sign * np.sqrt(np.maximum(b * b - a * c, 0))) / a
        height = eye[2] + t * rays[..., 2]
        return np.where((b * b > a * c) & (height >= low) & (height <= self.height), t, np.inf)

    def paint(self, points, random):
        return np.broadcast_to(self.color, points.shape)


def found(*solids, seed=0):
    """The objects near the middle of the table, and how many pixels each has."""
    frame, _ = cast(*solids, seed=seed, distance=0.6)
    perception = Perception()
    scene = perception.detect(frame)
    return [(item, len(pixels)) for item, pixels in zip(scene.objects, perception.pixels, strict=True) if np.linalg.norm(item.position[:2]) < 0.1]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("turn", [(0.0, 0.0), (-0.005, 0.02), (0.0, -0.02)])
def test_a_head_on_a_round_body_is_a_part_of_it(seed, turn):
    body, head = Ellipsoid((0, 0, 0.024), (0.042, 0.042, 0.024)), Ellipsoid((*turn, 0.058), (0.02, 0.02, 0.02))
    assert len(found(body, head, seed=seed)) == 1


@pytest.mark.parametrize("seed", range(2))
def test_a_ball_on_a_block_of_its_colour_is_another_object(seed):
    objects = found(Box((0, 0, 0), (0.06, 0.06, 0.04), 0.3, YELLOW), Ellipsoid((0, 0, 0.06), (0.02, 0.02, 0.02)), seed=seed)
    assert [round(float(item.position[2]), 2) for item, _ in objects].count(0.06) == 1


@pytest.mark.parametrize("floor", [0.004, 0.009, 0.013])
def test_a_cup_has_its_floor_however_thick_that_is(floor):
    ((cup, _),) = found(Cup(0.042, 0.045, floor))
    assert np.allclose(np.sort(cup.size), [0.045, 0.084, 0.084], atol=0.006)
