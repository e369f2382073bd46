"""A RosRobot for a command: a node of its own, spun beside it, for as long as the command works."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from deskhand.arms.config import load_arm
from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_robot import RosRobot
from deskhand.recording.frames import COLOR

DISCOVERY = 10.0  # [s] of wall time until the robot's nodes are found, and until the first /clock
CLOCK_DISCOVERY = 0.5  # [s] more until a /clock is found, which a simulation's node publishes beside its joints


@contextmanager
def connected_robot(arm: str, mount: CameraMount | None = None, namespace: str = "") -> Iterator[RosRobot]:
    """The robot whose nodes run (``deskhand up``, ``ros2 launch``); ``mount`` is where its camera is meant to be, if nobody publishes that.

    It lives on the robot's time: where somebody publishes ``/clock`` (a simulation, a replay), on that.

    Raises:
        DeskhandError: ``config_error`` for the arm; ``node_unavailable`` when neither arm nor camera publishes, or ``/clock`` stands still.
    """
    config = load_arm(arm)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = DeskhandNode(f"command_{os.getpid()}", namespace=namespace)
    robot = RosRobot(node, config)
    if mount is not None:
        robot.place_camera(mount)
    executor = MultiThreadedExecutor(num_threads=3)
    executor.add_node(node)

    def spin() -> None:
        with suppress(ExternalShutdownException):
            executor.spin()

    spinner = threading.Thread(target=spin, daemon=True)
    spinner.start()
    try:
        _take_clock(node)
        yield robot
    finally:
        robot.close()
        executor.shutdown(timeout_sec=1.0)
        spinner.join(1.0)  # a thread inside rclpy while the interpreter ends would abort the process
        node.destroy_node()
        rclpy.try_shutdown()


def _take_clock(node: DeskhandNode) -> None:
    topics = [node.resolve_topic_name(topic) for topic in ("joint_states", COLOR)]
    _until(lambda: any(map(node.count_publishers, topics)), DISCOVERY, "nobody publishes joint states or pictures", "Does `deskhand up` run in this domain?")
    with suppress(DeskhandError):  # a robot on the system's time has no /clock
        _until(lambda: bool(node.count_publishers("/clock")), CLOCK_DISCOVERY, "there is no /clock", "")
        node.set_parameters([Parameter("use_sim_time", value=True)])
    if node.get_parameter("use_sim_time").value:
        _until(lambda: node.get_clock().now().nanoseconds > 0, DISCOVERY, "/clock is silent", "Is the simulation or the replay paused?")


def _until(ready: Callable[[], bool], seconds: float, otherwise: str, hint: str) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise DeskhandError("node_unavailable", f"{otherwise}: waited for {seconds:g} s.", hint=hint)
        time.sleep(0.01)
