"""Glasses leave holes in the depth: where the table is round about and the colour is another, something stands there; shadows of the sensor are nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cast import TABLE_COLOR, Box, cast
from test_openings import Tube

from deskhand.perception import unmeasured
from deskhand.perception.pipeline import Perception
from deskhand.types import Frame

GLASS = Tube((0.03, -0.04), 0.032, 0.085, 0.08, color=(150, 185, 215))


def without_depth(frame: Frame, labels: np.ndarray) -> Frame:
    depth = frame.depth.copy()
    depth[labels == 1] = np.nan
    return replace(frame, depth=depth)


def test_a_glass_is_seen_by_its_outline() -> None:
    found = Perception().detect(without_depth(*cast(GLASS))).objects
    assert len(found) == 1
    assert found[0].label == "cup" and len(found[0].guessed) == 3
    assert np.hypot(*(found[0].position[:2] - GLASS.middle)) < 0.006
    assert np.abs(found[0].size - [0.064, 0.064, 0.085]).max() < 0.012


def test_it_is_seen_beside_something_else() -> None:
    block = Box((-0.05, 0.09, 0.0), (0.05, 0.05, 0.05), 0.4, (40, 150, 60))
    found = Perception().detect(without_depth(*cast(GLASS, block))).objects
    assert sorted(len(item.guessed) for item in found) == [0, 3]


@pytest.mark.parametrize("color", [TABLE_COLOR, tuple(int(0.75 * value) for value in TABLE_COLOR)])
def test_a_hole_in_the_colour_of_the_table_is_nothing(color: tuple[int, int, int]) -> None:
    assert not Perception().detect(without_depth(*cast(replace(GLASS, color=color)))).objects


def test_a_hole_beside_something_that_is_measured_belongs_to_that() -> None:
    """The dark half of a box gives no depth: no glass stands there."""
    frame, labels = cast(Box((0.0, 0.0, 0.0), (0.08, 0.12, 0.05), 0.0, (30, 30, 160)))
    half = (labels == 1) & (np.arange(labels.shape[1]) > np.median(np.nonzero(labels == 1)[1]))
    found = Perception().detect(replace(frame, depth=np.where(half, np.nan, frame.depth).astype(np.float32))).objects
    assert not any(len(item.guessed) == 3 for item in found)


@pytest.mark.parametrize("seed", range(3))
def test_a_dark_cup_of_which_only_the_rim_has_depth_is_as_high_as_that(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, labels = cast(Tube((0.03, -0.04), 0.02, 0.046, 0.043, color=(90, 20, 110)), seed=seed, distance=0.7, noise=0.0006)
    points, color = frame.points(), frame.color.copy()
    with np.errstate(invalid="ignore"):
        dark = (labels == 1) & (points[..., 2] < 0.041)
    color[dark] = (26, 16, 28)
    frame = replace(frame, color=color, depth=np.where(dark, np.nan, frame.depth).astype(np.float32))
    (found,) = Perception().detect(frame).objects
    assert found.label == "cup" and len(found.guessed) == 3
    assert found.size == pytest.approx([0.04, 0.04, 0.046], abs=0.002)
    monkeypatch.setattr(unmeasured, "_with_rim", lambda frame, hole, solid: solid)
    others = Perception().detect(frame).objects
    assert [item.label for item in others] != ["cup"] or others[0].size != pytest.approx([0.04, 0.04, 0.046], abs=0.002)


def test_what_stands_higher_beside_a_glass_is_no_rim_of_it() -> None:
    glass = replace(GLASS, middle=(0.0, 0.0), radius=0.025, height=0.05, recess=0.045)
    block = Box((0.0, 0.045, 0.0), (0.03, 0.03, 0.09), 0.0, (40, 150, 60))
    found = Perception().detect(without_depth(*cast(glass, block))).objects
    (seen,) = (item for item in found if len(item.guessed) == 3)
    assert seen.size[2] < 0.07
