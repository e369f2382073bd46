"""Joint states of an arm that another process drives: nodes find each other in any order."""

import threading

import pytest

pytest.importorskip("rclpy")

import rclpy
from rclpy.context import Context
from sensor_msgs.msg import JointState as JointStateMsg

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.nodes import ros_arm
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_arm import RosArm

DOMAIN = 74
ARM = load_arm("wx250s")


@pytest.fixture
def nodes():
    """The one that speaks for the arm, the one that listens; nobody spins them."""
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    pair = DeskhandNode("driver", context=context), DeskhandNode("planner", context=context)
    yield pair
    for node in pair:
        node.destroy_node()
    rclpy.try_shutdown(context=context)


class Asked:
    """An event that says when it is waited for."""

    def __init__(self, event, asked):
        self._event, self._asked = event, asked

    def __getattr__(self, name):
        return getattr(self._event, name)

    def wait(self, timeout):
        self._asked.set()
        return self._event.wait(timeout)


def test_the_first_question_waits_for_the_first_joint_states(nodes):
    driver, planner = nodes
    arm = RosArm(planner, ARM)
    publisher = driver.create_publisher(JointStateMsg, "joint_states", 1)
    message = JointStateMsg(name=list(ARM.joints), position=[0.1] * len(ARM.joints))

    def speak():
        asked.wait()
        while not done.wait(0.05):
            publisher.publish(message)

    asked, done = threading.Event(), threading.Event()
    arm._met = Asked(arm._met, asked)
    thread = threading.Thread(target=speak)
    thread.start()
    try:
        state = arm.joint_state()
    finally:
        done.set()
        thread.join()
    assert state.names == tuple(ARM.joints) and all(abs(position - 0.1) < 1e-9 for position in state.positions)


def test_an_arm_that_never_speaks_is_an_error(nodes, monkeypatch):
    monkeypatch.setattr(ros_arm, "FIRST_STATE", 0.2)
    with pytest.raises(DeskhandError) as caught:
        RosArm(nodes[1], ARM).joint_state()
    assert caught.value.code == "stale_data" and "yet" in str(caught.value)
