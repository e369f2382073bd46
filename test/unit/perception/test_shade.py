"""What lies in the shadow of something else is called by the colour that it has in the light."""

from dataclasses import replace

import numpy as np
import pytest
from cast import TABLE_COLOR, Box, cast

from deskhand.perception.pipeline import Perception

ORANGE, BROWN = (238, 105, 14), (100, 44, 5)
PEN = Box((0.0, 0.0, 0.0), (0.13, 0.012, 0.012), 1.2, ORANGE)


def color_of(solid, shaded, share=0.42, tint=(1.0, 1.0, 1.0)):
    """What the one object is called when of the table and of it this part, by their points (N, 3), has a share of its light."""
    frame, _ = cast(solid, distance=0.65, noise=0.0006)
    points = frame.points()
    color = frame.color.astype(float)
    with np.errstate(invalid="ignore"):
        color[shaded(points)] *= share * np.asarray(tint)
    (seen,) = Perception(detectors=()).detect(replace(frame, color=color.astype(np.uint8))).objects
    return seen.color


def near(points, reach=0.09):
    return np.hypot(points[..., 0], points[..., 1]) < reach


def test_a_pen_in_a_shadow_has_its_color():
    assert color_of(PEN, lambda points: np.zeros(points.shape[:2], bool)) == "orange"
    assert color_of(PEN, near) == "orange"


def test_a_dark_pen_in_the_light_keeps_its_color_beside_its_own_shadow():
    brown = replace(PEN, color=BROWN)
    assert color_of(brown, lambda points: np.zeros(points.shape[:2], bool)) == "brown"
    side = np.array([-np.sin(PEN.yaw), np.cos(PEN.yaw)])
    assert color_of(brown, lambda points: near(points) & (points[..., :2] @ side > 0.008)) == "brown"


@pytest.mark.parametrize("tint", [(1.6, 0.7, 0.7), (0.5, 1.2, 1.6)], ids=["red", "blue"])
def test_a_cloth_of_another_color_is_no_shadow(tint):
    with_cloth = color_of(replace(PEN, color=BROWN), lambda points: near(points) & (points[..., 2] < 0.003), tint=tint)
    assert with_cloth == "brown"


def test_what_is_high_is_not_told_by_the_table():
    block = Box((0.0, 0.0, 0.0), (0.03, 0.03, 0.04), 0.3, BROWN)
    assert color_of(block, lambda points: near(points) & (points[..., 2] < 0.003)) == "brown"
    assert np.array(TABLE_COLOR).min() > 100


@pytest.mark.parametrize("edge", [-0.012, -0.008, -0.004, 0.0, 0.004])
def test_what_lies_half_in_a_shadow_has_the_color_of_its_lit_part(edge):
    block = Box((0.0, 0.0, 0.0), (0.032, 0.032, 0.032), 0.3, ORANGE)
    assert color_of(block, lambda points: (points[..., 0] < edge) | (points[..., 2] < 0.028) & near(points), share=0.22) == "orange"
    assert color_of(replace(block, color=BROWN), lambda points: np.zeros(points.shape[:2], bool)) == "brown"
