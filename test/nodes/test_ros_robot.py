import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
import rclpy
import rclpy.task
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform
from deskhand.nodes import ros_robot
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_robot import RosRobot

DOMAIN = 61
ARM = load_arm("wx250s")
SCRIPT = Path(__file__).parents[1] / "support/motion_process.py"
POSE = make_transform(np.diag([1.0, -1.0, -1.0]), (0.0, 0.0, 0.2))


@pytest.fixture(scope="module")
def robot():
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN, signal_handler_options=SignalHandlerOptions.NO)
    node = DeskhandNode("tester", context=context)
    executor = MultiThreadedExecutor(6, context=context)
    executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    robot = RosRobot(node, ARM)
    yield robot
    robot.close()
    executor.shutdown(1.0)
    node.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.fixture(scope="module")
def servers():
    """The process that serves; ``ensure()`` starts it again when a test has killed it."""

    class Servers:
        process = None

        def ensure(self, robot):
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen([sys.executable, str(SCRIPT)], env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)})
                end = time.monotonic() + 20
                while time.monotonic() < end:
                    try:
                        robot.joint_state()
                        robot.solve_ik(POSE)
                        return
                    except DeskhandError:
                        time.sleep(0.1)
                raise AssertionError("the servers did not come up")

    result = Servers()
    yield result
    if result.process is not None and result.process.poll() is None:
        result.process.send_signal(signal.SIGTERM)
        result.process.wait(5)


@pytest.fixture
def served(robot, servers):
    servers.ensure(robot)
    return robot


def test_joints_and_tcp_come_from_joint_states(served):
    state = served.joint_state()
    assert state.of(ARM.joints)[1] == pytest.approx(-1.2)
    expected = RobotModel.load(ARM).forward(dict(zip(state.names, state.positions, strict=True)))["tcp"]
    assert np.allclose(served.tcp_pose(), expected)
    assert not served.safety_status().stopped


def test_answers_and_errors_of_services_come_back_as_they_were(served):
    assert served.solve_ik(POSE)[0].joints.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(DeskhandError, match="too high") as caught:
        served.solve_ik(make_transform(None, (0, 0, 2.0)))
    assert caught.value.code == "no_ik_solution"


def test_a_motion_reports_what_became_of_it(served):
    report = served.execute("good")
    assert report.ok and report.duration == pytest.approx(0.5)
    assert served.joint_state().of(["waist"])[0] == pytest.approx(0.5), "measured after the motion, not before"
    stuck = served.execute("stuck")
    assert (stuck.code, stuck.progress) == ("stalled", pytest.approx(0.4))
    with pytest.raises(DeskhandError) as caught:
        served.execute("old")
    assert caught.value.code == "plan_expired"


def test_cancel_passes_through_and_the_outcome_is_still_reported(served):
    heard = []
    report = served.execute("long", progress=lambda share, _: heard.append(share), cancelled=lambda: len(heard) > 2)
    assert report.code == "cancelled" and report.message == "halted."
    assert heard[0] == pytest.approx(0.25)


def test_widths_become_finger_positions_and_back(served):
    opened = served.gripper(0.045)
    assert opened.width == pytest.approx(0.045) and opened.reached and not opened.stalled
    closed = served.gripper(0.005, force=3.0)
    assert closed.width == pytest.approx(0.031) and closed.stalled and not closed.reached
    assert closed.effort == pytest.approx(3.0)
    assert served.gripper(0.005, force=1000.0).effort == pytest.approx(ARM.gripper.force_max)
    with pytest.raises(DeskhandError):
        served.gripper(float("nan"))


def test_a_server_that_dies_in_the_middle_of_a_call_is_noticed_at_once(served, servers):
    start = time.monotonic()
    with pytest.raises(DeskhandError, match="vanished") as caught:
        served.check_state()
    assert caught.value.code == "node_unavailable"
    assert time.monotonic() - start < 5.0, "the call's own time limit is 10 s"
    servers.process.wait(5)
    with pytest.raises(DeskhandError) as caught:
        served.solve_ik(POSE)
    assert caught.value.code == "node_unavailable"


def test_a_server_that_dies_while_the_arm_moves_is_noticed(served, servers):
    threading.Timer(0.5, servers.process.kill).start()
    with pytest.raises(DeskhandError) as caught:
        served.execute("long")
    assert caught.value.code == "node_unavailable"


def test_a_server_that_was_never_there_is_named(robot, monkeypatch):
    monkeypatch.setattr(ros_robot, "READY", 0.3)
    with pytest.raises(DeskhandError, match="perception/detect_objects") as caught:
        robot.detect_objects()
    assert caught.value.code == "node_unavailable"


def test_silence_of_the_safety_node_counts_as_a_stop(robot, servers, monkeypatch):
    servers.ensure(robot)
    servers.process.kill()
    servers.process.wait(5)
    monkeypatch.setattr(ros_robot, "SILENT", 0.2)
    time.sleep(0.3)
    status = robot.safety_status()
    assert status.stopped and status.code == "watchdog"
    with pytest.raises(DeskhandError, match="joint_states") as caught:
        robot.joint_state()
    assert caught.value.code == "stale_data"


def test_an_action_in_a_slow_simulation_has_the_robots_time_and_not_the_walls():
    waits = SimpleNamespace(_peers=SimpleNamespace(dead=lambda server: False), _clock=SimpleNamespace(now=lambda: 0.1 * time.monotonic()))

    def later(seconds):
        future = rclpy.task.Future()
        threading.Timer(seconds, lambda: future.set_result("there")).start()
        return future

    def wait(future, timeout, slowest):
        return RosRobot._wait(waits, future, timeout, "gripper", "", lambda: True, slowest=slowest)

    assert wait(later(0.8), 0.2, ros_robot.SLOWEST) == "there"
    with pytest.raises(DeskhandError, match="in time"):
        wait(later(0.8), 0.2, 1.0)
    waits._clock.now = lambda: 5.0  # a clock that stands still
    with pytest.raises(DeskhandError, match="in time"):
        wait(later(1.5), 0.05, ros_robot.SLOWEST)


def test_who_appears_shortly_after_the_start_was_never_missing(robot, monkeypatch):
    monkeypatch.setattr(robot, "_born", time.monotonic() - 60.0)
    assert "camera" in robot.missing(), "long after the start nobody is waited for"
    monkeypatch.setattr(ros_robot, "DISCOVERY", 3.0)
    monkeypatch.setattr(robot, "_born", time.monotonic())
    publishers = []
    late = threading.Timer(0.5, lambda: publishers.append(robot._node.create_publisher(Image, ros_robot.COLOR, 1)))
    late.start()
    try:
        assert "camera" not in robot.missing()
    finally:
        late.join()
        for publisher in publishers:
            robot._node.destroy_publisher(publisher)
