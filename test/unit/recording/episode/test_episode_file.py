"""episode.mcap: what is written can be read, by us and by others, whole or cut off."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from deskhand.arms.frames import LinkTransform
from deskhand.errors import DeskhandError
from deskhand.geometry import look_at
from deskhand.recording.definitions import definition_of
from deskhand.recording.episode import messages
from deskhand.recording.episode.plain import scene_to_json
from deskhand.recording.episode.reader import read_episode
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.types import CameraIntrinsics, JointState, SafetyStatus, Scene, SceneObject, Table


def joints(stamp):
    return JointState(("waist", "left_finger"), np.array([stamp, 0.02]), np.array([1.0, 0.0]), np.array([]), stamp)


def picture(value):
    image = np.zeros((48, 64, 3), np.uint8)
    image[:, :, 0] = value
    return image


def write(folder, count=20):
    with EpisodeWriter(folder) as writer:
        writer.camera(CameraIntrinsics(640, 480, 500.0, 510.0, 320.0, 240.0), look_at((0.58, 0, 0.62), (0.03, 0, 0)), 0.5)
        for index in range(count):
            writer.joints(joints(index * 0.1))
        writer.picture(picture(200), 1.5)
        writer.json("/perception/scene", {"stamp": 1.5, "objects": [{"id": "block_1"}]}, 1.5)
        writer.event({"event": "start", "id": "a", "tool": "pick", "arguments": {"object_id": np.int64(3)}, "time": 12.0}, 1.6)


def test_everything_written_is_read_back(tmp_path):
    write(tmp_path)
    episode = read_episode(tmp_path)
    assert episode.complete
    assert len(episode.joints) == 20 and episode.joints[3][0] == pytest.approx(0.3)
    assert list(episode.joints[3][1].name) == ["waist", "left_finger"] and episode.joints[3][1].position[0] == pytest.approx(0.3)
    look = episode.looks()[0]
    assert look.objects == ({"id": "block_1"},) and look.image()[20, 30, 0] == pytest.approx(200, abs=4) and look.image()[20, 30, 2] < 8
    assert episode.events[0]["tool"] == "pick" and episode.events[0]["arguments"] == {"object_id": 3} and episode.events[0]["sim_time"] == 1.6
    camera = episode.camera()
    assert np.allclose(camera.world_T_camera, look_at((0.58, 0, 0.62), (0.03, 0, 0)), atol=1e-9)
    assert camera.intrinsics.fy == 510.0


def test_a_plain_mcap_reader_for_ros_2_opens_it(tmp_path):
    write(tmp_path)
    with (tmp_path / "episode.mcap").open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        topics = {channel.topic for channel in reader.get_summary().channels.values()}
        assert {"/joint_states", "/perception/annotated/compressed", "/tools/events", "/perception/scene", "/tf_static"} <= topics
        image = next(message for _, _, _, message in reader.iter_decoded_messages(topics=["/perception/annotated/compressed"]))
        assert image.format == "jpeg" and bytes(image.data[:2]) == b"\xff\xd8"


def fields(text):
    """Type and name of each field and constant of a definition, in one spelling: packages and default values may be left out."""
    lines = [re.sub(r"\s*=\s*", "=", line.split("#")[0]).split() for line in text.splitlines()]
    return [[word.rpartition("/")[2] for word in line[:2]] for line in lines if line]


@pytest.mark.parametrize("datatype", messages.DEFINITIONS)
def test_definitions_are_those_of_the_installed_packages(datatype):
    installed = definition_of(datatype)
    ours = messages.DEFINITIONS[datatype]

    def parts(text):
        return {tuple(found[0]) if number else "": found for number, part in enumerate(text.split("=" * 80)) if (found := fields(part))}

    assert parts(ours) == parts(installed)


def test_scene_and_safety_come_back_as_they_went_in_and_links_are_on_tf(tmp_path):
    pose = look_at((0.1, 0.2, 0.05), (0.3, 0, 0))
    item = SceneObject(
        "cup_1", "cup", "red", "cylinder", np.array([0.04, 0.04, 0.05]), pose, np.zeros((4, 3), np.float32), 0.876, box2d=(1, 2, 3, 4), guessed=(2,)
    )
    scene = Scene((item,), Table(np.eye(4), (0.9, 1.1)), 2.5)
    with EpisodeWriter(tmp_path) as writer:
        writer.scene(scene)
        writer.safety(SafetyStatus(True, "watchdog", "motion died"), 3.0)
        writer.transforms([LinkTransform("base_link", "shoulder_link", pose)], 3.5)
    episode = read_episode(tmp_path)
    assert episode.json("/perception/scene") == [(2.5, scene_to_json(scene))]
    assert episode.json("/safety/status") == [(3.0, {"stopped": True, "code": "watchdog", "reason": "motion died"})]
    ((_, message),) = episode.on("/tf")
    assert (message.transforms[0].header.frame_id, message.transforms[0].child_frame_id) == ("base_link", "shoulder_link")
    assert message.transforms[0].transform.translation.y == pytest.approx(0.2)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_file_cut_off_anywhere_is_read_up_to_its_last_whole_message(tmp_path, share):
    write(tmp_path)
    whole = len(read_episode(tmp_path).messages)
    path = tmp_path / "episode.mcap"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    episode = read_episode(tmp_path)
    assert not episode.complete
    assert len(episode.messages) <= whole
    assert [message.position[0] for _, message in episode.joints] == pytest.approx([0.1 * index for index in range(len(episode.joints))])


def test_a_killed_recorder_leaves_what_it_had_written(tmp_path):
    code = f"""
import sys
from test_episode_file import EpisodeWriter, joints
from pathlib import Path
writer = EpisodeWriter(Path({str(tmp_path)!r})); writer.open()
for index in range(50): writer.joints(joints(index * 0.1))
writer.event({{"event": "call", "tool": "pick"}}, 5.0)
print("written", flush=True)
sys.stdin.read()
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "written"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    episode = read_episode(tmp_path)
    assert len(episode.joints) == 50 and len(episode.json("/tools/events")) == 1 and not episode.complete


def test_no_episode_and_a_foreign_file_are_clear_errors(tmp_path):
    with pytest.raises(DeskhandError, match="there is no"):
        read_episode(tmp_path)
    (tmp_path / "episode.mcap").write_text(json.dumps({}))
    with pytest.raises(DeskhandError, match="not an MCAP"):
        read_episode(tmp_path)


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DeskhandError, match="cannot be written") as error:
        EpisodeWriter(tmp_path / "file" / "x").open()
    assert error.value.code == "config_error"
