"""A gripper behind each of the actions that vendors serve; the one of Interbotix is a joint of a trajectory, in a controller that never reads it."""

import contextlib
import math
import threading
import time

import pytest

pytest.importorskip("rclpy")

import rclpy
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState as JointStateMsg

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.nodes import gripper_client
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_robot import DISCOVERY, RosRobot

DOMAIN = 85
ARM = load_arm("wx250s")
SPEED = 0.05  # [m/s]


class Vendor:
    """Interbotix' stack as the graph shows it: xs_sdk's joint states, in its order and with its signs, and a trajectory controller of the finger.

    ``block`` [m] is where an object stops the finger; ``goals`` are what came, as (time, position) points.
    """

    def __init__(self, context, kind=FollowJointTrajectory):
        self.node = DeskhandNode("vendor", context=context)
        self.finger, self.goal, self.block, self.goals, self.nan = 0.030, 0.030, 0.0, [], False
        self.publisher = self.node.create_publisher(JointStateMsg, "joint_states", 5)
        name = gripper_client.TRAJECTORY if kind is FollowJointTrajectory else gripper_client.COMMAND
        execute = {FollowJointTrajectory: self.follow, GripperCommand: self.grip}.get(kind, self.parallel)
        options = {"callback_group": self.node.reentrant, "cancel_callback": lambda _: CancelResponse.ACCEPT}
        self.server = ActionServer(self.node, kind, name, execute, **options)
        self.newest = self.ticks = 0
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        last = time.monotonic()
        while not self.closing.wait(0.01):
            now = time.monotonic()
            step = SPEED * (now - last)
            last = now
            self.finger = max(self.finger + min(max(self.goal - self.finger, -step), step), self.block)
            names = [*ARM.joints, "gripper", "left_finger", "right_finger"]
            finger = math.nan if self.nan else self.finger
            message = JointStateMsg(name=names, position=[*[0.1] * 6, 0.4, finger, -finger])
            message.header.stamp = self.node.get_clock().now().to_msg()
            self.publisher.publish(message)
            self.ticks += 1

    def until(self, condition):
        end = time.monotonic() + 30.0
        while not condition():
            assert time.monotonic() < end, (self.finger, self.goal, self.goals)
            time.sleep(0.01)

    def follow(self, handle):
        """As joint_trajectory_controller: a newer goal takes the place of the one before, the end comes by time alone."""
        points = [(point.time_from_start.sec + point.time_from_start.nanosec / 1e9, point.positions[0]) for point in handle.request.trajectory.points]
        assert handle.request.trajectory.joint_names == ["left_finger"]
        self.goals.append(points)
        self.newest = mine = self.newest + 1
        self.goal = points[-1][1]
        end = time.monotonic() + points[-1][0]
        while time.monotonic() < end and mine == self.newest:
            time.sleep(0.005)
        if mine != self.newest:
            handle.abort()
            return FollowJointTrajectory.Result(error_string="a newer goal")
        handle.succeed()
        return FollowJointTrajectory.Result()

    def grip(self, handle):
        self.finger = self.goal = handle.request.command.position
        handle.succeed()
        return GripperCommand.Result(position=self.finger, reached_goal=True)

    def parallel(self, handle):
        command = handle.request.command
        assert list(command.name) == ["left_finger"]
        self.finger = self.goal = command.position[0]
        handle.succeed()
        result = gripper_client.PARALLEL.Result(reached_goal=True)
        result.state.position, result.state.effort = [self.finger], [command.effort[0]]
        return result

    def close(self):
        self.closing.set()
        self.thread.join()
        self.server.destroy()
        self.node.destroy_node()


@pytest.fixture
def graph():
    """Makes the vendor's part; gives the robot that uses it."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN, signal_handler_options=SignalHandlerOptions.NO)
    made, executor = [], MultiThreadedExecutor(6, context=context)

    def make(kind=FollowJointTrajectory):
        vendor = Vendor(context, kind) if kind is not None else None
        node = DeskhandNode("tester", context=context)
        robot = RosRobot(node, ARM)
        robot._born -= DISCOVERY  # nobody of a bring-up is waited for
        for each in filter(None, (vendor and vendor.node, node)):
            executor.add_node(each)
        made.extend([robot, node, vendor])
        return vendor, robot

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    yield make
    robot, node, vendor = made
    robot.close()
    if vendor is not None:
        vendor.close()
    executor.shutdown(1.0)
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def test_a_gripper_served_as_a_trajectory_opens_closes_and_stalls(graph):
    vendor, robot = graph()
    opened = robot._gripper.move(0.045, 5.0)
    assert opened.reached and not opened.stalled and opened.width == pytest.approx(0.045, abs=0.003)
    (start, end), *_ = vendor.goals
    assert start == (0.0, pytest.approx(0.030, abs=1e-3)), "it must begin where the finger was measured"
    assert end[1] == pytest.approx(ARM.gripper.position_of(0.045)) and end[0] >= gripper_client.SHORTEST
    vendor.block = ARM.gripper.position_of(0.030)
    closed = robot._gripper.move(0.005, 5.0)
    assert closed.stalled and not closed.reached and closed.effort == 5.0
    assert closed.width == pytest.approx(0.030, abs=0.001)
    end_time = time.monotonic() + 2.0
    while vendor.goal < vendor.block - 0.0021 and time.monotonic() < end_time:
        time.sleep(0.01)
    assert vendor.block - 0.0021 < vendor.goal < vendor.block, "it presses with all its force, or not at all"


def test_a_cancelled_command_leaves_the_fingers_where_they_are(graph):
    vendor, robot = graph()
    begun = time.monotonic()
    report = robot._gripper.move(0.049, 5.0, cancelled=lambda: time.monotonic() - begun > 0.6 or vendor.finger > 0.033)
    assert not report.reached and report.width < 0.048
    vendor.until(lambda: len(vendor.goals) > 1 and abs(vendor.finger - vendor.goal) < 1e-6)
    stood, seen = vendor.finger, vendor.ticks
    vendor.until(lambda: vendor.ticks > seen + 20)
    assert vendor.finger == pytest.approx(stood, abs=1e-4) and stood < 0.0368


def test_fingers_count_alike_and_one_that_nobody_measures_is_said(graph):
    vendor, robot = graph()
    state = robot.joint_state()
    assert state.of(["right_finger"])[0] == state.of(["left_finger"])[0] > 0
    vendor.nan = True
    robot._joints = None
    with pytest.raises(DeskhandError, match="no measured position of left_finger") as caught:
        robot._gripper.move(0.04, 5.0)
    assert caught.value.code == "stale_data"


@pytest.mark.parametrize("kind", [GripperCommand, gripper_client.PARALLEL], ids=["GripperCommand", "ParallelGripperCommand"])
def test_the_action_that_is_served_is_used(graph, kind):
    if kind is None:
        pytest.skip("this control_msgs has no such action")
    vendor, robot = graph(kind)
    report = robot._gripper.move(0.040, 3.0)
    assert report.reached and report.width == pytest.approx(0.040) and vendor.finger == pytest.approx(ARM.gripper.position_of(0.040))
    assert "gripper" not in robot.missing()


def test_no_gripper_is_an_error_that_names_both_actions(graph):
    _, robot = graph(None)
    with pytest.raises(DeskhandError, match=r"gripper_cmd or .*follow_joint_trajectory") as caught:
        robot._gripper.move(0.04, 5.0)
    assert caught.value.code == "node_unavailable" and "gripper" in robot.missing()
