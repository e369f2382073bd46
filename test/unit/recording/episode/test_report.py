"""Timeline, time shares, grasps in pictures, the page."""

import json
import math

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import look_at
from deskhand.recording.episode.pictures import executed_grasps, hand_outline
from deskhand.recording.episode.reader import read_episode
from deskhand.recording.episode.report import write_report
from deskhand.recording.episode.timeline import PHASES, calls_from, time_shares
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.types import CameraIntrinsics, JointState

ARM = load_arm("wx250s")
POSE = dict(zip(ARM.joints, (0.4, 0.3, 0.45, 0.0, 0.85, 0.0), strict=True))


def start(identifier, tool, wall, sim, **arguments):
    return {"event": "start", "id": identifier, "tool": tool, "caller": "agent", "time": wall, "sim_time": sim, "arguments": arguments}


def end(identifier, tool, wall, sim, duration, code="", data=None):
    return {
        "event": "end",
        "id": identifier,
        "tool": tool,
        "time": wall,
        "sim_time": sim,
        "code": code,
        "message": "why" if code else "",
        "data": data,
        "duration": duration,
    }


TIMES = {"perception": 0.5, "grasping": 0.2, "planning": 0.3, "motion": 0.8, "wall": 2.0}


def test_calls_are_paired_and_a_call_without_end_is_unfinished():
    events = [
        start("a", "detect_objects", 10.0, 0.0),
        end("a", "detect_objects", 10.4, 0.1, 0.4),
        start("b", "pick", 11.0, 0.2, object_id="x"),
        start("c", "move_home", 12.0, 3.0),
        end("b", "pick", 13.0, 4.0, 2.0, "grasp_failed", {"times": TIMES}),
    ]
    look, pick, home = calls_from(events)
    assert look.ok and look.phases == {"perception": 0.4}
    assert pick.code == "grasp_failed" and pick.phases["motion"] == 0.8 and pick.phases["other"] == pytest.approx(0.2) and pick.phase == "motion"
    assert home.code == "unfinished"


def test_time_shares_add_up_to_the_wall_time():
    calls = calls_from([start("b", "pick", 11.0, 0.2), end("b", "pick", 13.0, 4.0, 2.0, data={"times": TIMES})])
    shares = time_shares(calls, 5.0)
    assert list(shares) == list(PHASES) and sum(shares.values()) == pytest.approx(5.0)
    assert shares["other"] == pytest.approx(3.2)


def record(folder, fails=False):
    """A look, a pick whose fingers close once, another look."""
    with EpisodeWriter(folder) as writer:
        writer.camera(CameraIntrinsics(640, 480, 537.0, 537.0, 320.0, 240.0), look_at((0.58, 0, 0.62), (0.03, 0, 0)), 0.0)
        for stamp in (1.0, 9.0):
            writer.picture(np.full((480, 640, 3), 90, np.uint8), stamp)
            writer.json("/perception/scene", {"stamp": stamp, "objects": [{"id": "ball_1"}]}, stamp)
        writer.event(start("p", "pick", 100.0, 2.0, object_id="ball_1"), 2.0)
        finger = 0.037
        for tick in range(60):
            stamp = 2.0 + tick * 0.1
            moving = tick < 30
            finger -= 0.002 if 35 <= tick < 42 else 0.0
            positions = {**POSE, "waist": 0.4 - (0.02 * (30 - tick) if moving else 0.0)}
            writer.joints(JointState((*positions, "left_finger"), np.array([*positions.values(), finger]), np.zeros(7), np.zeros(7), stamp))
        writer.event(end("p", "pick", 103.0, 8.0, 3.0, "grasp_failed" if fails else "", {"times": TIMES}), 8.0)
    result = {"instruction": "Put <b>the ball</b> away", "arm": "wx250s", "success": not fails, "score": 1.0, "wall_s": 4.0, "sim_s": 8.0, "summary": "Done."}
    result["objects"] = [{"name": "ball_1", "kind": "ball", "wanted": "bin", "found": "bin", "right": True, "reason": ""}]
    (folder / "result.json").write_text(json.dumps(result))


def test_a_grasp_is_where_the_hand_was_when_the_fingers_closed(tmp_path):
    record(tmp_path)
    episode = read_episode(tmp_path)
    (grasp,) = executed_grasps(episode, calls_from(episode.events), ARM)
    expected = RobotModel.load(ARM).forward({**POSE, "left_finger": 0.03})[ARM.tcp]
    assert np.allclose(grasp.world_T_tcp, expected, atol=1e-6)
    assert grasp.held and grasp.width == pytest.approx(ARM.gripper.width_of(0.037))


def test_the_outline_of_the_hand_has_its_measures():
    fingers, _ = hand_outline(ARM.gripper, 0.03)
    assert np.ptp(fingers[:, 1]) == pytest.approx(0.03)
    assert np.ptp(fingers[:, 2]) == pytest.approx(ARM.gripper.finger_length)
    assert fingers[:, 2].max() == pytest.approx(ARM.gripper.finger_depth)


def test_the_page_shows_outcome_pictures_grasps_calls_and_is_one_file(tmp_path):
    record(tmp_path)
    page = write_report(tmp_path).read_text()
    assert "Put &lt;b&gt;the ball&lt;/b&gt; away" in page, "text of others is escaped"
    assert page.count("data:image/jpeg;base64,") >= 4 and "grasp of ball_1" in page
    assert "http" not in page and "<script" not in page
    for word in ("Before and after", "Where the time went", "Tool calls", "perception", "100 %"):
        assert word in page


def test_a_failed_grasp_is_shown_as_not_held(tmp_path):
    record(tmp_path, fails=True)
    page = write_report(tmp_path).read_text()
    assert "not held" in page and "grasp_failed" in page and "not done" in page


def test_what_nobody_could_see_is_neither_done_nor_failed(tmp_path):
    record(tmp_path, fails=True)
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "outcome": "unverified", "error_code": "unverified"}))
    page = write_report(tmp_path).read_text()
    assert 'class="badge unverified">nobody could see it' in page and ".unverified {" in page and "not done" not in page


def test_a_report_can_be_made_from_an_episode_that_was_cut_off(tmp_path):
    record(tmp_path)
    path = tmp_path / "episode.mcap"
    path.write_bytes(path.read_bytes()[: math.floor(path.stat().st_size * 0.6)])
    (tmp_path / "result.json").unlink()
    page = write_report(tmp_path).read_text()
    assert "recorder was killed" in page and "no outcome recorded" in page
