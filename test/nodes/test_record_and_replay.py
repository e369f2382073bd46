"""A session of a (simulated) robot is recorded, and played to perception again: it sees the same objects, by nodes and without ROS."""

import contextlib
import json
import threading
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
import rclpy
import yaml
from camera_robot import Robot
from looked_at import an_object, look
from mcap.reader import make_reader
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter
from typer.testing import CliRunner

from deskhand.commands.cli import app
from deskhand.errors import ERROR_NUMBERS
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand.nodes.perception_node import PerceptionNode
from deskhand.nodes.replay_node import ReplayNode
from deskhand.nodes.session_recorder_node import SessionRecorderNode
from deskhand.recording.reader import Recording
from deskhand_interfaces.srv import DetectObjects

DOMAIN = 96


@contextlib.contextmanager
def graph(*makers):
    """Nodes made in a ROS of their own, spun, and a client that looks."""
    rclpy.init(domain_id=DOMAIN)
    nodes = [make() for make in makers]
    client_node = DeskhandNode("test_client")
    client = client_node.create_client(DetectObjects, "perception/detect_objects", callback_group=client_node.reentrant)
    executor = MultiThreadedExecutor(num_threads=8)
    for node in (*nodes, client_node):
        executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()

    def detect():
        for _ in range(6):  # a machine with more to do than it can gives pictures and joints that do not go together, and says so
            response = call_service(client, DetectObjects.Request(), timeout=60.0, wait_for=20.0)
            if response.error_code not in (ERROR_NUMBERS["stale_data"], ERROR_NUMBERS["no_frame"]):
                break
        assert not response.error_code, response.error_message
        return conversions.scene_from_msg(response.scene)

    try:
        yield nodes, detect
    finally:
        for node in nodes:
            node.close()
        executor.shutdown(timeout_sec=2.0)
        thread.join(2.0)
        for node in (*nodes, client_node):
            node.destroy_node()
        rclpy.try_shutdown()


def until(ready, seconds=30.0):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def perception(**parameters):
    return lambda: PerceptionNode(parameter_overrides=[Parameter(name, value=value) for name, value in {"timeout": 20.0, **parameters}.items()])


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A recording of a desk, raw and compressed at once, and what perception saw of it live."""
    folder = tmp_path_factory.mktemp("recordings")
    desk = look(
        an_object("block", "red", (0.035,) * 3, 0.05, 0.10, 0.4),
        an_object("cup", "blue", (0.04, 0.04, 0.055), 0.05, -0.08),
        an_object("bin", "green", (0.18, 0.14, 0.10), 0.0, 0.29),
    )

    def recorder(name, raw):
        file = Parameter("file", value=str(folder / name))
        return lambda: SessionRecorderNode(parameter_overrides=[file, Parameter("raw", value=raw)])

    with graph(lambda: Robot(desk), recorder("small.mcap", False), recorder("raw.mcap", True), perception()) as (nodes, detect):
        small, raw = nodes[1], nodes[2]
        scene = detect()
        pictures = "/camera/aligned_depth_to_color/image_raw"
        until(lambda: small.file.counts.get(f"{pictures}/compressedDepth", 0) >= 8 and raw.file.counts.get(pictures, 0) >= 8)
        until(lambda: small.file.counts.get("/perception/scene") and small.file.counts.get("/tf_static"))
    return folder, scene


def assert_same(scene, live):
    assert sorted((item.label, item.color) for item in scene.objects) == sorted((item.label, item.color) for item in live.objects)
    for item in live.objects:
        twin = min(scene.objects, key=lambda other: np.linalg.norm(other.position - item.position))
        assert twin.label == item.label and np.linalg.norm(twin.position - item.position) < 0.003


def test_both_recordings_are_whole_and_the_compressed_one_is_small(session):
    folder, _ = session
    sizes = {}
    for name in ("small.mcap", "raw.mcap"):
        recording = Recording(folder / name)
        topics = {record.topic: record.datatype for record in recording}
        assert recording.complete and recording.metadata()["arm"] == "wx250s"
        assert topics["/joint_states"] == "sensor_msgs/msg/JointState" and topics["/tf_static"] == "tf2_msgs/msg/TFMessage"
        assert topics["/perception/scene"] == "deskhand_interfaces/msg/SceneObjects"
        sizes[name] = (folder / name).stat().st_size
    assert sizes["small.mcap"] < 0.5 * sizes["raw.mcap"]


def test_topics_say_how_they_were_offered(session):
    folder, _ = session
    with (folder / "small.mcap").open("rb") as stream:
        channels = {channel.topic: channel.metadata["offered_qos_profiles"] for channel in make_reader(stream).get_summary().channels.values()}
    durable = {topic: [profile["durability"] for profile in yaml.safe_load(text)] for topic, text in channels.items()}
    assert durable["/tf_static"] == [1] and durable["/perception/scene"] == [1]
    assert set(durable["/joint_states"]) == {2} and set(durable["/camera/color/image_raw/compressed"]) == {2}


@pytest.mark.parametrize("name", ["small.mcap", "raw.mcap"])
def test_real_perception_nodes_see_the_same_objects_in_the_replay(session, name):
    folder, live = session

    def replay():
        node = ReplayNode(parameter_overrides=[Parameter("file", value=str(folder / name)), Parameter("again", value=True)])
        node.start()
        return node

    with graph(replay, perception(use_sim_time=True)) as (_, detect):
        assert_same(detect(), live)


def test_without_ros_perception_and_memory_live_on_it_too(session, tmp_path):
    folder, live = session
    output, memory = tmp_path / "looks.json", tmp_path / "memory.sqlite"
    arguments = ["replay", str(folder / "small.mcap"), "--local", "--every", "5", "--memory", str(memory), "--json", str(output)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    first = json.loads(output.read_text())["looks"][0]["objects"]
    assert sorted((item["label"], item["color"]) for item in first) == sorted((item.label, item.color) for item in live.objects)

    from deskhand.world.history.reader import MemoryReader

    with MemoryReader(memory) as remembered:
        assert {state.object.label for state in remembered.states_now()} == {item.label for item in live.objects}
