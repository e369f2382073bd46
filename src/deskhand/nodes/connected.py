"""A RosRobot for a command: a node of its own, spun beside it, for as long as the command works."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from deskhand.arms.config import ArmConfig, list_arms, load_arm
from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_robot import RosRobot
from deskhand.nodes.spinner import Spinner
from deskhand.recording.frames import COLOR

DISCOVERY = 10.0  # [s] of wall time until the robot's nodes are found, and until the first /clock
ARM_DISCOVERY = 1.5  # [s] of wall time until the safety node is found, and until it answers
ARM_TELLER = "safety"
CLOCK_DISCOVERY = 0.5  # [s] more until a /clock is found, which a simulation's node publishes beside its joints

MountOf = Callable[[ArmConfig], CameraMount]


@contextmanager
def connected_robot(arm: str, mount: CameraMount | MountOf | None = None, namespace: str = "") -> Iterator[RosRobot]:
    """The robot whose nodes run (``deskhand up``, ``ros2 launch``).

    It lives on the robot's time: where somebody publishes ``/clock`` (a simulation, a replay), on that.

    Args:
        arm: name or file; empty: the one that the nodes run with.
        mount: where its camera is meant to be, if nobody publishes that; or what tells it for the arm.
        namespace: of the nodes.

    Raises:
        DeskhandError: ``config_error`` for the arm, or when the nodes run with another; ``node_unavailable`` when neither arm nor camera publishes, when
            no arm is given and no node tells it, or ``/clock`` stands still.
    """
    if arm:
        load_arm(arm)
    with _spun_node(namespace) as node:
        _take_clock(node)
        config = load_arm(_same_arm(arm, running_arm(node)))
        robot = RosRobot(node, config)
        try:
            if mount is not None:
                robot.place_camera(mount(config) if callable(mount) else mount)
            yield robot
        finally:
            robot.close()


def arm_of_robot(namespace: str = "") -> str:
    """The arm with which the nodes run that run now.

    Raises:
        DeskhandError: ``node_unavailable`` when none tells it.
    """
    with _spun_node(namespace) as node:
        return _same_arm("", running_arm(node))


@contextmanager
def _spun_node(namespace: str) -> Iterator[DeskhandNode]:
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = DeskhandNode(f"command_{os.getpid()}", namespace=namespace)
    spinner = Spinner(node, threads=3)
    spinner.start()
    try:
        yield node
    finally:
        spinner.end()
        node.destroy_node()
        rclpy.try_shutdown()


def running_arm(node: DeskhandNode) -> str:
    """The arm that the robot's safety node was started with; empty when there is none within :data:`ARM_DISCOVERY`."""
    told = _told_by_nodes(node, "arm")
    return "" if told is None else str(told.string_value)


def _told_by_nodes(node: DeskhandNode, parameter: str) -> Any:
    """A parameter (rcl_interfaces/ParameterValue) of the robot's safety node; None when there is none within :data:`ARM_DISCOVERY`.

    The client lives for this one question; the node must be spun.
    """
    client = node.create_client(GetParameters, f"{ARM_TELLER}/get_parameters", callback_group=node.reentrant)
    try:
        if not client.wait_for_service(timeout_sec=ARM_DISCOVERY):
            return None
        answered = threading.Event()
        future = client.call_async(GetParameters.Request(names=[parameter]))
        future.add_done_callback(lambda _: answered.set())
        answer = future.result() if answered.wait(ARM_DISCOVERY) else None
        return answer.values[0] if answer is not None and answer.values else None
    finally:
        node.destroy_client(client)


def _same_arm(arm: str, running: str) -> str:
    """The one of them, when they do not contradict each other."""
    if not arm and not running:
        hint = f"Give --arm: {', '.join(list_arms())}, or the YAML file of your own."
        raise DeskhandError("node_unavailable", "which arm? No node of the robot tells with which it runs.", hint=hint)
    if arm and running and _source(arm) != _source(running):
        raise DeskhandError("config_error", f"the robot's nodes run with the arm {running}, not {arm}.", hint="Leave --arm out, or start the nodes with it.")
    return running or arm


def _source(arm: str) -> str:
    return str(Path(arm).resolve()) if arm.endswith((".yaml", ".yml")) else arm


def _take_clock(node: DeskhandNode) -> None:
    topics = [node.resolve_topic_name(topic) for topic in ("joint_states", COLOR)]
    _until(lambda: any(map(node.count_publishers, topics)), DISCOVERY, "nobody publishes joint states or pictures", "Does `deskhand up` run in this domain?")
    told = _told_by_nodes(node, "use_sim_time")
    with suppress(DeskhandError):  # a robot on the system's time has no /clock
        wait = DISCOVERY if told is not None and told.bool_value else CLOCK_DISCOVERY
        _until(lambda: bool(node.count_publishers("/clock")), wait, "there is no /clock", "")
        node.set_parameters([Parameter("use_sim_time", value=True)])
    if node.get_parameter("use_sim_time").value:
        _until(lambda: node.get_clock().now().nanoseconds > 0, DISCOVERY, "/clock is silent", "Is the simulation or the replay paused?")


def _until(ready: Callable[[], bool], seconds: float, otherwise: str, hint: str) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise DeskhandError("node_unavailable", f"{otherwise}: waited for {seconds:g} s.", hint=hint)
        time.sleep(0.01)
