"""Edges drawn by colour: a mask that frays, or lacks a part, is mended where colours differ and left as it is where they do not."""

import tracemalloc

import cv2
import numpy as np
import pytest

from deskhand.perception.color_edges import refined, upper_part
from deskhand.sim.fixtures.outlines import outline

DESK, TOP, SIDE = (190, 150, 110), (130, 130, 20), (95, 95, 12)
TALL = 0.03  # [m]


def drawn(name, turn, size=26, side=80):
    """A mask of an outline so many pixels wide."""
    c, s = np.cos(turn), np.sin(turn)
    mask = np.zeros((side, side), np.uint8)
    cv2.fillPoly(mask, [np.round(outline(name, (size, size)) @ np.array([[c, s], [-s, c]]) + side / 2).astype(np.int32)], 1)
    return mask > 0


def pictured(random, *surfaces):
    """A desk of DESK with grain, and masks in colours on it."""
    picture = np.full((80, 80, 3), DESK, float) + random.normal(0.0, 4.0, (80, 80, 1)) + 10 * np.sin(np.arange(80) / 7.0)[:, None, None]
    for mask, color in surfaces:
        picture[mask] = np.array(color) + random.normal(0.0, 2.0, (int(mask.sum()), 3))
    return np.clip(picture, 0, 255).astype(np.uint8)


def frayed(random, mask):
    """As depth shows it: edges off by up to 3 pixels, this way or that."""
    noise = cv2.GaussianBlur(random.normal(0.0, 1.0, mask.shape), (0, 0), 2.0)
    far = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5) - cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 5)
    return far + 1.4 * noise / noise.std() > 0.5


def overlap(one, other):
    return float((one & other).sum() / (one | other).sum())


@pytest.mark.parametrize("name", ["star", "triangle", "crescent", "square"])
def test_a_frayed_mask_gets_the_edge_that_the_picture_has(name):
    for seed in range(5):
        random = np.random.default_rng([7, seed])
        true = drawn(name, random.uniform(0, 6))
        rough = frayed(random, true)
        mended = refined(pictured(random, (true, TOP)), rough) > 0.5
        assert overlap(mended, true) > max(0.95, overlap(rough, true) + 0.03), seed


def test_a_shadow_that_has_the_colour_of_a_side_is_none_of_it_where_depth_shows_the_table():
    random = np.random.default_rng(11)
    true = drawn("square", 0.0)
    shadow = np.roll(true, 5, axis=1) & ~true
    picture = pictured(random, (true, SIDE), (shadow, SIDE))
    table = cv2.erode((~true).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    taken, left = (overlap(refined(picture, true, never=never) > 0.5, true) for never in (None, table))
    assert left > 0.95 > taken


def test_what_depth_lacks_is_found_by_its_colour():
    random = np.random.default_rng(3)
    true = drawn("square", 0.4)
    rough = true & (np.arange(80)[:, None] < 48)
    lacks = true & ~rough & (cv2.distanceTransform((~rough).astype(np.uint8), cv2.DIST_L2, 5) < 3.5)
    mended = refined(pictured(random, (true, TOP)), rough) > 0.5
    assert mended[lacks].mean() > 0.95 and mended[rough].mean() > 0.97


def test_where_colours_are_alike_the_mask_stays():
    random = np.random.default_rng(4)
    true = drawn("square", 0.4)
    rough = frayed(random, true)
    assert overlap(refined(np.full((80, 80, 3), 120, np.uint8), rough) > 0.5, rough) > 0.97
    few = np.zeros((80, 80), bool)
    few[40, 40:43] = True
    assert (refined(pictured(random, (true, TOP)), few) == few).all()


def test_other_parts_of_that_colour_are_left_out():
    random = np.random.default_rng(5)
    true, other = drawn("square", 0.0), np.zeros((80, 80), bool)
    other[37:43, 57:60] = True  # within the band, but apart
    mended = refined(pictured(random, (true, TOP), (other, TOP)), true) > 0.5
    assert overlap(mended, true) > 0.95 and not mended[other].any()


@pytest.mark.parametrize("name", ["star", "triangle", "square"])
def test_an_upper_side_is_told_from_the_sides_by_its_light(name):
    for seed in range(4):
        random = np.random.default_rng([9, seed])
        top = drawn(name, random.uniform(0, 6))
        whole = np.zeros_like(top)
        height = np.full(top.shape, np.nan, np.float32)
        for low in range(18, -1, -1):  # swept towards the camera, lower parts first
            moved = np.roll(top, low, axis=0)
            whole |= moved
            height[moved] = TALL * (1 - low / 18)
        picture = pictured(random, (whole, SIDE), (top, TOP))
        noisy = (height + cv2.GaussianBlur(random.normal(0.0, 1.0, top.shape), (0, 0), 2.0) * 0.008).astype(np.float32)
        by_depth = whole & (noisy > TALL * 0.8)
        told = upper_part(picture, whole.astype(np.float32), noisy, TALL, 0.0) > 0.5
        assert overlap(told, top) > max(0.93, overlap(by_depth, top)), seed


def test_of_one_light_the_upper_side_is_what_depth_says():
    top = drawn("square", 0.0)
    whole = top | np.roll(top, 12, axis=0)
    height = np.where(top, TALL, np.where(whole, 0.3 * TALL, np.nan)).astype(np.float32)
    told = upper_part(pictured(np.random.default_rng(1), (whole, TOP)), whole.astype(np.float32), height, TALL, 0.0) > 0.5
    assert overlap(told, top) > 0.95


def test_large_objects_stay_as_they_are_and_none_takes_much_memory():
    """Tools run with little memory: what a box of 300 pixels took was more than there is."""
    random = np.random.default_rng(6)
    picture = random.integers(0, 255, (480, 640, 3)).astype(np.uint8)
    for side in (98, 320):
        mask = np.zeros((480, 640), bool)
        mask[80 : 80 + side, 80 : 80 + side] = True
        heights = np.where(mask, np.float32(TALL) - np.arange(480, dtype=np.float32)[:, None] * 1e-4, np.nan).astype(np.float32)
        tracemalloc.start()
        soft = refined(picture, mask)
        upper = upper_part(picture, soft, heights, TALL, 0.0)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 120e6, side
        assert upper.shape == soft.shape == mask.shape
    assert (soft == mask).all()
