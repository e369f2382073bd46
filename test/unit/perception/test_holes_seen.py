"""Holes in a board, of points as a camera sees them from above."""

import numpy as np
import pytest

from deskhand.perception.holes import find_holes
from deskhand.testing.desk_scene import scene_object

TOP, AT = 0.06, np.array([0.05, 0.1])


def board(turn, *, missing, noise=0.0005):
    """Points [m] of a board of 150 x 120 mm, 2 mm apart, turned; NaN where ``missing`` of (x, y) on the board says so."""
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(-0.074, 0.075, 0.002), np.arange(-0.059, 0.06, 0.002)))
    cos, sin = np.cos(turn), np.sin(turn)
    z = TOP + np.random.default_rng(3).normal(0, noise, len(x))
    points = np.column_stack([AT[0] + cos * x - sin * y, AT[1] + sin * x + cos * y, z])
    points[missing(x, y)] = np.nan
    return points.astype(np.float32), scene_object("object_1", "box", (0.15, 0.12, TOP), (*AT, TOP / 2), yaw=turn)


def square_and_disc(x, y):
    return ((np.abs(x + 0.04) < 0.017) & (np.abs(y) < 0.017)) | (np.hypot(x - 0.03, y - 0.02) < 0.016)


@pytest.mark.parametrize("turn", [0.0, 0.5])
def test_each_hole_is_where_it_is_and_what_leaves_the_edge_is_none(turn):
    points, item = board(turn, missing=lambda x, y: square_and_disc(x, y) | ((x > 0.06) & (y > 0.045)))
    one, other = sorted(find_holes(points, item), key=lambda hole: -hole.area)
    for hole, place, area in ((one, (-0.04, 0.0), 0.034**2), (other, (0.03, 0.02), np.pi * 0.016**2)):
        there = AT + np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ place
        assert np.linalg.norm(hole.centre - there) < 0.002 and abs(hole.area - area) < 0.35 * area and abs(hole.level - TOP) < 0.001
    assert one.likely[0][0] == "square" and other.likely[0][0] in ("circle", "hexagon")


def test_a_board_without_holes_has_none_and_what_is_hardly_seen_tells_nothing():
    points, item = board(0.2, missing=lambda x, y: np.zeros(len(x), bool))
    assert find_holes(points, item) == []
    assert find_holes(board(0.2, missing=lambda x, y: np.abs(x) < 0.07)[0], item) == []
