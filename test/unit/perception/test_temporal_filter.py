"""The mean of pictures of one view: less noise, fewer holes, and nothing of what is gone."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.geometry import make_transform
from deskhand.perception.temporal_filter import steady
from deskhand.types import CameraIntrinsics, Frame

LENS = CameraIntrinsics(80, 60, 100.0, 100.0, 40.0, 30.0)
NOISE = 0.001


def picture(seed, far=0.8, block=True, lost=0.0, pose=None):
    """A wall with a red block before it, [m] away."""
    rng = np.random.default_rng(seed)
    depth, color = np.full((60, 80), far), np.full((60, 80, 3), 200)
    if block:
        depth[20:40, 30:50], color[20:40, 30:50] = far - 0.03, (200, 30, 30)
    depth = depth + rng.normal(0, NOISE, depth.shape)
    depth[rng.random(depth.shape) < lost] = np.nan
    return Frame((color + rng.integers(-3, 4, color.shape)).astype(np.uint8), depth.astype(np.float32), LENS, np.eye(4) if pose is None else pose, float(seed))


def test_what_stays_is_measured_better_and_without_holes():
    mean = steady([picture(seed, lost=0.3) for seed in range(6)])
    truth = picture(0).depth - np.random.default_rng(0).normal(0, NOISE, (60, 80))
    assert np.isfinite(mean.depth).mean() > 0.99
    assert np.nanstd(mean.depth - truth) < 0.7 * NOISE
    assert np.std(mean.color[20:40, 30:50, 0].astype(float)) < 0.7 * np.std(picture(0).color[20:40, 30:50, 0].astype(float))
    assert mean.stamp == 5.0


@pytest.mark.parametrize("lost", [0.0, 0.3])
def test_nothing_is_kept_of_what_is_gone(lost):
    now = picture(9, block=False, lost=lost)
    mean = steady([*(picture(seed) for seed in range(5)), now])
    gone = np.zeros((60, 80), bool)
    gone[20:40, 30:50] = True
    np.testing.assert_array_equal(mean.depth[gone], now.depth[gone])
    np.testing.assert_array_equal(mean.color[gone], now.color[gone])


def test_a_object_of_the_same_colour_that_comes_nearer_is_taken_as_it_is():
    nearer = picture(9, far=0.788, block=False)  # by as much as the flattest object is high
    np.testing.assert_array_equal(steady([*(picture(seed, block=False) for seed in range(5)), nearer]).depth, nearer.depth)


def test_another_view_begins_anew():
    for other in (picture(1, pose=make_transform(translation=[0.002, 0, 0])), replace(picture(2), intrinsics=replace(LENS, fx=101.0))):
        mean = steady([picture(0), other])
        np.testing.assert_array_equal(mean.depth, other.depth)
        np.testing.assert_array_equal(mean.color, other.color)


def test_one_picture_is_what_it_is():
    only = picture(0, lost=0.2)
    assert steady([only]) is only
