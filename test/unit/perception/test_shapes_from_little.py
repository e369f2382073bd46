"""Outlines, free surfaces and depth told from masks, points and pictures that are made by formula; actions that are mended."""

import numpy as np
import pytest

from deskhand.bench.tools.detection import drawn_outlines
from deskhand.errors import DeskhandError
from deskhand.geometry import look_at
from deskhand.perception.free_area import find_surface
from deskhand.perception.monocular import estimate_depth
from deskhand.perception.outline_shapes import classify
from deskhand.safety.sanitize import ActionLimits, sanitized
from deskhand.types import CameraIntrinsics

LIMITS = ActionLimits(np.array([-0.3, -0.3, 0.0]), np.array([0.3, 0.3, 0.4]), 0.1, 0.5)


@pytest.mark.parametrize("kind", list(drawn_outlines()))
def test_outlines_that_are_drawn_are_told(kind):
    import cv2

    random = np.random.default_rng(len(kind))
    for _ in range(4):
        angle, size = random.uniform(0, 2 * np.pi), random.uniform(35, 100)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        mask = np.zeros((230, 230), np.uint8)
        cv2.fillPoly(mask, [np.round(115 + size * drawn_outlines()[kind] @ turn.T).astype(np.int32)], 1)
        assert classify(mask > 0).kind == kind


def test_a_ring_has_a_hole_and_a_speck_is_nothing():
    v, u = np.mgrid[0:100, 0:100] - 50
    ring = (np.hypot(v, u) < 40) & (np.hypot(v, u) > 20)
    assert (classify(ring).kind, classify(ring).hole) == ("circle", True)
    assert not classify(np.hypot(v, u) < 40).hole
    assert classify(np.hypot(v, u) < 2) is None


def test_the_free_part_of_a_surface_leaves_out_what_stands_on_it():
    random = np.random.default_rng(0)
    table = np.column_stack([random.uniform(-0.2, 0.2, (90000, 2)), random.normal(0, 0.0008, 90000)]).astype(np.float32)
    stands = np.abs(table[:, :2] - (0.05, 0.0)).max(axis=1) < 0.04
    box = table[stands] + (0, 0, 0.05)
    found = find_surface(table[~stands], 0.0, box.astype(np.float32))
    assert found.area == pytest.approx(0.16, rel=0.06) and found.area - found.free_area == pytest.approx(0.0064, rel=0.25)
    x, y, radius = found.circle
    assert np.hypot(*(np.maximum(np.abs((x - 0.05, y)) - 0.04, 0))) >= radius - 0.004 and radius > 0.08
    assert find_surface(table[:20], 0.0, box.astype(np.float32)) is None


def test_what_is_not_seen_inside_a_free_part_is_cut_out_of_its_polygon():
    import cv2

    random = np.random.default_rng(2)
    table = np.column_stack([random.uniform(-0.2, 0.2, (90000, 2)), np.zeros(90000)]).astype(np.float32)
    shadows = [np.abs(table[:, :2] - middle).max(axis=1) < 0.03 for middle in ((0.05, 0.0), (-0.08, 0.05), (-0.08, -0.1))]
    found = find_surface(table[~np.any(shadows, axis=0)], 0.0, np.zeros((0, 3), np.float32))
    told = sum(cv2.contourArea(piece.astype(np.float32)) for piece in found.free)
    assert told == pytest.approx(found.free_area, rel=0.03)
    for x, y in ((0.05, 0.0), (-0.08, 0.05), (-0.08, -0.1)):
        assert all(cv2.pointPolygonTest(piece.astype(np.float32), (x, y), False) < 0 for piece in found.free)
    assert sum(cv2.pointPolygonTest(piece.astype(np.float32), (0.1, 0.1), False) > 0 for piece in found.free) == 1


def test_depth_of_a_table_and_of_a_wall_on_it_follows_from_one_picture():
    k, pose = CameraIntrinsics(320, 240, 300.0, 300.0, 159.5, 119.5), look_at((0.6, 0.0, 0.5), (0.0, 0.0, 0.0))
    v, u = np.mgrid[0 : k.height, 0 : k.width]
    rays = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones(u.shape)], -1) @ pose[:3, :3].T
    table = np.where(rays[..., 2] < -1e-6, -pose[2, 3] / np.minimum(rays[..., 2], -1e-6), np.nan)
    wall = -0.6 / rays[..., 0]  # the plane x = 0, turned to the camera
    at = pose[:3, 3] + rays * wall[..., None]
    shown = (np.abs(at[..., 1]) < 0.05) & (at[..., 2] > 0) & (at[..., 2] < 0.08)
    image = np.where(shown[..., None], (40, 60, 200), (150, 140, 130)).astype(np.uint8)
    depth, standing = estimate_depth(image, k, pose, np.array([0.4, 0.5]))
    assert (standing & shown).sum() > 0.9 * shown.sum() and (standing & ~shown).sum() < 0.2 * shown.sum()
    inner = shown & standing
    assert np.nanmedian(np.abs(depth[inner] / wall[inner] - 1)) < 0.02
    flat = np.isfinite(depth) & ~standing
    assert np.nanmax(np.abs(depth[flat] / table[flat] - 1)) < 1e-4


def test_actions_are_cut_to_bounds_and_steps_and_repeats_are_left_out():
    start = np.array([0.0, 0.0, 0.2, 3.14, 0.0, 0.0])
    good = [0.05, 0.0, 0.2, 3.14, 0.0, 0.0, 1.0]
    done, notes = sanitized([good, good, [0.05, 0.0, -1.0, 3.14, 0.0, 0.0, 7.0], [float("nan")] * 7], start, LIMITS)
    assert done[0] == pytest.approx(good) and [note.index for note in notes] == [1, 2, 2, 2, 3, 3]
    assert len(done) == 3 and done[-1][2] == 0.0 and done[-1][6] == 1.0
    turned, _ = sanitized([[0.0, 0.0, 0.2, -3.14, 0.0, 0.0, 0.0]], start, LIMITS)
    assert len(turned) == 1 and turned[0][3] == pytest.approx(3.1432, abs=1e-3)  # the short way round
    with pytest.raises(DeskhandError, match="more than"):
        sanitized([[0.3 * (-1) ** n, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0] for n in range(300)], start, LIMITS)
