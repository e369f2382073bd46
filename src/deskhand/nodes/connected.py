"""A RosRobot for a command: a node of its own, spun beside it, for as long as the command works."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from deskhand.arms.config import load_arm
from deskhand.cameras.config import CameraMount
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_robot import RosRobot


@contextmanager
def connected_robot(arm: str, mount: CameraMount | None = None, namespace: str = "") -> Iterator[RosRobot]:
    """The robot whose nodes run (``deskhand up``, ``ros2 launch``); ``mount`` is where its camera is meant to be, if nobody publishes that.

    Raises:
        DeskhandError: ``config_error`` for the arm.
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
        yield robot
    finally:
        robot.close()
        executor.shutdown(timeout_sec=1.0)
        spinner.join(1.0)  # a thread inside rclpy while the interpreter ends would abort the process
        node.destroy_node()
        rclpy.try_shutdown()
