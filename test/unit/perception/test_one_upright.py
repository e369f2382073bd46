"""What goes on upwards as it began is one object, not two on each other, unless objects are rather of the size of its parts."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from cast import Box, cast
from test_openings import Tube

from deskhand.perception.classify import load_classifier
from deskhand.perception.fit import levels, split
from deskhand.perception.fit.levels import _is_one
from deskhand.perception.fit.solid import Solid, standing_pose
from deskhand.perception.fit.solids import SolidFits
from deskhand.perception.fit.split import split_touching
from deskhand.perception.pipeline import Perception
from deskhand.perception.segment.segmentation import make_segment
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import fit_table
from deskhand.perception.view import make_view


def seen(*solids, **how):
    """The view, and a segment of everything that was cast."""
    frame, labels = cast(*solids, **how)
    view = make_view(frame, fit_table(frame, PerceptionSettings()), PerceptionSettings())
    height, width = view.valid.shape
    own = labels[view.origin[0] : view.origin[0] + height, view.origin[1] : view.origin[1] + width] > 0
    return view, make_segment(view, np.flatnonzero(own & view.objects))


def cut_at(item, height):
    return [split.part_of(item, item.points[:, 2] < height), split.part_of(item, item.points[:, 2] >= height)]


def a_box(width, depth, low, high, yaw=0.0):
    return Solid("box", standing_pose(0.0, 0.0, (low + high) / 2, yaw), np.array([width, depth, high - low]), 0.0006)


def a_can(width, low, high):
    return Solid("cylinder", standing_pose(0.0, 0.0, (low + high) / 2, 0.0), np.array([width, width, high - low]), 0.0006)


def test_a_cube_that_something_stands_before_is_not_cut_into_slabs(monkeypatch):
    x, y, yaw = -0.003686969623669628, -0.006943777062893425, 1.3576250231318792  # one frame of a hundred such ones
    before = Box((x - 0.045, y + 0.01, 0.0), (0.02, 0.05, 0.018), yaw + 0.4, (60, 90, 180))
    frame, _ = cast(Box((x, y, 0.0), (0.038,) * 3, yaw), before, seed=194, noise=0.0012, bend=0.002, distance=0.8)
    assert len(Perception().detect(frame).objects) == 2
    monkeypatch.setattr(levels, "_is_one", lambda *about: False)
    assert len(Perception().detect(frame).objects) == 3


@pytest.mark.parametrize(
    ("whole", "below", "above", "one"),
    [
        (a_box(0.038, 0.038, 0.0, 0.038), a_box(0.0365, 0.036, 0.0, 0.016, 0.03), a_box(0.038, 0.038, 0.016, 0.038), True),
        (a_box(0.034, 0.034, 0.0, 0.068), a_box(0.034, 0.034, 0.0, 0.034), a_box(0.034, 0.034, 0.034, 0.068), False),
    ],
    ids=["slabs of a cube", "a cube on a cube"],
)
def test_boxes_as_wide_are_one_where_objects_have_rather_the_size_of_both(whole, below, above, one):
    view, item = seen(Box((0.0, 0.0, 0.0), tuple(whole.size)), distance=0.65)
    parts = cut_at(item, float(below.size[2]))
    assert _is_one(SolidFits(view, load_classifier().usual), whole, parts, [below, above]) == one


@pytest.mark.parametrize(("under", "one"), [(0.0178, True), (0.026, False)], ids=["its foot", "what it stands on"])
def test_the_foot_of_a_can_of_which_little_is_seen_is_no_box_under_it(under, one):
    view, item = seen(Tube((0.0, 0.0), 0.0178, 0.066, 0.0), distance=0.65)
    foot, rest = cut_at(item, 0.014)
    if under != 0.0178:
        foot = replace(foot, points=foot.points * [under / 0.0178, under / 0.0178, 1.0])
    foot = split.part_of(foot, np.arange(len(foot)) % 3 == 0)
    solids = [a_box(0.032, 0.0195, 0.0, 0.014), a_can(0.0356, 0.014, 0.066)]
    assert _is_one(SolidFits(view, load_classifier().usual), a_can(0.0356, 0.0, 0.066), [foot, rest], solids) == one


@dataclass(frozen=True)
class Can(Tube):
    """A can in one colour to this height [m], and above it in another."""

    painted: float = 0.03

    def paint(self, points, random):
        return np.where((points[:, 2] < self.painted)[:, None], [200, 40, 30], [40, 60, 200])


@pytest.mark.parametrize("seed", [1, 3, 4, 10])
def test_a_printed_can_is_not_cut_where_its_surface_goes_on(seed, monkeypatch):
    monkeypatch.setattr(split, "is_convex", lambda view, item: False)  # so a can looks whose rims stand out
    view, item = seen(Can((0.0, 0.0), 0.034, 0.1, 0.0), distance=0.65, seed=seed)
    item = replace(item, whole=True, printed=True)
    fits = SolidFits(view, load_classifier().usual)
    standing = {id(item): replace(fits.of(item), error=0.0018)}
    assert len(split_touching(view, fits, [item], standing, [])) == 1
    monkeypatch.setattr(split, "_goes_on", lambda *about: False)
    assert len(split_touching(view, fits, [item], standing, [])) == 2
