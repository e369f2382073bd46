"""Perception that starts anew goes on with the ids of the memory."""

from dataclasses import replace

import numpy as np
from detections import seen
from remembered import scene

from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.track.tracking import Tracker
from deskhand.world.history.recorder import Memory, known_objects


def remembered(tracker, detections):
    ids = tracker.update(detections)
    return [replace(detection.item, id=name) for detection, name in zip(detections, ids, strict=True)]


def test_known_objects_keep_their_ids_and_new_ones_get_ids_that_were_never_used(tmp_path):
    file = tmp_path / "memory.sqlite"
    red, green, cup = seen("block", "red", 0.0, 0.0), seen("block", "green", 0.1, 0.0), seen("cup", "blue", 0.0, 0.1)
    third = seen("block", "blue", -0.1, 0.2)
    with Memory(file) as memory:
        tracker = Tracker(PerceptionSettings())
        memory.looked(scene(1.0, *remembered(tracker, [red, green, cup, third])))
        memory.looked(scene(2.0, *remembered(tracker, [red, green, cup])), lambda item: "gone")  # somebody takes the third away
    again = Tracker(PerceptionSettings())
    again.take_up(*known_objects(file))
    other = seen("block", "red", 0.2, 0.2)
    assert again.update([other, cup, red, green]) == ["block_4", "cup_1", "block_1", "block_2"]


def test_a_object_that_was_moved_while_the_robot_was_off_is_known_again_by_its_looks(tmp_path):
    file = tmp_path / "memory.sqlite"
    with Memory(file) as memory:
        tracker = Tracker(PerceptionSettings())
        memory.looked(scene(1.0, *remembered(tracker, [seen("block", "red", 0.0, 0.0), seen("block", "green", 0.1, 0.0)])))
    again = Tracker(PerceptionSettings())
    again.take_up(*known_objects(file))
    assert again.update([seen("block", "green", -0.2, 0.2), seen("block", "red", 0.003, 0.0)]) == ["block_2", "block_1"]
    assert np.allclose(next(track.rgb for track in again.tracks if track.item.id == "block_1"), seen("block", "red", 0, 0).rgb)
