"""The perception node between a camera, an arm's joint states and a client; all of the test's own DDS domain."""

import contextlib
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
import rclpy
from camera_robot import COLOR, LATCHED, Robot
from looked_at import CONTAINER_KINDS, an_object, found_at, look
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import Image

from deskhand.errors import error_from_number
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand.nodes.perception_node import PerceptionNode
from deskhand.perception.settings import PerceptionSettings
from deskhand_interfaces.msg import SceneObjects
from deskhand_interfaces.srv import DetectObjects

DOMAIN = 47


class Graph:
    def __init__(self, one, encoding="32FC1"):
        rclpy.init(domain_id=DOMAIN)
        self.robot = Robot(one, encoding)
        self.perception = PerceptionNode(parameter_overrides=[Parameter("timeout", value=2.0)])
        self.node = DeskhandNode("test_client")
        self.client = self.node.create_client(DetectObjects, "perception/detect_objects", callback_group=self.node.reentrant)
        self.add_view = self.node.create_client(DetectObjects, "perception/add_view", callback_group=self.node.reentrant)
        self.executor = MultiThreadedExecutor(num_threads=8)
        for node in (self.robot, self.perception, self.node):
            self.executor.add_node(node)
        self.thread = threading.Thread(target=self._spin, daemon=True)
        self.thread.start()

    def _spin(self):
        with contextlib.suppress(ExternalShutdownException):
            self.executor.spin()

    def look(self, add=False):
        """Scene, or raises what the node answered."""
        answer = call_service(self.add_view if add else self.client, DetectObjects.Request())
        if answer.error_code:
            raise error_from_number(answer.error_code, answer.error_message)
        return conversions.scene_from_msg(answer.scene)

    def close(self):
        self.executor.shutdown(timeout_sec=2.0)
        for node in (self.robot, self.perception, self.node):
            node.destroy_node()
        rclpy.try_shutdown()
        self.thread.join(timeout=2.0)


@pytest.fixture(scope="module")
def one():
    return look(
        an_object("block", "red", (0.035,) * 3, 0.05, 0.10, 0.4),
        an_object("cup", "blue", (0.04, 0.04, 0.055), 0.05, -0.08),
        an_object("bin", "white", (0.18, 0.14, 0.10), 0.0, 0.29),
    )


@pytest.fixture(scope="module")
def graph(one):
    graph = Graph(one, "16UC1")
    yield graph
    graph.close()


def until(condition, limit=5.0):
    end = time.monotonic() + limit
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_a_look_finds_what_the_camera_shows(graph, one):
    before = graph.node.seconds()
    scene = graph.look()
    assert scene.stamp > before
    assert len(scene.objects) == len(one.world.objects)
    for item in one.world.objects:
        found = found_at(scene, item)
        assert found.label == item.kind
        assert found.is_container == (item.kind in CONTAINER_KINDS)
        assert np.linalg.norm(found.position - item.pose[:3, 3]) < 0.008


def test_ids_stay_from_look_to_look(graph):
    looks = [sorted(item.id for item in graph.look().objects) for _ in range(3)]
    assert looks[0] == looks[1] == looks[2] == ["bin_1", "block_1", "cup_1"]


def test_an_added_view_keeps_what_it_does_not_show_and_a_new_look_forgets_it(graph, one):
    middle = one.frame.intrinsics.width // 2
    halves = []
    for columns in (slice(0, middle - 20), slice(middle + 20, None)):
        depth = one.frame.depth.copy()
        depth[:, columns] = np.nan
        halves.append(replace(one, frame=replace(one.frame, depth=depth)))
    try:
        graph.robot.one = halves[0]
        first = {item.id for item in graph.look().objects}
        graph.robot.one = halves[1]
        both = [item.id for item in graph.look(add=True).objects]
        second = {item.id for item in graph.look().objects}
    finally:
        graph.robot.one = one
    assert first and second and not first & second
    assert sorted(both) == sorted(first | second)


def test_scene_and_picture_are_there_for_late_listeners(graph):
    scene = graph.look()
    came = {}
    kinds = {"perception/scene": SceneObjects, "perception/annotated": Image}
    for topic, kind in kinds.items():
        graph.node.create_subscription(kind, topic, lambda m, topic=topic: came.update({topic: m}), LATCHED, callback_group=graph.node.reentrant)
    assert until(lambda: len(came) == 2)
    assert [item.id for item in conversions.scene_from_msg(came["perception/scene"]).objects] == [item.id for item in scene.objects]
    picture = conversions.image_from_msg(came["perception/annotated"])
    assert picture.shape == graph.robot.one.frame.color.shape
    assert (picture != graph.robot.one.frame.color).any()


def test_a_look_is_made_of_several_pictures_so_that_each_may_have_many_holes(graph, one):
    whole, before = graph.look(), graph.robot.exposed
    graph.robot.lost = 0.4
    try:
        holed = graph.look()
    finally:
        graph.robot.lost = 0.0
    assert graph.robot.exposed - before >= PerceptionSettings().frames
    for item in one.world.objects:
        np.testing.assert_allclose(found_at(holed, item).size, found_at(whole, item).size, atol=0.004)


def test_a_slow_camera_is_not_waited_for_more_than_one_picture(graph, one):
    graph.robot.pause = 0.8
    try:
        begun = graph.robot.exposed
        assert len(graph.look().objects) == len(one.world.objects)
        assert graph.robot.exposed - begun <= 2
    finally:
        graph.robot.pause = graph.robot.next = 0.0


def test_the_camera_is_left_alone_between_looks(graph):
    graph.look()
    assert until(lambda: graph.robot.color.get_subscription_count() == 0 and graph.robot.depth.get_subscription_count() == 0)


def test_a_silent_camera_is_an_error_that_names_the_topics(graph):
    graph.robot.with_pictures = False
    try:
        with pytest.raises(Exception, match=COLOR) as caught:
            graph.look()
        assert caught.value.code == "no_frame"
    finally:
        graph.robot.with_pictures = True
    assert graph.look().objects


def test_old_pictures_are_no_answer(graph):
    graph.robot.late = 30.0
    try:
        with pytest.raises(Exception, match="old") as caught:
            graph.look()
        assert caught.value.code in ("no_frame", "stale_data")
    finally:
        graph.robot.late = 0.0


def test_without_joint_states_nothing_is_claimed(graph):
    graph.robot.with_joints = False
    try:
        with pytest.raises(Exception, match="joint_states") as caught:
            graph.look()
        assert caught.value.code == "stale_data"
    finally:
        graph.robot.with_joints = True
