"""What hangs in the air beside another object is a part of it; what stands, lies on something or leans is not."""

import numpy as np
import pytest

from deskhand.geometry import look_at
from deskhand.perception.segment.hanging import join_hanging
from deskhand.perception.segment.segmentation import make_segment
from deskhand.perception.segment.settings import HangingSettings
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import fit_table
from deskhand.perception.view import make_view
from deskhand.types import CameraIntrinsics, Frame

K = CameraIntrinsics(320, 240, 300.0, 300.0, 159.5, 119.5, "camera")
EYE = look_at((0.45, 0.0, 0.40), (0.0, 0.0, 0.03))
BODY = ((0.0, 0.0, 0.04), (0.07, 0.07, 0.08))


def boxes_seen(*boxes: tuple[tuple[float, ...], tuple[float, ...]]):
    """Depth and numbers of boxes (centre, size) [m] on a table at z = 0, by rays."""
    v, u = np.mgrid[0 : K.height, 0 : K.width]
    rays = np.stack([(u - K.cx) / K.fx, (v - K.cy) / K.fy, np.ones(u.shape)], axis=-1) @ EYE[:3, :3].T
    eye = EYE[:3, 3]
    with np.errstate(divide="ignore"):
        depth, number = np.where(rays[..., 2] < 0, -eye[2] / rays[..., 2], np.inf), np.full(u.shape, -1)
        for index, (centre, size) in enumerate(boxes):
            a, b = ((np.array(centre) + sign * np.array(size) / 2 - eye) / rays for sign in (-1, 1))
            near, far = np.minimum(a, b).max(axis=-1), np.maximum(a, b).min(axis=-1)
            hit = (near < far) & (near < depth) & (near > 0)
            depth[hit], number[hit] = near[hit], index
    frame = Frame(np.full((*u.shape, 3), 120, np.uint8), depth.astype(np.float32), K, EYE, 0.0)
    view = make_view(frame, fit_table(frame, PerceptionSettings()), PerceptionSettings())
    height, width = view.valid.shape
    own = number[view.origin[0] : view.origin[0] + height, view.origin[1] : view.origin[1] + width]
    segments = [make_segment(view, np.flatnonzero((own == index) & view.objects)) for index in range(len(boxes))]
    return view, sorted(segments, key=len, reverse=True)


@pytest.mark.parametrize(
    ("what", "other", "count"),
    [
        ("a handle at the side", ((0.028, 0.045, 0.05), (0.012, 0.02, 0.04)), 1),
        ("a block beside it on the table", ((0.0, 0.055, 0.015), (0.03, 0.03, 0.03)), 2),
        ("a block on top", ((0.0, 0.0, 0.095), (0.03, 0.03, 0.03)), 2),
        ("a plate that reaches beyond its edge", ((0.0, 0.02, 0.085), (0.04, 0.08, 0.01)), 2),
        ("a bar that ends at it in the air", ((0.0, 0.085, 0.06), (0.01, 0.10, 0.01)), 2),
    ],
)
def test_what_is_a_part_of_it(what, other, count):
    view, segments = boxes_seen(BODY, other)
    assert min(map(len, segments)) > 30
    assert len(join_hanging(view, segments, HangingSettings())) == count, what


def test_all_pixels_stay():
    view, segments = boxes_seen(BODY, ((0.028, 0.045, 0.05), (0.012, 0.02, 0.04)))
    (one,) = join_hanging(view, segments, HangingSettings())
    assert len(one) == sum(map(len, segments)) == len(one.points) == len(one.measured)
