"""When a faint line across a box makes it two blocks."""

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from deskhand.geometry import look_at, make_transform
from deskhand.perception.classify import load_classifier
from deskhand.perception.fit.seams import parts_at_seams
from deskhand.perception.fit.solid import Solid
from deskhand.types import CameraIntrinsics, Frame

K = CameraIntrinsics(640, 480, 600.0, 600.0, 320.0, 240.0)


def seen_with_a_line(size: tuple[float, float, float], share: float) -> list[np.ndarray]:
    """What becomes of a box over whose top runs a dark line, over this share of its breadth, where two equal blocks would meet."""
    pose = look_at([0.0, 0.0, 0.6], [0.0, 0.0, 0.0], (1.0, 0.0, 0.0))
    color = np.full((K.height, K.width, 3), 150, np.uint8)
    solid = Solid("box", make_transform(None, [0.0, 0.0, size[2] / 2]), np.array(size), 0.0005)
    frame = Frame(color, np.full((K.height, K.width), 0.6 - size[2], np.float32), K, pose, 0.0)
    ends = frame.project(np.array([[0.0, (0.5 - share) * size[1], size[2]], [0.0, size[1] / 2, size[2]]])).round().astype(int)
    cv2.line(color, tuple(map(int, ends[0])), tuple(map(int, ends[1])), (80, 80, 80), 2)
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (400, 3)) * size + [0, 0, size[2] / 2]
    view = SimpleNamespace(frame=frame, eye=pose[:3, 3], valid=np.ones(frame.depth.shape, bool))
    return parts_at_seams(view, solid, points, load_classifier().usual, False)


@pytest.mark.parametrize(
    ("size", "share", "parts"),
    [((0.07, 0.035, 0.035), 0.15, 2), ((0.07, 0.035, 0.035), 0.08, 0), ((0.092, 0.05, 0.042), 0.15, 0), ((0.092, 0.05, 0.042), 0.6, 2)],
)
def test_a_faint_line_makes_cubes_but_not_halves_that_are_no_cubes_and_a_fainter_one_is_noise(size, share, parts):
    assert len(seen_with_a_line(size, share)) == parts
