"""Samples at a fixed rate, and the LeRobot dataset made of them: what is in its files is what was recorded. Skipped where pyarrow is not installed."""

import io
import json

import cv2
import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.recording.episode.lerobot import LeRobotWriter, find_sources
from deskhand.recording.episode.lerobot_stats import of_all, of_pictures, of_vectors
from deskhand.recording.episode.samples import FILE, Samples, SampleWriter
from deskhand.types import CameraIntrinsics, Frame

K = CameraIntrinsics(64, 48, 50.0, 50.0, 31.5, 23.5, "camera_color_optical_frame")
JOINTS = ("waist", "elbow")


def frame(value, stamp, noisy=False):
    """A picture of one colour, depth that tells the frame, a hole in it; ``noisy``: a picture that no file makes small."""
    if noisy:
        return Frame(np.random.default_rng(value).integers(0, 255, (48, 64, 3), np.uint8), np.full((48, 64), 0.5, np.float32), K, np.eye(4), stamp)
    depth = np.full((48, 64), 0.5 + 0.001 * value, np.float32)
    depth[:5] = np.nan
    return Frame(np.full((48, 64, 3), (value % 200, 90, 30), np.uint8), depth, K, np.eye(4), stamp)


def episode(folder, count=12, success=True, rate=10.0, begin=2.0, skip=(), task="put the cup into the box", arm="wx250s", noisy=False):
    folder.mkdir(parents=True)
    with SampleWriter(folder, JOINTS, rate) as writer:
        for number in range(count):
            if number not in skip:
                stamp = begin + number / rate
                state = np.array([0.1 * number, -0.2 * number, 0.04])
                writer.add(stamp, state, state + 0.01, {"camera": frame(number, stamp, noisy)}, task)
    (folder / "result.json").write_text(json.dumps({"success": success, "score": 1.0, "seed": 7, "arm": arm}))
    return folder


def test_samples_are_read_as_they_were_written(tmp_path):
    samples = Samples(episode(tmp_path / "a"))
    read = list(samples)
    assert samples.rate == 10.0 and samples.names == ("waist", "elbow", "gripper") and len(read) == 12
    assert read[3].stamp == pytest.approx(2.3) and read[3].state == pytest.approx([0.3, -0.6, 0.04]) and read[3].action == pytest.approx([0.31, -0.59, 0.05])
    depth = cv2.imdecode(np.frombuffer(read[3].depths["camera"], np.uint8), cv2.IMREAD_UNCHANGED)
    assert depth.dtype == np.uint16 and depth[20, 20] == 503 and depth[0, 0] == 0
    assert read[3].task == "put the cup into the box"


