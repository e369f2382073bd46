"""What is round about one axis is one object: bottles with their necks and caps, cans with their ends; what stands on something is not."""

import numpy as np
import pytest

from deskhand.geometry import look_at
from deskhand.perception.segment.coaxial import join_coaxial
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.segment.settings import SegmentSettings
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import fit_table
from deskhand.perception.view import make_view
from deskhand.types import CameraIntrinsics, Frame

K = CameraIntrinsics(640, 480, 600.0, 600.0, 319.5, 239.5, "camera")
EYE = look_at((0.40, 0.35, 0.40), (0.0, 0.0, 0.03))
LEVEL, UPRIGHT = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NOISE = 0.0005  # [m]


@pytest.fixture(scope="module")
def view():
    """A table with a block, whose camera is the one that sees the segments."""
    v, u = np.mgrid[0 : K.height, 0 : K.width]
    rays = np.stack([(u - K.cx) / K.fx, (v - K.cy) / K.fy, np.ones(u.shape)], axis=-1) @ EYE[:3, :3].T
    depth = np.where(rays[..., 2] < 0, -EYE[2, 3] / rays[..., 2], np.inf)
    depth[200:280, 280:360] -= 0.05
    depth += np.random.default_rng(0).normal(0.0, NOISE, depth.shape)
    frame = Frame(np.full((*u.shape, 3), 120, np.uint8), depth.astype(np.float32), K, EYE, 0.0)
    return make_view(frame, fit_table(frame, PerceptionSettings()), PerceptionSettings())


def piece(begin, end, wide, narrow, axis=LEVEL, middle=(0.0, 0.0, 0.035), spacing=0.0012, whole=False, seed=0):
    """What the camera sees of a cone between two places along its axis, with these radii [m]; a disc where both places are the same."""
    along, middle = np.array(axis), np.array(middle)
    one = np.cross(along, [1.0, 0.0, 0.0])
    other = np.cross(along, one)
    t, angle = np.meshgrid(np.linspace(0, 1, max(2, int((abs(end - begin) + abs(wide - narrow)) / spacing))), np.arange(0, 2 * np.pi, spacing / wide))
    t, angle = t.reshape(-1), angle.reshape(-1)
    radius, out = wide + t * (narrow - wide), np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * other
    points = middle + (begin + t * (end - begin))[:, None] * along + radius[:, None] * out
    normal = (end - begin) * out - (narrow - wide) * along if end != begin else np.broadcast_to(along, points.shape)
    seen = np.einsum("ij,ij->i", normal, EYE[:3, 3] - points) > 0.15 * np.linalg.norm(normal, axis=1) * np.linalg.norm(EYE[:3, 3] - points, axis=1)
    points = points[seen] + np.random.default_rng(seed).normal(0.0, NOISE, (int(seen.sum()), 3))
    flat = np.arange(len(points))
    return Segment(flat, points, np.ones(len(points), bool), np.array([0.3, 0.3, 0.4]), 100.0, flat, whole)


def joined(view, *pieces):
    return len(join_coaxial(view, sorted(pieces, key=len, reverse=True), SegmentSettings()))


def both(one, other):
    """Two pieces as one segment."""
    points, measured = np.concatenate([one.points, other.points]), np.concatenate([one.measured, other.measured])
    flat = np.arange(len(points))
    return Segment(flat, points, measured, one.chroma, one.light, flat)


def test_a_bottle_that_lies_has_its_neck_and_its_cap(view):
    body = both(piece(-0.06, 0.04, 0.035, 0.035), piece(0.04, 0.06, 0.035, 0.016))
    assert joined(view, body, piece(0.06, 0.085, 0.015, 0.015), piece(0.085, 0.1, 0.016, 0.016)) == 1


def test_a_bottle_that_stands_has_its_neck(view):
    high = (0.0, 0.0, 0.06)
    body = both(piece(-0.06, 0.03, 0.03, 0.03, UPRIGHT, high), piece(0.03, 0.07, 0.03, 0.013, UPRIGHT, high))
    assert joined(view, body, piece(0.07, 0.11, 0.012, 0.012, UPRIGHT, high)) == 1


@pytest.mark.parametrize(
    ("what", "item"),
    [
        ("a can on a can", piece(0.035, 0.08, 0.03, 0.03, UPRIGHT, (0, 0, 0.035))),
        ("a narrow can on a can", piece(0.035, 0.08, 0.015, 0.015, UPRIGHT, (0, 0, 0.035))),
    ],
)
def test_what_stands_on_a_can_is_another_object(view, what, item):
    assert joined(view, piece(-0.035, 0.035, 0.03, 0.03, UPRIGHT), item) == 2, what


def test_what_lies_beside_the_axis_is_another_object(view):
    assert joined(view, piece(-0.06, 0.05, 0.035, 0.035), piece(0.052, 0.09, 0.015, 0.015, middle=(0.0, 0.0, 0.015))) == 2


@pytest.mark.parametrize(("printed", "count"), [(True, 1), (False, 2)])
def test_the_flat_end_of_a_can_is_left_to_its_fit_unless_it_is_printed(view, printed, count):
    assert joined(view, piece(-0.06, 0.05, 0.035, 0.035, whole=printed), piece(0.05, 0.05, 0.034, 0.001, spacing=0.002)) == count


def test_pens_that_lie_in_one_line_are_two(view):
    assert joined(view, piece(-0.1, 0.0, 0.008, 0.008, spacing=0.0006), piece(0.0, 0.05, 0.008, 0.008, spacing=0.0006)) == 2
