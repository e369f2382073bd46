"""An arm behind a FollowJointTrajectory controller and ``joint_states``: deskhand.arms.base.Arm over ROS."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action.client import ClientGoalHandle
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState as JointStateMsg

from deskhand.arms.config import ArmConfig
from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.measured_joints import MeasuredJoints
from deskhand.nodes.node import DeskhandNode, wait_future
from deskhand.types import JointState, Trajectory

CONTROLLER = "arm_controller/follow_joint_trajectory"
SILENT = 1.0  # [s] wall time without joint states
FIRST_STATE = 3.0  # [s] wall time that the first may take once somebody asks: nodes find each other in any order
ACCEPT = 5.0  # [s] wall time that a controller may take to accept a goal


class RosMotion:
    """A goal at the controller; ``told`` holds its newest feedback."""

    def __init__(self, handle: ClientGoalHandle, told: list[FollowJointTrajectory.Feedback]) -> None:
        self._handle, self._told = handle, told
        self._ended = threading.Event()
        self._error = ""
        handle.get_result_async().add_done_callback(self._on_result)

    def done(self) -> bool:
        """See base."""
        return self._ended.is_set()

    def error(self) -> str:
        """See base."""
        return self._error

    def behind(self) -> float:
        """See base; 0 for controllers that do not tell (arm_actions.py does)."""
        if not self._told:
            return 0.0
        told = self._told[0]
        return max(0.0, conversions.time_from_msg(told.actual.time_from_start) - conversions.time_from_msg(told.desired.time_from_start))

    def cancel(self) -> None:
        """See base."""
        if not self._ended.is_set():
            self._handle.cancel_goal_async()

    def _on_result(self, future: Any) -> None:
        answer = future.result()
        if answer is None:
            self._error = "the controller gave no result"
        elif answer.status == GoalStatus.STATUS_CANCELED:
            self._error = "the goal was cancelled"
        elif answer.result.error_code != FollowJointTrajectory.Result.SUCCESSFUL or answer.status != GoalStatus.STATUS_SUCCEEDED:
            self._error = answer.result.error_string or f"error {answer.result.error_code}"
        self._ended.set()


class RosArm:
    """Constructed in a node's constructor; used from threads that are not the node's only ones."""

    def __init__(self, node: DeskhandNode, arm: ArmConfig) -> None:
        self._node, self._arm = node, arm
        self._client = ActionClient(node, FollowJointTrajectory, CONTROLLER, callback_group=node.reentrant)
        self._measured = MeasuredJoints(arm, lambda text: node.get_logger().warning(text, throttle_duration_sec=10.0))
        self._lock = threading.Lock()
        self._values: dict[str, tuple[float, float, float]] = {}
        self._stamp, self._heard = 0.0, float("-inf")
        self._met, self._asked = threading.Event(), float("inf")
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_subscription(JointStateMsg, "joint_states", self._on_joints, newest, callback_group=node.reentrant)

    def joint_state(self) -> JointState:
        """See base. Arm and gripper may report in messages of their own; the stamp is that of the arm's newest.

        Raises:
            DeskhandError: ``stale_data`` when none have come for a second of wall time, or none within three after the first question.
        """
        if not self._met.is_set():
            self._asked = min(self._asked, time.monotonic())
            self._met.wait(max(0.0, self._asked + FIRST_STATE - time.monotonic()))
        with self._lock:
            age = time.monotonic() - self._heard
            if age > SILENT:
                since = "yet" if age == float("inf") else f"for {age:.1f} s"
                raise DeskhandError(
                    "stale_data", f"no joint_states of {self._arm.name} have come {since}.", hint="Is the arm's driver or the simulation running?"
                )
            names = tuple(self._values)
            positions, velocities, efforts = np.array(list(self._values.values())).T
            return JointState(names, positions, velocities, efforts, self._stamp)

    def follow(self, trajectory: Trajectory) -> RosMotion:
        """See base; returns when the controller has accepted.

        Raises:
            DeskhandError: ``controller_failed`` when it is not there, does not answer or refuses.
        """
        if not self._client.wait_for_server(timeout_sec=ACCEPT):
            raise DeskhandError("controller_failed", f"nobody serves {CONTROLLER}.", hint="Is the arm's driver or the simulation running?")
        goal = FollowJointTrajectory.Goal(trajectory=conversions.trajectory_to_msg(trajectory))
        told: list[FollowJointTrajectory.Feedback] = []
        future = self._client.send_goal_async(goal, feedback_callback=lambda message: told.__setitem__(slice(None), [message.feedback]))
        try:
            handle = wait_future(future, ACCEPT, CONTROLLER)
        except DeskhandError as error:
            future.add_done_callback(_cancel_late)
            raise DeskhandError("controller_failed", error.message) from error
        if handle is None or not handle.accepted:
            raise DeskhandError("controller_failed", f"{CONTROLLER} refused the trajectory.")
        return RosMotion(handle, told)

    def _on_joints(self, message: JointStateMsg) -> None:
        try:
            state = self._measured.read(message)
        except DeskhandError as error:
            self._node.get_logger().warning(f"joint_states: {error}", throttle_duration_sec=5.0)
            return
        efforts = state.efforts if len(state.efforts) == len(state.names) else np.full(len(state.names), np.nan)
        with self._lock:
            self._values.update(zip(state.names, zip(state.positions, state.velocities, efforts, strict=True), strict=True))
            if self._arm.joints[0] in state.names:
                self._stamp, self._heard = state.stamp, time.monotonic()
                self._met.set()


def _cancel_late(future: Any) -> None:
    """A goal that is accepted after nobody waits for it any more must not run."""
    handle = future.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()
