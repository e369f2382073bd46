"""The simulated robot, the safety node and the motion node as processes, and a client of them in this one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import rclpy
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState as JointStateMsg

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_robot import RosRobot
from deskhand.nodes.spinner import Spinner
from deskhand.types import MotionGoal

ARM = load_arm("wx250s")
MODEL = RobotModel.load(ARM)


class Graph:
    """The three processes, a client node in this one, and every joint state that was seen."""

    def __init__(self, domain: int) -> None:
        self.environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_LOCALHOST_ONLY": "1"}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.seen: list[tuple[float, np.ndarray]] = []
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = DeskhandNode("probe", context=self.context, parameter_overrides=[Parameter("use_sim_time", value=True)])
        self.robot = RosRobot(self.node, ARM)
        self.node.create_subscription(JointStateMsg, "joint_states", self._on_joints, 10, callback_group=self.node.reentrant)
        self.spinner = Spinner(self.node, 4)
        self.spinner.start()

    def start(self, name: str) -> None:
        arguments = ["--task", "desk_cleaning", "--seed", "3"] if name == "sim" else []
        parameters = ["-p", "realtime_factor:=0.5"] if name == "sim" else ["-p", "use_sim_time:=true"]
        command = [sys.executable, "-m", f"deskhand.nodes.{name}_node", *arguments, "--ros-args", *parameters]
        self.processes[name] = subprocess.Popen(command, env=self.environment)

    def _on_joints(self, message: JointStateMsg) -> None:
        state = conversions.joint_state_from_msg(message)
        self.seen.append((state.stamp, state.of(ARM.joints)))

    def wait(self, ready: Callable[[], bool], limit: float = 40.0) -> None:
        end = time.monotonic() + limit
        while True:
            try:
                if ready():
                    return
            except DeskhandError as error:
                assert time.monotonic() < end, f"not ready: {error}"
            assert time.monotonic() < end, "not ready"
            assert all(process.poll() is None for process in self.processes.values()), "a node has ended"
            time.sleep(0.05)

    def moving(self) -> bool:
        return len(self.seen) > 3 and np.abs(self.seen[-1][1] - self.seen[-3][1]).max() > 3e-3

    def last_motion(self) -> float:
        """Stamp after which no joint has moved by more than a milliradian."""
        final = self.seen[-1][1]
        return max((stamp for stamp, joints in self.seen if np.abs(joints - final).max() > 2e-3), default=0.0)

    def settle(self) -> None:
        self.wait(lambda: len(self.seen) > 30 and np.abs(self.seen[-1][1] - self.seen[-30][1]).max() < 1e-3)

    def close(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        self.robot.close()
        self.spinner.end()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


def goal(waist: float) -> MotionGoal:
    return MotionGoal(joints={**MODEL.arm_joints(ARM.named_poses["home"]), "waist": waist})


@contextmanager
def running_graph(domain: int) -> Iterator[Graph]:
    """A graph whose three nodes answer and whose robot may move."""
    graph = Graph(domain)
    try:
        for name in ("sim", "safety", "motion"):
            graph.start(name)
        graph.wait(lambda: graph.robot.check_state().valid and not graph.robot.safety_status().stopped)
        yield graph
    finally:
        graph.close()
