"""navigate_to_goal_pose against a stand-in for Nav2's navigator that drives along a straight line."""

import contextlib
import math
import threading
import time

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("nav2_msgs.action")
import rclpy
from nav2_msgs.action import NavigateToPose
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from deskhand.arms.config import load_arm
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_robot import RosRobot
from deskhand.tools.base import load_tools, make_session
from deskhand.types import SafetyStatus

DOMAIN = 84
TICK = 0.02  # [s]
NUMBERED = hasattr(NavigateToPose.Result(), "error_code")  # not in Humble, whose result is empty
REGISTRY = load_tools(others=False)[0]


class Navigator:
    """Drives at ``speed`` [m/s]; beyond 50 m there is no way."""

    def __init__(self, node):
        self.speed, self.x, self.y, self.goal = 5.0, 0.0, 0.0, None
        self.server = ActionServer(
            node, NavigateToPose, "navigate_to_pose", self.drive, cancel_callback=lambda _: CancelResponse.ACCEPT, callback_group=node.reentrant
        )

    def drive(self, handle):
        self.goal = handle.request.pose
        x, y = self.goal.pose.position.x, self.goal.pose.position.y
        if math.hypot(x, y) > 50:
            handle.abort()
            return NavigateToPose.Result(**({"error_code": 204} if NUMBERED else {}))
        while (left := math.hypot(x - self.x, y - self.y)) > 1e-3:
            if handle.is_cancel_requested:
                handle.canceled()
                return NavigateToPose.Result()
            step = min(left, self.speed * TICK) / left
            self.x, self.y = self.x + step * (x - self.x), self.y + step * (y - self.y)
            feedback = NavigateToPose.Feedback(distance_remaining=float(math.hypot(x - self.x, y - self.y)))
            feedback.current_pose.pose.position.x, feedback.current_pose.pose.position.y = self.x, self.y
            feedback.current_pose.pose.orientation = self.goal.pose.orientation
            handle.publish_feedback(feedback)
            time.sleep(TICK)
        handle.succeed()
        return NavigateToPose.Result()


@pytest.fixture
def robot(monkeypatch):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN, signal_handler_options=SignalHandlerOptions.NO)
    node = DeskhandNode("tester", context=context)
    executor = MultiThreadedExecutor(6, context=context)
    executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    threading.Thread(target=spin, daemon=True).start()
    robot = RosRobot(node, load_arm("wx250s"))
    robot.status = SafetyStatus(False)
    monkeypatch.setattr(robot, "safety_status", lambda: robot.status)  # no safety node runs here
    robot.node = node
    yield robot
    robot.close()
    executor.shutdown(1.0)
    node.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.fixture
def navigator(robot):
    navigator = Navigator(robot.node)
    end = time.monotonic() + 10
    while not robot.mobile_base.ready() and time.monotonic() < end:
        time.sleep(0.05)
    yield navigator
    navigator.server.destroy()


def test_without_nav2_it_says_that_there_is_no_base(robot):
    with make_session(robot, registry=REGISTRY) as session:
        result = session.invoke("navigate_to_goal_pose", {"x": 1.0, "y": 0.0})
    assert result.code == "impossible" and "navigate_to_pose" in result.message


def test_the_base_drives_to_the_pose_and_says_where_it_is(robot, navigator):
    told = []
    with make_session(robot, registry=REGISTRY) as session:
        result = session.invoke("navigate_to_goal_pose", {"x": 1.0, "y": -0.5, "yaw": 1.57}, feedback=lambda fraction, text: told.append(fraction))
        assert result.ok, result
        lost = session.invoke("navigate_to_goal_pose", {"x": 100.0, "y": 0.0})
    assert (navigator.x, navigator.y) == pytest.approx((1.0, -0.5), abs=0.01)
    assert (result.data["x"], result.data["y"], result.data["yaw"]) == pytest.approx((1.0, -0.5, 1.57), abs=0.02) and result.data["distance_left"] < 0.02
    assert navigator.goal.header.frame_id == "map" and told and max(told) <= 1.0 and told == sorted(told)
    assert lost.code == "controller_failed" and "gave up" in lost.message and ("204" in lost.message) is NUMBERED


@pytest.mark.parametrize("why", ["cancel", "safety stop"])
def test_a_cancel_and_a_stop_of_the_robot_end_the_drive(robot, navigator, why):
    navigator.speed = 0.2
    stop = threading.Event()

    def watch(fraction, text):
        if fraction > 0.0:
            stop.set() if why == "cancel" else setattr(robot, "status", SafetyStatus(True, "safety_stop", "test"))

    with make_session(robot, registry=REGISTRY) as session:
        result = session.invoke("navigate_to_goal_pose", {"x": 3.0, "y": 0.0}, feedback=watch, cancelled=stop.is_set)
    assert result.code == "cancelled" and navigator.x < 2.5
    before = navigator.x
    time.sleep(5 * TICK)
    assert navigator.x == before
