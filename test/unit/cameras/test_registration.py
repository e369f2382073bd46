"""Depth that is not registered to colour is noticed by its edges; what tells nothing is no alarm."""

import cv2
import numpy as np
import pytest

from deskhand.bringup.doctor.robot import told_depth
from deskhand.cameras.base import Exposure, RgbdImage
from deskhand.cameras.registration import RegistrationWatch, check_registration, depth_edges
from deskhand.errors import DeskhandError
from deskhand.types import CameraIntrinsics

SIZE = (480, 640)


def desk(seed, objects=9):
    """A desk from above with boxes of other colours on it, with grain and holes beside the boxes as a stereo camera has them: colour and depth [m]."""
    rng = np.random.default_rng(seed)
    color, depth = np.full((*SIZE, 3), 150, np.uint8), np.full(SIZE, 0.70, np.float32)
    for _ in range(objects):
        u, v = rng.integers(90, 550), rng.integers(80, 400)
        w, h = rng.integers(25, 60, 2)
        patch = cv2.boxPoints(((float(u), float(v)), (float(w), float(h)), float(rng.uniform(0, 90)))).astype(np.int32)
        cv2.fillPoly(color, [patch], tuple(int(c) for c in rng.integers(0, 255, 3)))
        cv2.fillPoly(depth, [patch - [4, 0]], 0.0)
        cv2.fillPoly(depth, [patch], float(0.70 - rng.uniform(0.03, 0.12)))
    color = np.clip(color + rng.normal(0, 6, color.shape), 0, 255).astype(np.uint8)
    depth[depth > 0] += rng.normal(0, 0.0015, int((depth > 0).sum())).astype(np.float32)
    return color, depth


def seen_from_beside(depth, scale=1.0, shift=0.0, down=0):
    """The same depth as a lens of ``scale`` times the focal length sees it, from where the median distance is ``shift`` pixels aside."""
    v, u = np.nonzero(depth > 0)
    z, (height, width) = depth[v, u], depth.shape
    columns = np.rint((u - shift * np.median(z) / z - width / 2) / scale + width / 2).astype(int)
    rows = np.rint((v - down - height / 2) / scale + height / 2).astype(int)
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    order = np.argsort(-z[inside])
    other = np.zeros_like(depth)
    other[rows[inside][order], columns[inside][order]] = z[inside][order]
    return np.where((other == 0) & (scale < 1), cv2.dilate(other, np.ones((3, 3))), other)


@pytest.mark.parametrize("seed", range(4))
def test_aligned_depth_is_told_as_such(seed):
    color, depth = desk(seed)
    assert check_registration(color, depth).verdict == "registered"


@pytest.mark.parametrize(("scale", "shift", "down"), [(1.0, 25.0, 0), (1.0, -16.0, 0), (1.0, 40.0, 0), (0.85, 0.0, 0), (0.9, 20.0, 4)])
def test_depth_of_another_lens_at_another_place_is_noticed(scale, shift, down):
    color, depth = desk(5)
    seen = check_registration(color, seen_from_beside(depth, scale, shift, down))
    assert seen.verdict == "unregistered" and seen.displaced > 7


@pytest.mark.parametrize(
    "frame",
    [
        lambda: (desk(1)[0], np.full(SIZE, 0.7, np.float32)),  # an empty desk: depth has no edges
        lambda: (np.full((*SIZE, 3), 128, np.uint8), desk(1)[1]),  # all of one colour
        lambda: (np.random.default_rng(0).integers(0, 255, (*SIZE, 3)).astype(np.uint8), desk(1)[1]),  # a cloth full of edges
        lambda: (desk(1)[0], np.full(SIZE, np.nan, np.float32)),  # a camera that sees no depth
    ],
    ids=["empty desk", "one colour", "edges everywhere", "no depth"],
)
def test_what_tells_nothing_is_no_alarm(frame):
    assert check_registration(*frame()).verdict == "unknown"


def test_edges_of_depth_lie_on_the_nearer_object():
    depth = np.full((60, 80), 0.7, np.float32)
    depth[20:40, 30:50] = 0.6
    depth[20:40, 50:56] = np.nan  # not seen by the second eye
    edges = depth_edges(depth)
    assert {29, 50} & set(edges[:, 0]) == set() and {30, 49} <= set(edges[edges[:, 3] == 0, 0]) and {20, 39} <= set(edges[edges[:, 3] == 1, 1])


def test_two_pictures_must_say_so_and_one_that_fits_ends_the_watch():
    color, depth = desk(2)
    aside = seen_from_beside(depth, shift=25.0)
    watch = RegistrationWatch()
    watch.look(color, aside)
    with pytest.raises(DeskhandError, match="not aligned") as caught:
        watch.look(color, aside)
    assert caught.value.code == "config_error" and "depth_registration" in caught.value.hint
    with pytest.raises(DeskhandError):
        watch.look(color, aside)  # it stays refused
    fits = RegistrationWatch()
    fits.look(color, depth)
    for _ in range(3):
        fits.look(color, aside)  # not looked at any more


class Opened:
    """A camera that gives one picture again and again."""

    def __init__(self, color, depth):
        self.image = RgbdImage(color, (1000 * np.nan_to_num(depth)).astype(np.uint16), 0.001, CameraIntrinsics(640, 480, 500, 500, 320, 240, "camera"))

    def read(self, timeout):
        return Exposure(0.0, 0, lambda: self.image)


def test_the_doctor_tells_of_it_for_any_driver():
    color, depth = desk(3)
    assert told_depth(Opened(color, depth)).ok
    check = told_depth(Opened(color, seen_from_beside(depth, shift=25.0)))
    assert not check.ok and "pixels beside" in check.detail and "registration" in check.advice
