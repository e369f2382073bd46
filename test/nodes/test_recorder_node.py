"""The recorder in its own process: what is on the topics is in the file, whole after SIGINT, readable after SIGKILL."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from deskhand.bringup.environment import workstation_defaults
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.nodes.conversions import camera_info_to_msg, image_to_msg, joint_state_to_msg, scene_from_msg, scene_to_msg, transform_to_msg
from deskhand.nodes.node import EVENTS
from deskhand.nodes.spinner import Spinner
from deskhand.recording.episode.reader import read_episode
from deskhand.recording.episode.record import begin_record
from deskhand.recording.reader import Recording
from deskhand.types import CameraIntrinsics, Scene, SceneObject, Table
from deskhand.types import JointState as State
from deskhand_interfaces.msg import SafetyStatus, SceneObjects

DOMAIN = 91


class Robot:
    """Publishes what a robot would."""

    def __init__(self):
        self.context = Context()
        rclpy.init(context=self.context, domain_id=DOMAIN)
        self.node = rclpy.create_node("fake_robot", context=self.context)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.publishers = {
            "joints": self.node.create_publisher(JointState, "joint_states", 10),
            "events": self.node.create_publisher(String, "tools/events", EVENTS),
            "picture": self.node.create_publisher(Image, "perception/annotated", EVENTS),
            "scene": self.node.create_publisher(SceneObjects, "perception/scene", EVENTS),
            "safety": self.node.create_publisher(SafetyStatus, "safety/status", 5),
            "info": self.node.create_publisher(CameraInfo, "camera/color/camera_info", 5),
            "tf": self.node.create_publisher(TFMessage, "/tf_static", latched),
            "moving": self.node.create_publisher(TFMessage, "/tf", 100),
        }
        camera = make_transform(translation=[0.5, 0.0, 0.6])
        self.publishers["tf"].publish(TFMessage(transforms=[transform_to_msg("world", "camera_color_optical_frame", camera, 0.0)]))
        self.spinner = Spinner(self.node, 1)
        self.spinner.start()

    def wait_for_recorder(self, folder):
        """Until what each of the publishers says is recorded: that we know the recorder's readers does not mean that it knows our writers."""
        end = time.monotonic() + 60
        while any(publisher.get_subscription_count() == 0 for publisher in self.publishers.values()):
            assert time.monotonic() < end, "the recorder does not subscribe"
            time.sleep(0.02)
        wanted = {"/joint_states", "/tf", "/camera/color/camera_info", "/safety/status"}  # the others are latched
        while not wanted <= {record.topic for record in Recording(folder)}:
            assert time.monotonic() < end, "the recorder does not hear everybody"
            self.publishers["joints"].publish(joint_state_to_msg(State(("waist",), np.zeros(1), np.zeros(1), np.zeros(1), 0.0)))
            self.publishers["moving"].publish(TFMessage(transforms=[transform_to_msg("base_link", "shoulder_link", np.eye(4), 0.0)]))
            self.publishers["info"].publish(camera_info_to_msg(CameraIntrinsics(64, 48, 50.0, 50.0, 32.0, 24.0), 0.0))
            self.publishers["safety"].publish(SafetyStatus(reason="x"))
            time.sleep(0.02)

    def close(self):
        self.spinner.end()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def say(self):
        for tick in range(100):
            state = State(("waist",), np.array([0.01 * tick]), np.zeros(1), np.zeros(1), 5.0 + 0.02 * tick)
            self.publishers["joints"].publish(joint_state_to_msg(state))
            turned = make_transform(rotation_rpy(0.0, 0.0, 0.01 * tick))
            self.publishers["moving"].publish(TFMessage(transforms=[transform_to_msg("base_link", "shoulder_link", turned, state.stamp)]))
            time.sleep(0.005)
        item = SceneObject("cup_1", "cup", "red", "cylinder", np.array([0.04, 0.04, 0.05]), np.eye(4), np.zeros((4, 3), np.float32), 0.9)
        self.publishers["info"].publish(camera_info_to_msg(CameraIntrinsics(64, 48, 50.0, 50.0, 32.0, 24.0), 6.5))
        self.publishers["picture"].publish(image_to_msg(np.full((48, 64, 3), 120, np.uint8), 6.5, "camera_color_optical_frame"))
        self.publishers["scene"].publish(scene_to_msg(Scene((item,), Table(np.eye(4), (0.9, 1.1)), 6.5)))
        for index in range(3):
            for _ in range(20):  # the safety node says it 20 times a second
                self.publishers["safety"].publish(SafetyStatus(stopped=index == 2, code="watchdog" if index == 2 else "", reason="x"))
                time.sleep(0.02)
        event = {"event": "start", "id": "a", "tool": "pick", "arguments": {}, "time": 3.0, "sim_time": 6.6}
        self.publishers["events"].publish(String(data=json.dumps(event)))
        self.publishers["events"].publish(String(data="not JSON"))


