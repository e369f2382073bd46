"""The camera node: what a driver gives is on the topics, by REP 103 and 118; a silent camera is told, recovered, and counted."""

import contextlib
import threading
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from deskhand.cameras.base import Exposure, RgbdImage
from deskhand.errors import DeskhandError
from deskhand.nodes import camera_node, conversions
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand.types import CameraIntrinsics

DOMAIN = 98
LENS = CameraIntrinsics(64, 48, 50.0, 50.0, 31.5, 23.5, "eye")


class Script:
    """A driver of the test's own: what it does is said from outside."""

    def __init__(self):
        self.unit, self.number, self.made, self.gone, self.recoveries, self.skip = 0.001, 0, 0, False, 0, 0
        self.open = False

    def connect(self):
        self.number, self.open = 0, True

    def read(self, timeout):
        time.sleep(0.05)
        if self.gone:
            raise DeskhandError("no_frame", "unplugged", retry=True)
        self.number += 1 + self.skip
        self.skip = 0
        return Exposure(time.time(), self.number, self._image)

    def _image(self):
        self.made += 1
        depth = np.full((48, 64), 800, np.uint16)
        depth[0] = 0
        color = np.zeros((48, 64, 3), np.uint8)
        color[..., 0] = 200
        return RgbdImage(color, depth, self.unit, LENS)

    def recover(self):
        self.recoveries += 1
        if self.gone:
            raise DeskhandError("no_frame", "still unplugged", retry=True)
        self.connect()

    def close(self):
        self.open = False


def until(ready, seconds=20.0):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setattr(camera_node, "RETRY", 0.1)
    rclpy.init(domain_id=DOMAIN)
    driver = Script()
    overrides = [Parameter("rate", value=20), Parameter("mount", value="fixed")]
    camera, client = camera_node.CameraNode(driver, parameter_overrides=overrides), DeskhandNode("client")
    executor = MultiThreadedExecutor(num_threads=3)
    for node in (camera, client):
        executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    yield driver, camera, client
    camera.close()
    executor.shutdown(timeout_sec=2.0)
    thread.join(2.0)
    for node in (camera, client):
        node.destroy_node()
    rclpy.try_shutdown()


def listen(client, kind, topic, quality=10):
    got = []
    client.create_subscription(kind, topic, got.append, quality)
    return got


def test_camera_info_comes_with_every_exposure_though_nobody_wants_the_pictures_and_with_the_stamps_of_those_that_come(graph):
    driver, camera, client = graph
    infos = listen(client, CameraInfo, "camera/color/camera_info", 100)
    camera.start()
    until(lambda: len(infos) >= 8)
    assert driver.made == 1, "one picture tells the intrinsics; others are made for nobody"
    stamps = [conversions.time_from_msg(info.header.stamp) for info in infos]
    assert np.all(np.diff(stamps) > 0.02) and all(conversions.camera_info_from_msg(info) == LENS for info in infos)
    color = listen(client, Image, "camera/color/image_raw")
    until(lambda: len(color) >= 3)
    until(lambda: {str(image.header.stamp) for image in color} <= {str(info.header.stamp) for info in infos})


def test_pictures_depth_and_lens_arrive_and_nothing_is_made_for_nobody(graph):
    driver, camera, client = graph
    camera.start()
    until(lambda: camera.frames.published >= 5)
    assert driver.made == 1
    color = listen(client, Image, "camera/color/image_raw")
    depth = listen(client, Image, "camera/aligned_depth_to_color/image_raw")
    info = listen(client, CameraInfo, "camera/color/camera_info")
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    static = listen(client, TFMessage, "/tf_static", latched)
    until(lambda: color and depth and info and static)
    assert color[-1].encoding == "rgb8" and conversions.image_from_msg(color[-1])[5, 5].tolist() == [200, 0, 0]
    assert depth[-1].encoding == "16UC1" and color[-1].header.frame_id == depth[-1].header.frame_id == info[-1].header.frame_id == "eye"
    metres = conversions.image_from_msg(depth[-1])
    assert np.isnan(metres[0]).all() and np.allclose(metres[1:], 0.8)
    assert conversions.camera_info_from_msg(info[-1]) == LENS
    assert abs(conversions.time_from_msg(color[-1].header.stamp) - time.time()) < 20
    driver.unit = 0.0005
    until(lambda: depth[-1].encoding == "32FC1")
    assert np.allclose(conversions.image_from_msg(depth[-1])[1:], 0.4)
    transform = static[-1].transforms[0]
    assert (transform.header.frame_id, transform.child_frame_id) == ("world", "camera_color_optical_frame")


def test_a_camera_that_vanishes_is_told_and_comes_back(graph):
    driver, camera, client = graph
    told = []
    client.create_subscription(DiagnosticArray, "/diagnostics", lambda message: told.append(message) if message.status[0].name == "camera" else None, 10)
    driver.skip = 4
    camera.start()
    until(lambda: camera.frames.published >= 3)
    driver.skip = 2
    until(lambda: camera.frames.dropped == 2)
    driver.gone = True
    until(lambda: driver.recoveries >= 2)
    until(lambda: any(message.status[0].level == b"\x02" and "unplugged" in message.status[0].message for message in told))
    published = camera.frames.published
    driver.gone = False
    until(lambda: camera.frames.published > published + 2)
    assert camera.frames.reconnects == 1 and camera.frames.dropped == 2
    until(lambda: any(value.key == "reconnects" and value.value == "1" for value in told[-1].status[0].values))


def test_a_camera_that_is_not_there_yet_is_waited_for_but_a_bad_configuration_is_not(graph):
    driver, camera, _ = graph
    driver.connect = lambda: (_ for _ in ()).throw(DeskhandError("config_error", "no such size"))
    with pytest.raises(DeskhandError, match="no such size"):
        camera.start()
    driver.connect = lambda: (_ for _ in ()).throw(DeskhandError("no_frame", "not plugged in", retry=True))
    camera.start()
    assert "not plugged in" in camera.frames.error
    until(lambda: camera.frames.published >= 1)


def test_a_camera_that_is_deactivated_publishes_nothing_and_goes_on_when_it_is_activated_again(graph):
    driver, camera, client = graph
    change, state = client.create_client(ChangeState, "camera/change_state"), client.create_client(GetState, "camera/get_state")

    def go(transition, becomes):
        assert call_service(change, ChangeState.Request(transition=Transition(id=transition))).success
        assert call_service(state, GetState.Request()).current_state.label == becomes

    color = listen(client, Image, "camera/color/image_raw")
    camera.start()
    until(lambda: color)
    go(Transition.TRANSITION_DEACTIVATE, "inactive")
    read, published = driver.number, camera.frames.published
    driver.number += 40  # while nobody reads
    go(Transition.TRANSITION_CLEANUP, "unconfigured")
    assert driver.number == read + 40 and camera.frames.published == published and not driver.open
    go(Transition.TRANSITION_CONFIGURE, "inactive")
    assert driver.open and camera.frames.published == published
    color.clear()
    go(Transition.TRANSITION_ACTIVATE, "active")
    until(lambda: len(color) >= 2)
    assert camera.frames.dropped == 0 and camera.frames.reconnects == 0
