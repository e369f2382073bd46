"""Frames as other cameras, lights and desks would give them: what must stay true of geometry and labels, and that a seed makes the same again."""

from pathlib import Path

import numpy as np
import pytest
from test_frames_benchmark import write_frame

from deskhand.bench.frames.labelled import labelled_frames
from deskhand.bench.frames.plane import PlaneSettings, camera_points, find_region
from deskhand.bench.frames.run import Options, run
from deskhand.bench.frames.stress.draw import CHANGES, stressed
from deskhand.errors import DeskhandError


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("frames")
    write_frame(folder)
    return list(labelled_frames(folder))


def extent(frame):
    """Of the labelled box [m], in the table's own directions, and its distance from the camera."""
    region = find_region(frame.depth, frame.intrinsics, PlaneSettings())
    points = region.points[(frame.labels == 2) & np.isfinite(frame.depth)]
    camera = camera_points(frame.depth, frame.intrinsics)[(frame.labels == 2) & np.isfinite(frame.depth)]
    return np.quantile(points[:, 2], 0.99), np.linalg.norm(np.median(camera, axis=0))


@pytest.mark.parametrize("change", ["mirrored", "rolled", "resolution"])
def test_another_camera_sees_the_same_box_at_the_same_place(frames, change):
    for frame in stressed(frames, change, 3, 0):
        assert frame.depth.shape == frame.labels.shape == frame.color.shape[:2] == (frame.intrinsics.height, frame.intrinsics.width)
        np.testing.assert_allclose(extent(frame), extent(frames[0]), atol=0.004)


def test_a_change_of_distance_scales_the_scene(frames):
    height, far = extent(frames[0])
    for frame in stressed(frames, "distance", 3, 0):
        scaled, away = extent(frame)
        assert 0.69 < away / far < 1.16
        assert scaled / height == pytest.approx(away / far, abs=0.03)


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_seed_makes_the_same_frame_again_and_another_seed_another(frames, change):
    one, again = next(stressed(frames, change, 1, 4)), next(stressed(frames, change, 1, 4))
    np.testing.assert_array_equal(one.depth, again.depth)
    np.testing.assert_array_equal(one.color, again.color)
    assert set(np.unique(one.labels)) >= {1, 2}


def test_a_pasted_object_stands_on_the_table_and_hides_what_is_behind_it(frames):
    made = [frame for frame in stressed(frames, "pasted", 6, 0) if frame.labels.max() > 2]
    assert made
    for frame in made:
        region = find_region(frame.depth, frame.intrinsics, PlaneSettings())
        for number in range(3, frame.labels.max() + 1):
            own = (frame.labels == number) & np.isfinite(frame.depth)
            assert own.sum() >= 400
            heights = region.points[own][:, 2]
            assert np.quantile(heights, 0.98) == pytest.approx(0.05, abs=0.006)
            was = frames[0].depth[own]
            assert np.nanmax(frame.depth[own] - was) < 1e-6


def test_a_table_of_all_changes(tmp_path):
    write_frame(tmp_path)
    result = run(Options(tmp_path, "euclidean", stress=1), lambda text: None)
    assert list(result["changes"]) == list(CHANGES) and result["changes"]["mirrored"]["f1_50"] == 1.0


def test_without_labels_there_is_nothing_to_judge_by(tmp_path):
    write_frame(tmp_path, labelled=False)
    with pytest.raises(DeskhandError, match="no labelled frames"):
        run(Options(tmp_path, stress=1), lambda text: None)
