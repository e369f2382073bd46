"""Bodies that stick out of their solids get a box around them; what a solid explains keeps it."""

from dataclasses import replace

import numpy as np

from deskhand.geometry import make_transform
from deskhand.perception.fit.enclosing import enclosed, outside
from deskhand.perception.fit.solid import Solid
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.support.support import Placed


def placed(whole=True):
    """A cube of 4 cm with an arm of 10 cm, whose solid is the cube."""
    random = np.random.default_rng(0)
    cube = random.uniform([-0.02, -0.02, 0.0], [0.02, 0.02, 0.04], (600, 3))
    arm = random.uniform([0.02, -0.005, 0.0], [0.12, 0.005, 0.01], (400, 3))
    points = np.vstack([cube, arm])
    pixels = np.arange(len(points))
    segment = Segment(pixels, points, np.ones(len(points), bool), np.full(3, 1 / 3), 100.0, pixels, whole=whole)
    return Placed(segment, Solid("box", make_transform(None, (0.0, 0.0, 0.02)), np.full(3, 0.04), 0.001))


def test_what_sticks_out_is_in_the_box():
    item = placed()
    assert 0.3 < outside(item.solid, item.segment) < 0.45
    solid = enclosed(item).solid
    assert np.allclose(np.sort(solid.size), [0.04, 0.04, 0.14], atol=0.004)
    assert outside(solid, item.segment) < 0.03 and abs(solid.pose[2, 3] - solid.size[2] / 2) < 1e-6


def test_what_its_solid_explains_and_what_may_be_cut_stay_as_they_are():
    small = placed()
    cube = replace(small, segment=replace(small.segment, points=small.segment.points[:600], measured=small.segment.measured[:600]))
    assert enclosed(cube) is cube
    loose = placed(whole=False)
    assert enclosed(loose) is loose
    held = replace(placed(), relation="held")
    assert enclosed(held) is held
