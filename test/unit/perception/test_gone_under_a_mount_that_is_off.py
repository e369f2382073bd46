"""A camera that is millimetres from where it says: what was lifted from the table has gone from there, however thin, and what was not has not."""

from dataclasses import replace

import numpy as np
import pytest
from cast import Box, cast

from deskhand.perception.pipeline import Perception
from deskhand.perception.track.presence import seen_at_place
from deskhand.skills.presence import levelled

PEN = Box((0.02, 0.03, 0.0), (0.14, 0.010, 0.009), yaw=0.3, color=(30, 60, 160))


def told_higher(frame, by):
    pose = frame.world_T_camera.copy()
    pose[2, 3] += by
    return replace(frame, world_T_camera=pose)


@pytest.mark.parametrize("by", [0.005, 0.0, -0.005])
def test_a_thin_object_is_gone_once_it_was_lifted_and_there_before(by):
    before, after = (told_higher(cast(*solids, seed=seed)[0], by) for seed, solids in enumerate(((PEN,), ())))
    (pen,) = Perception(detectors=()).detect(before).objects
    assert pen.top < 0.012
    assert seen_at_place(levelled(after), pen, 0.0, 0.2) == "gone"
    assert seen_at_place(levelled(before), pen, 0.0, 0.2) == "there"
    raw = {seen_at_place(frame, pen, 0.0, 0.2) for frame in (before, after)}
    assert by == 0.0 or raw != {"there", "gone"}  # as it is measured it tells nothing


def test_a_frame_without_a_table_is_taken_as_it_is():
    frame = cast()[0]
    nothing = replace(frame, depth=np.zeros_like(frame.depth))
    assert levelled(nothing) is nothing
