"""An episode in the page: every time of it, as it was."""

import json

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.recording.episode import messages
from deskhand.recording.episode.reader import read_episode
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.types import JointState, Scene, SceneObject, Table
from deskhand.view.moment import DONE, FAILED, RUNS
from deskhand.view.replay import Replay

ARM = load_arm("wx250s")
POSE = make_transform(rotation_rpy(0.0, 0.0, 0.6), [0.1, -0.05, 0.02])


def record(folder):
    """Two looks, a call that succeeds from 2 to 4 s and one that fails from 5 to 6 s, a stop, ten seconds of joints."""
    block = SceneObject("block_1", "block", "red", "box", np.array([0.04, 0.03, 0.02]), POSE, np.zeros((0, 3), np.float32), 0.9)
    with EpisodeWriter(folder) as writer:
        for stamp in np.arange(1.0, 10.01, 0.5):
            writer.joints(JointState(("waist", "left_finger"), np.array([0.1 * stamp, 0.03]), np.zeros(2), np.zeros(2), float(stamp)))
        for stamp, objects in ((1.5, (block,)), (7.0, ())):
            writer.scene(Scene(objects, Table(make_transform(translation=[0.0, 0.01, 0.0]), (0.7, 0.6)), stamp))
            writer.picture(np.full((48, 64, 3), int(20 * stamp), np.uint8), stamp)
        for call, tool, begin, finish, code in (("a", "pick", 2.0, 4.0, ""), ("b", "place_in", 5.0, 6.0, "place_failed")):
            arguments = {"object_id": "block_1"} if tool == "pick" else {"container_id": "bin_1"}
            known = {"id": call, "tool": tool, "caller": "orchestrator/offline"}
            writer.event({"event": "start", **known, "arguments": arguments, "time": 1000 + begin, "sim_time": begin}, begin)
            writer.event({"event": "end", **known, "code": code, "message": "", "duration": finish - begin, "time": 1000 + finish, "sim_time": finish}, finish)
        writer.json(messages.SAFETY, {"stopped": True, "code": "safety_stop", "reason": "pressed"}, 8.0)
    steps = [{"tool": "pick", "arguments": {"object_id": "block_1"}, "text": "the block first"}]
    (folder / "agent.json").write_text(json.dumps({"steps": steps}))
    (folder / "result.json").write_text(
        json.dumps({"arm": "wx250s", "instruction": "clean up", "success": False, "error_code": "safety_stop", "summary": "stopped"})
    )


@pytest.fixture
def replay(tmp_path):
    record(tmp_path)
    now = [0.0]
    replay = Replay(read_episode(tmp_path), ARM, lambda: now[0])
    replay.now = now
    return replay


def test_joints_are_between_the_recorded_ones(replay):
    assert replay.span == (1.0, 10.0)
    assert replay.at(3.25).joints == {"waist": pytest.approx(0.325, abs=1e-6), "left_finger": pytest.approx(0.03, abs=1e-6)}
    assert replay.at(0.0).joints["waist"] == pytest.approx(0.1)


def test_the_scene_and_the_picture_are_those_of_the_last_look_with_the_objects_as_they_lay(replay):
    assert replay.at(1.2).scene is None and replay.at(1.2).picture is None
    (block,) = replay.at(6.9).scene.objects
    assert np.allclose(block.pose, POSE, atol=2e-4) and np.allclose(block.size, [0.04, 0.03, 0.02])
    assert replay.at(6.9).scene.table.size == (0.7, 0.6) and replay.at(6.9).scene.table.pose[1, 3] == pytest.approx(0.01)
    assert replay.at(7.0).scene.objects == () and abs(int(replay.at(7.0).picture[0, 0, 0]) - 140) < 4


def test_steps_appear_when_they_began_with_their_reasons_and_end_when_they_ended(replay):
    def rows(stamp):
        return [(row.tool, row.state, row.why) for row in replay.at(stamp).rows]

    assert rows(1.9) == []
    assert rows(3.0) == [("pick", RUNS, "the block first")]
    assert rows(4.5) == [("pick", DONE, "the block first")]
    assert rows(6.5) == [("pick", DONE, "the block first"), ("place_in", FAILED, "")]
    assert replay.at(6.5).rows[1].code == "place_failed"
    assert replay.at(7.9).safety is None and replay.at(8.1).safety.stopped and replay.at(9.0).task.running and replay.at(10.0).task.code == "safety_stop"


def test_the_clock_runs_halts_seeks_and_begins_anew_at_the_end(replay):
    assert replay.time == 1.0 and replay.speed == 0.0
    replay.play(2.0)
    replay.now[0] = 1.5
    assert replay.time == pytest.approx(4.0) and replay.speed == 2.0
    replay.play(0.0)
    replay.now[0] = 9.0
    assert replay.time == pytest.approx(4.0)
    replay.seek(9.5)
    replay.play(1.0)
    replay.now[0] = 30.0
    assert replay.time == 10.0 and replay.speed == 0.0
    replay.play(1.0)
    assert replay.time == 1.0
    replay.seek(99.0)
    assert replay.time == 10.0


def test_what_did_not_change_is_the_same_object(replay):
    replay.seek(4.2)
    first = replay.moment()
    replay.seek(4.3)
    second = replay.moment()
    assert second.rows is first.rows and second.scene is first.scene and second.picture is first.picture and second.joints != first.joints


def test_episodes_without_orientation_and_table_can_still_be_seen(tmp_path):
    with EpisodeWriter(tmp_path) as writer:
        old = {"id": "cup_1", "label": "cup", "size": [0.06, 0.06, 0.1], "position": [0.1, 0.0, 0.05]}
        writer.json(messages.SCENE, {"stamp": 1.0, "objects": [old]}, 1.0)
    replay = Replay(read_episode(tmp_path), ARM)
    moment = replay.at(1.0)
    assert np.allclose(moment.scene.objects[0].pose, make_transform(translation=[0.1, 0.0, 0.05])) and moment.joints == {}