@pytest.fixture
def robot():
    robot = Robot()
    yield robot
    robot.close()


@contextlib.contextmanager
def recording(folder, room=resource.RLIM_INFINITY, parameter="episode"):
    """The recorder's process, whose files may grow to ``room`` bytes."""
    environment = {**os.environ, **workstation_defaults(os.environ), "ROS_DOMAIN_ID": str(DOMAIN), "ROS_LOCALHOST_ONLY": "1"}
    command = [sys.executable, "-m", "deskhand.nodes.recorder_node", "--ros-args", "-p", f"{parameter}:={folder}"]
    limited = ["prlimit", f"--fsize={room}", *command] if room != resource.RLIM_INFINITY else command
    process = subprocess.Popen(limited, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield folder, process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def recorder(tmp_path):
    with recording(tmp_path / "episode") as running:
        yield running


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording of all that is said, ended by SIGINT, and the types of the topics on the robot."""
    robot = Robot()
    try:
        with recording(tmp_path_factory.mktemp("recorded") / "episode") as (folder, process):
            robot.wait_for_recorder(folder)
            robot.say()
            wait_until(lambda: len(read_episode(folder).events) == 2)
            types = dict(robot.node.get_topic_names_and_types())
            process.send_signal(signal.SIGINT)
            assert process.wait(5) == 0, process.stdout.read()
    finally:
        robot.close()
    return folder, types


def test_topics_are_recorded_and_sigint_ends_the_file_with_its_index(recorded):
    folder, _ = recorded
    episode = read_episode(folder)
    assert episode.complete
    stamps = [stamp for stamp, _ in episode.joints]
    assert 8 <= len(stamps) <= 22 and np.all(np.diff(stamps) > 0.09), "joint states are thinned to 10 Hz"
    assert [data["stopped"] for _, data in episode.json("/safety/status")] == [False, True], "only changes are kept"
    (look,) = episode.looks()
    assert look.objects[0]["id"] == "cup_1" and look.image().shape == (48, 64, 3)
    assert episode.events[0]["tool"] == "pick" and episode.events[0]["sim_time"] == 6.6
    assert episode.events[1] == {"event": "unreadable", "text": "not JSON", "sim_time": episode.events[1]["sim_time"]}
    assert np.allclose(episode.camera().world_T_camera[:3, 3], [0.5, 0.0, 0.6])
    moving = [message.transforms[0] for _, message in episode.on("/tf")]
    assert 8 <= len(moving) <= 22 and {item.child_frame_id for item in moving} == {"shoulder_link"}
    assert moving[-1].transform.rotation.z > moving[0].transform.rotation.z


def test_every_topic_is_recorded_with_the_type_that_it_has_on_the_robot(recorded):
    folder, said = recorded
    types = {record.topic: record.datatype for record in Recording(folder)}
    for topic, datatype in types.items():
        if not topic.endswith("/compressed"):
            assert [datatype] == said[topic], topic
    record = next(record for record in Recording(folder) if record.topic == "/perception/scene")
    scene = scene_from_msg(deserialize_message(record.data, SceneObjects))  # as a subscriber of a replayed bag gets it
    assert scene.objects[0].id == "cup_1" and np.allclose(scene.objects[0].size, [0.04, 0.04, 0.05]) and scene.table.size == (0.9, 1.1)
    stop = [deserialize_message(record.data, SafetyStatus) for record in Recording(folder) if record.topic == "/safety/status"][-1]
    assert (stop.stopped, stop.code, stop.reason) == (True, "watchdog", "x")


def test_a_killed_recorder_leaves_a_readable_episode(robot, recorder):
    folder, process = recorder
    robot.wait_for_recorder(folder)
    robot.say()
    wait_until(lambda: len(read_episode(folder).events) == 2)
    process.kill()
    process.wait()
    episode = read_episode(folder)
    assert not episode.complete and len(episode.looks()) == 1 and len(episode.joints) >= 8


def test_a_full_disk_is_said_and_the_recorder_lives_on(robot, tmp_path):
    said = []
    robot.node.create_subscription(String, "recorder/status", lambda message: said.append(message.data), EVENTS)
    noise = np.random.default_rng(0).integers(0, 255, (480, 640, 3), np.uint8)
    with recording(tmp_path / "episode", 20_000_000) as (folder, process):  # Fast DDS's own files in shared memory are smaller
        robot.wait_for_recorder(folder)
        robot.say()
        wait_until(lambda: said and said[-1] == "")
        for number in range(150):
            robot.publishers["picture"].publish(image_to_msg(noise, 7.0 + number, "camera_color_optical_frame"))
            time.sleep(0.03)
            if "File too large" in said[-1]:
                break
        event = {"event": "start", "id": "b", "tool": "pick", "arguments": {}, "time": 4.0, "sim_time": 70.0}
        wait_until(lambda: (robot.publishers["events"].publish(String(data=json.dumps(event))), "File too large" in said[-1])[1])
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 0, process.stdout.read()
    assert len(read_episode(folder).looks()) > 20, "what was written before can be read"


def test_each_task_has_a_recording_and_a_report_of_its_own(robot, tmp_path):
    written = []
    robot.node.create_subscription(String, "recorder/record", lambda message: written.append(message.data), EVENTS)
    words = robot.node.create_publisher(String, "agent/events", EVENTS)
    with recording(tmp_path / "others", parameter="folder") as (others, process):
        for number in (1, 2):
            folder = tmp_path / f"task_{number}"
            folder.mkdir()
            begin_record(folder, f"task {number}", "wx250s", "offline", "tools")
            words.publish(String(data=json.dumps({"event": "task", "episode": str(folder)})))
            wait_until((folder / "episode.mcap").is_file)
            robot.wait_for_recorder(folder)
            robot.say()
            wait_until(lambda folder=folder: len(read_episode(folder).events) == 2)
            outcome = {"event": "outcome", "success": False, "code": "node_unavailable", "summary": "Node orchestrator is dead.", "episode": str(folder)}
            words.publish(String(data=json.dumps(outcome)))
            wait_until(lambda folder=folder: str(folder) in written)
            episode = read_episode(folder)
            assert episode.complete and (episode.result["instruction"], episode.result["error_code"]) == (f"task {number}", "node_unavailable")
            assert episode.result["wall_s"] > 0.0 and "Node orchestrator is dead." in (folder / "report.html").read_text()
        late = {"event": "end", "id": "a", "tool": "pick", "duration": 1.0}
        robot.publishers["events"].publish(String(data=json.dumps(late)))
        robot.say()  # a call of somebody else
        wait_until(lambda: list(others.glob("*/episode.mcap")))
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 0, process.stdout.read()
    (other,) = others.glob("*")
    assert read_episode(other).events[0]["event"] == "start", "what comes late from a task is no new episode"
