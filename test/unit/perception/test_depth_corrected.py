"""Errors of the depth that the table shows are taken out: its scale, and its bend."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from deskhand.geometry import look_at, make_transform
from deskhand.perception.depth_bend import BendSettings, bend_of_table, unbent
from deskhand.perception.registration_offset import OffsetSettings, offset_of_depth, registered
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import fit_table
from deskhand.types import CameraIntrinsics, Frame

INTRINSICS = CameraIntrinsics(640, 480, 540.0, 540.0, 319.5, 239.5, "camera")
POSE = look_at((0.58, 0.0, 0.62), (0.03, 0.0, 0.0))


def looked_at(box: tuple[float, float, float] | None = None, noise: float = 0.001) -> Frame:
    """A table at z = 0, with the top of a box of 0.1 x 0.1 m at a place (x, y, height)."""
    v, u = np.mgrid[0:480, 0:640]
    rays = np.stack([(u - 319.5) / 540, (v - 239.5) / 540, np.ones(u.shape)], axis=-1) @ POSE[:3, :3].T
    depth = -POSE[2, 3] / rays[..., 2]
    if box is not None:
        higher = (box[2] - POSE[2, 3]) / rays[..., 2]
        points = POSE[:3, 3] + rays * higher[..., None]
        depth = np.where((np.abs(points[..., :2] - box[:2]) < 0.05).all(axis=-1), higher, depth)
    depth = depth + np.random.default_rng(0).normal(0, noise, depth.shape)
    return Frame(np.full((480, 640, 3), 128, np.uint8), depth.astype(np.float32), INTRINSICS, POSE, 0.0)


def top_of_box(frame: Frame) -> np.ndarray:
    points = frame.points().reshape(-1, 3)
    return np.asarray(points[points[:, 2] > 0.04].mean(axis=0))


def bent(frame: Frame, most: float) -> Frame:
    v, u = np.mgrid[-1:1:480j, -1:1:640j]
    return replace(frame, depth=(frame.depth + most * (u**2 + v**2 - 1) * frame.depth**2).astype(np.float32))


@pytest.mark.parametrize("scale", [0.992, 1.006])
def test_depth_that_is_too_long_or_too_short_is_seen_by_the_table_and_set_right(scale: float) -> None:
    true = looked_at(box=(-0.1, 0.25, 0.05))
    frame = replace(true, depth=true.depth * np.float32(scale))
    fit = fit_table(frame, PerceptionSettings())
    shifted = replace(frame, world_T_camera=fit.world_T_camera)
    for levelled, most in ((fit.levelled(frame), 0.0015), (shifted, 0.01)):
        assert np.linalg.norm(top_of_box(levelled) - top_of_box(true)) < most
    assert np.linalg.norm(top_of_box(shifted) - top_of_box(true)) > 0.0025  # what lifting the camera alone would leave
    assert np.nanmedian(fit.levelled(frame).points()[400:, 200:400, 2]) == pytest.approx(0.0, abs=0.0005)


def test_a_camera_that_is_a_little_too_low_is_not_all_put_down_to_its_depth() -> None:
    frame = looked_at()
    low = replace(frame, world_T_camera=make_transform(POSE[:3, :3], POSE[:3, 3] - [0.0, 0.0, 0.002]))
    fit = fit_table(low, PerceptionSettings())
    assert 1.0 - 0.002 / 0.62 < fit.scale < 1.0 - 0.5 * 0.002 / 0.62
    assert np.nanmedian(fit.levelled(low).points()[400:, 200:400, 2]) == pytest.approx(0.0, abs=0.0005)


def test_a_table_where_it_should_be_changes_no_depth() -> None:
    frame = looked_at()
    fit = fit_table(frame, PerceptionSettings())
    assert fit.scale == 1.0
    assert unbent(fit.levelled(frame)).depth is frame.depth


@pytest.mark.parametrize("most", [0.004, -0.006])
def test_a_bent_table_is_made_flat_again(most: float) -> None:
    frame = bent(looked_at(box=(0.0, 0.1, 0.05)), most)
    fit = fit_table(frame, PerceptionSettings())
    before = fit.levelled(frame)
    after = unbent(before)
    heights = [cv2.blur(one.points()[..., 2], (15, 15)) for one in (before, after)]
    table = np.abs(looked_at(box=(0.0, 0.1, 0.05), noise=0.0).points()[..., 2]) < 0.001
    table = cv2.erode(table.astype(np.uint8), np.ones((31, 31), np.uint8)) > 0
    assert np.nanstd(heights[0][table]) > 3 * np.nanstd(heights[1][table])
    assert np.nanstd(heights[1][table]) < 0.0006
    assert top_of_box(after)[2] == pytest.approx(0.05, abs=0.0015)


def test_too_little_table_tells_no_bend() -> None:
    frame = bent(looked_at(), 0.004)
    depth = frame.depth.copy()
    depth[:, 250:] = np.nan
    assert bend_of_table(replace(frame, depth=depth), BendSettings()) is None


def on_the_desk(shift: tuple[int, int] = (0, 0)) -> Frame:
    """Four boxes of other colours than the table, the depth ``shift`` pixels (right, down) beside the colour."""
    frame, color = looked_at(), np.full((480, 640, 3), 170, np.uint8)
    for x, y, rgb in ((0.1, -0.15, (200, 30, 30)), (0.1, 0.15, (30, 120, 40)), (-0.1, -0.1, (40, 50, 160)), (-0.05, 0.25, (90, 90, 90))):
        box = looked_at(box=(x, y, 0.06))
        higher = np.abs(box.depth - frame.depth) > 0.01
        frame = replace(frame, depth=np.where(higher, box.depth, frame.depth))
        color[higher] = rgb
    moved = np.roll(frame.depth, shift[::-1], axis=(0, 1))
    return replace(frame, color=color, depth=moved)


@pytest.mark.parametrize("shift", [(2, 0), (-2, 2), (0, -3), (2, -2)])
def test_depth_beside_the_colour_is_noticed_and_laid_on_it(shift: tuple[int, int]) -> None:
    frame = on_the_desk(shift)
    assert offset_of_depth(frame, OffsetSettings()) == pytest.approx(shift, abs=0.4)
    back, whole = registered(frame).depth, on_the_desk().depth
    inside = np.s_[10:-10, 10:-10]
    assert np.array_equal(back[inside], whole[inside])


def test_depth_on_the_colour_stays_where_it_is() -> None:
    frame = on_the_desk()
    assert registered(frame) is frame


def test_a_pixel_is_left_alone_since_open_objects_feign_as_much() -> None:
    frame = on_the_desk((1, -1))
    assert registered(frame) is frame


def test_depth_that_is_wider_than_what_is_seen_tells_no_offset() -> None:
    """The left sides ask for a shift to one side, the right sides for one to the other: each of them is more than a pixel, and neither is right."""
    frame = on_the_desk()
    wide = replace(frame, depth=cv2.erode(frame.depth, np.ones((5, 9), np.uint8), anchor=(5, 3)))
    assert registered(wide) is wide


def test_an_empty_desk_tells_no_offset() -> None:
    assert offset_of_depth(looked_at(), OffsetSettings()) is None
