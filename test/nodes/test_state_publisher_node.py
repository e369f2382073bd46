"""Our stand-in for robot_state_publisher: latched description and fixed links for who comes late, moving links at the joint states' own times."""

import itertools
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
import rclpy
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from deskhand.arms.config import load_arm
from deskhand.arms.description import urdf_text
from deskhand.bringup.domains import free_domain
from deskhand.errors import DeskhandError
from deskhand.nodes.conversions import time_from_msg, time_to_msg
from deskhand.nodes.state_publisher_node import StatePublisherNode

URDF = urdf_text(load_arm("jetarm"))


@pytest.fixture
def graph():
    context = Context()
    with free_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        node = StatePublisherNode(context=context, parameter_overrides=[Parameter("robot_description", value=URDF)])
        watcher = rclpy.create_node("watcher", context=context)
        executor = MultiThreadedExecutor(2, context=context)
        executor.add_node(watcher)
        yield node, watcher, executor
        executor.shutdown()
        watcher.destroy_node()
        node.destroy_node()
        rclpy.shutdown(context=context)


def until(executor, ready, seconds=20.0):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it does not come"
        executor.spin_once(timeout_sec=0.05)


def test_who_comes_late_has_the_description_and_the_fixed_links_and_moving_links_follow_the_joint_states(graph):
    _, watcher, executor = graph
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    texts, fixed, moving = [], [], []
    watcher.create_subscription(String, "robot_description", texts.append, latched)
    watcher.create_subscription(TFMessage, "/tf_static", fixed.append, latched)
    watcher.create_subscription(TFMessage, "/tf", moving.append, 100)
    states = watcher.create_publisher(JointState, "joint_states", 100)
    until(executor, lambda: texts and fixed and states.get_subscription_count() and watcher.count_publishers("/tf"))
    assert texts[0].data == URDF and "tcp" in {item.child_frame_id for item in fixed[0].transforms}

    first = load_arm("jetarm").joints[0]
    states.publish(JointState(name=[first], position=[]))  # broken: ignored, and nothing ends
    for tick in range(40):  # 100 Hz for 0.4 s of the states' time
        message = JointState(name=[first], position=[0.01 * tick])
        message.header.stamp = time_to_msg(5.0 + tick / 100)
        states.publish(message)
        executor.spin_once(timeout_sec=0.005)
    until(executor, lambda: moving and time_from_msg(moving[-1].transforms[0].header.stamp) >= 5.34)
    stamps = [time_from_msg(message.transforms[0].header.stamp) for message in moving]
    assert all(later - earlier >= 0.05 - 1e-6 for earlier, later in itertools.pairwise(stamps))  # 20 Hz, as robot_state_publisher's default
    turn = moving[-1].transforms[0].transform.rotation
    last = stamps[-1]
    assert np.isclose(2 * np.arctan2(abs(turn.z), abs(turn.w)), (last - 5.0), atol=1e-6)  # 0.01 rad in 0.01 s, about z


def test_a_description_that_is_none_is_a_clear_error():
    context = Context()
    with free_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        with pytest.raises(DeskhandError, match="robot_description"):
            StatePublisherNode(context=context)
        rclpy.shutdown(context=context)