def test_a_recording_that_was_cut_has_whole_samples_only(tmp_path):
    folder = episode(tmp_path / "a", count=900, noisy=True)
    data = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(data[: len(data) // 2])
    read = list(Samples(folder))
    assert 0 < len(read) < 900 and all("camera" in each.pictures and len(each.action) == 3 for each in read)


def test_the_dataset_holds_what_was_recorded(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (pip install pyarrow)")
    folders = [episode(tmp_path / "a"), episode(tmp_path / "b", 8, success=False, task="clean up"), episode(tmp_path / "c", 5)]
    writer = LeRobotWriter(tmp_path / "out")
    for source in find_sources(folders):
        writer.add(source)
    info = writer.finish()
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"], info["fps"], info["robot_type"]) == (3, 25, 2, 10, "wx250s")
    assert info == json.loads((tmp_path / "out/meta/info.json").read_text())
    shapes = {name: feature["shape"] for name, feature in info["features"].items()}
    assert shapes["observation.images.camera"] == [48, 64, 3] and shapes["observation.images.camera_depth"] == [48, 64, 1] and shapes["action"] == [3]
    rows = parquet.read_table(tmp_path / "out/data/chunk-000/file-000.parquet").to_pydict()
    assert rows["index"] == list(range(25)) and rows["episode_index"] == [0] * 12 + [1] * 8 + [2] * 5
    assert rows["timestamp"][12:15] == pytest.approx([0.0, 0.1, 0.2]) and rows["frame_index"][19] == 7
    assert rows["action"][3] == pytest.approx([0.31, -0.59, 0.05]) and rows["observation.state"][3] == pytest.approx([0.3, -0.6, 0.04])
    assert [index for index, done in enumerate(rows["next.done"]) if done] == [11, 19, 24]
    assert [index for index, success in enumerate(rows["next.success"]) if success] == [11, 24]
    depth = cv2.imdecode(np.frombuffer(rows["observation.images.camera_depth"][3]["bytes"], np.uint8), cv2.IMREAD_UNCHANGED)
    assert depth.dtype == np.uint16 and depth[20, 20] == 503
    tasks = parquet.read_table(tmp_path / "out/meta/tasks.parquet").to_pydict()
    assert tasks == {"task_index": [0, 1], "__index_level_0__": ["put the cup into the box", "clean up"]} and rows["task_index"] == [0] * 12 + [1] * 8 + [0] * 5
    episodes = parquet.read_table(tmp_path / "out/meta/episodes/chunk-000/file-000.parquet").to_pydict()
    assert episodes["dataset_from_index"] == [0, 12, 20] and episodes["dataset_to_index"] == [12, 20, 25] and episodes["success"] == [True, False, True]
    stats = json.loads((tmp_path / "out/meta/stats.json").read_text())
    states = np.array(rows["observation.state"])
    assert stats["observation.state"]["mean"] == pytest.approx(states.mean(axis=0)) and stats["observation.state"]["std"] == pytest.approx(states.std(axis=0))
    assert stats["action"]["count"] == [25] and np.shape(stats["observation.images.camera"]["mean"]) == (3, 1, 1)
    assert stats["observation.images.camera"]["mean"][1][0][0] == pytest.approx(90 / 255, abs=0.01)


@pytest.mark.parametrize(
    ("second", "says"),
    [({"rate": 20.0}, "does not go with"), ({"arm": "jetarm"}, "jetarm"), ({"skip": (4,)}, "lacks samples"), ({"rate": 9.5}, "whole numbers")],
)
def test_episodes_that_do_not_go_together_are_refused_by_name(second, says, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install pyarrow)")
    writer = LeRobotWriter(tmp_path / "out")
    first, other = find_sources([episode(tmp_path / "a"), episode(tmp_path / "b", **second)])
    writer.add(first)
    with pytest.raises(DeskhandError, match=says) as caught:
        writer.add(other)
    assert "b" in str(caught.value)
    writer.abandon()
    assert not (tmp_path / "out").exists()


def test_what_has_no_samples_or_no_success_says_what_to_do(tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(DeskhandError, match="--record-rate"):
        find_sources([tmp_path / "none"])
    episode(tmp_path / "bad", success=False)
    with pytest.raises(DeskhandError, match="none of the episodes succeeded"):
        find_sources([tmp_path / "bad"], only_successes=True)


def test_statistics_of_parts_are_those_of_the_whole():
    random = np.random.default_rng(0)
    parts = [random.normal(loc, 2.0, (count, 3)) for loc, count in ((0.0, 40), (5.0, 7), (-3.0, 90))]
    joined, whole = of_all([of_vectors(part) for part in parts]), of_vectors(np.concatenate(parts))
    for name in ("low", "high", "mean", "std"):
        assert getattr(joined, name) == pytest.approx(getattr(whole, name))
    assert joined.count == 137


def test_statistics_of_pictures_are_rgb_from_zero_to_one():
    image = np.zeros((20, 30, 3), np.uint8)
    image[..., 0] = 255
    data = io.BytesIO(cv2.imencode(".png", image[..., ::-1])[1].tobytes()).getvalue()
    assert of_pictures([data, data]).mean.reshape(-1) == pytest.approx([1.0, 0.0, 0.0])
