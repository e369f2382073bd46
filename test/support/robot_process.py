"""A node of a simulated robot as a process of its own, and a client of its interfaces in this one; for tests of sim_node and foreign_node."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from deskhand import types
from deskhand.nodes import conversions


class RobotProcess:
    """``python -m module arguments``, which inherits the socket ``given`` (closed here); ``newest``: the last message of each topic subscribed to."""

    def __init__(self, module: str, arguments: Sequence[str], given: socket.socket, domain: int) -> None:
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_LOCALHOST_ONLY": "1"}
        self.process = subprocess.Popen([sys.executable, "-m", module, *arguments], env=environment, pass_fds=[given.fileno()])
        given.close()
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("probe", context=self.context)
        self.newest: dict[str, Any] = {}
        self.subscribe(JointState, "joint_states")
        self.follow = ActionClient(self.node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory")
        self.grip = ActionClient(self.node, GripperCommand, "gripper_controller/gripper_cmd")
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()

    def subscribe(self, kind: Any, topic: str, qos: Any = 5) -> Any:
        return self.node.create_subscription(kind, topic, lambda message: self.newest.__setitem__(topic, message), qos)

    def until(self, condition: Callable[[], Any], what: str, limit: float = 40.0) -> Any:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if found := condition():
                return found
            assert self.process.poll() is None, "the node has died"
            time.sleep(0.01)
        raise AssertionError(f"no {what} within {limit} s")

    def state(self) -> types.JointState:
        """What the joints are at from now on."""
        self.newest.pop("joint_states", None)
        return conversions.joint_state_from_msg(self.until(lambda: self.newest.get("joint_states"), "joint state"))

    def close(self) -> None:
        """End the node as Ctrl-C does; it ends well."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
        self.thread.join(2)
        assert code == 0
