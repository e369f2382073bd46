"""A command's own robot lives on the clock of the robot whose nodes run."""

import threading
import time

import pytest

pytest.importorskip("rclpy")
import rclpy
from rclpy.context import Context
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from deskhand.errors import DeskhandError
from deskhand.nodes import connected, conversions


@pytest.fixture
def simulated(monkeypatch):
    """Publishes joint states, and a /clock that stands at 12 s where it is told to."""
    monkeypatch.setenv("ROS_DOMAIN_ID", "97")
    context, stop, threads = Context(), threading.Event(), []
    rclpy.init(context=context, domain_id=97)
    node = rclpy.create_node("somebody", context=context)

    def start(clock):
        joints = node.create_publisher(JointState, "joint_states", 1)
        ticks = node.create_publisher(Clock, "/clock", 1) if clock else None

        def publish():
            while not stop.wait(0.02):
                joints.publish(JointState(name=["waist"], position=[0.0]))
                if ticks is not None:
                    ticks.publish(Clock(clock=conversions.time_to_msg(12.0)))

        threads.append(threading.Thread(target=publish))
        threads[0].start()

    yield start
    stop.set()
    for thread in threads:
        thread.join()
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_a_simulations_clock_is_taken(simulated):
    simulated(clock=True)
    with connected.connected_robot("wx250s") as robot:
        assert robot.now() == 12.0


def test_without_a_clock_it_is_the_systems_time(simulated):
    simulated(clock=False)
    with connected.connected_robot("wx250s") as robot:
        assert abs(robot.now() - time.time()) < 60


def test_where_no_robot_is_that_is_said(simulated, monkeypatch):
    monkeypatch.setattr(connected, "DISCOVERY", 0.3)
    with pytest.raises(DeskhandError, match="nobody publishes") as caught, connected.connected_robot("wx250s"):
        pass
    assert caught.value.code == "node_unavailable" and "deskhand up" in caught.value.hint


def test_the_arm_is_the_one_that_the_nodes_run_with(simulated, monkeypatch):
    simulated(clock=False)
    context = Context()
    rclpy.init(context=context, domain_id=97)
    safety = rclpy.create_node("safety", context=context)
    safety.declare_parameter("arm", "jetarm")
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(safety)
    spinner = threading.Thread(target=executor.spin, daemon=True)
    spinner.start()
    monkeypatch.setattr(connected, "ARM_DISCOVERY", 10.0)
    try:
        with connected.connected_robot("") as robot:
            assert robot.arm.name == "jetarm"
        with pytest.raises(DeskhandError, match="run with the arm jetarm, not so101"), connected.connected_robot("so101"):
            pass
    finally:
        executor.shutdown()
        spinner.join(2.0)
        safety.destroy_node()
        rclpy.shutdown(context=context)


def test_no_arm_is_assumed_when_no_node_tells_it(simulated):
    simulated(clock=False)
    with pytest.raises(DeskhandError, match="which arm") as caught, connected.connected_robot(""):
        pass
    assert "jetarm, panda, so101, wx250s" in caught.value.hint
