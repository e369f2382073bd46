"""Node ``view``: the operator page (view/). It hears what the others say; what the operator does goes to them by the services that anybody may call."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import dataclass
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from geometry_msgs.msg import PoseArray
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Bool, String
from trajectory_msgs.msg import JointTrajectory

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import error_from_number
from deskhand.nodes import conversions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.measured_joints import MeasuredJoints
from deskhand.nodes.node import DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters, setting
from deskhand.nodes.view_operator import RosOperator
from deskhand.recording.frames import COLOR
from deskhand.types import Trajectory
from deskhand.view.live import LiveSource
from deskhand.view.moment import Hand
from deskhand.view.page import LOOPBACK, PORT, Page
from deskhand_interfaces.action import RunTask
from deskhand_interfaces.msg import SafetyStatus, SceneObjects

CAMERA_PERIOD = 1.0  # [s] wall time between two pictures of the camera; only while a browser is there
FIRST_PICTURE = 2.0  # [s] that one is waited for
RUNNING = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
RELIABLE = QoSProfile(depth=200, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
SENSOR = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)


@dataclass
class Parameters:
    """Of the page.

    Attributes:
        arm: name or file.
        host: address that the page is served on; it has no password.
        port: the next free one where it is taken.
        camera_period: [s] wall time between two pictures as the camera sees them; 0 for none.
    """

    arm: str = "wx250s"
    host: str = LOOPBACK
    port: int = setting(PORT, low=1, high=65535)
    camera_period: float = CAMERA_PERIOD


class ViewNode(DeskhandNode):
    """See the module."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("view", **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        arm = load_arm(self.parameters.arm)
        self._opening = arm.gripper.width_max
        self.source = LiveSource()
        self._known_goals: set[bytes] = set()
        self._result = self.create_client(RunTask.Impl.GetResultService, "run_task/_action/get_result")
        self.page = Page(self.source, RobotModel.load(arm), RosOperator(self, self.source), self.parameters.host, self.parameters.port)
        self.page.open()
        self._subscribe()
        self._closing = threading.Event()
        if self.parameters.camera_period > 0:
            threading.Thread(target=self._watch_camera, name="camera", daemon=True).start()
        self.get_logger().info(f"operator page: {self.page.url}")

    def close(self) -> None:
        """See DeskhandNode."""
        self._closing.set()
        self.page.close()

    def health(self) -> Health:
        """See base."""
        return Health(values={"page": self.page.url, "somebody looks": self.page.watched})

    def _subscribe(self) -> None:
        source, measured = self.source, MeasuredJoints(load_arm(self.parameters.arm), lambda _: None)
        self.create_subscription(JointState, "joint_states", lambda message: source.on_joints(measured.read(message)), SENSOR)
        self.create_subscription(SceneObjects, "perception/scene", lambda message: source.on_scene(conversions.scene_from_msg(message)), LATCHED)
        self.create_subscription(Image, "perception/annotated", lambda message: source.on_picture(conversions.image_from_msg(message)), LATCHED)
        self.create_subscription(PoseArray, "grasping/grasps", self._on_grasps, QoSProfile(depth=5))
        self.create_subscription(JointTrajectory, "motion/planned", self._on_plan, LATCHED)
        self.create_subscription(Bool, "motion/paused", lambda message: source.on_paused(bool(message.data)), LATCHED)
        self.create_subscription(
            SafetyStatus, "safety/status", lambda message: source.on_safety(conversions.safety_status_from_msg(message)), QoSProfile(depth=1)
        )
        self.create_subscription(String, "tools/events", self._on_event, RELIABLE)
        self.create_subscription(RunTask.Impl.FeedbackMessage, "run_task/_action/feedback", self._on_feedback, RELIABLE)
        self.create_subscription(GoalStatusArray, "run_task/_action/status", self._on_goals, LATCHED)

    # ------------------------------------------------------------ what is heard

    def _on_grasps(self, message: PoseArray) -> None:
        self.source.on_hands(tuple(Hand(conversions.pose_from_msg(pose), self._opening) for pose in message.poses))

    def _on_plan(self, message: JointTrajectory) -> None:
        plan: Trajectory | None = conversions.trajectory_from_msg(message) if message.points else None
        self.source.on_plan(plan)

    def _on_event(self, message: String) -> None:
        try:
            event = json.loads(message.data)
        except ValueError:
            self.get_logger().error(f"an event of the tool server is not JSON: {message.data[:200]!r}")
            return
        self.source.on_event(event)

    def _on_feedback(self, message: Any) -> None:
        said = message.feedback
        self.source.on_feedback(int(said.step), said.tool, said.text, said.question, tuple(said.options))

    def _on_goals(self, message: GoalStatusArray) -> None:
        """A task that has begun, whoever gave it: its end is asked for, which is answered when it comes."""
        for goal in message.status_list:
            key = bytes(goal.goal_info.goal_id.uuid)
            if goal.status in RUNNING and key not in self._known_goals:
                self._known_goals.add(key)
                self.source.on_task("")
                request = RunTask.Impl.GetResultService.Request(goal_id=goal.goal_info.goal_id)
                self._result.call_async(request).add_done_callback(partial(self._on_result, key))

    def _on_result(self, key: bytes, future: Any) -> None:
        answer = future.result()
        if answer is None:
            return
        result = answer.result
        code = error_from_number(result.error_code, result.error_message).code if result.error_code else ""
        if code != "busy":  # a second task was refused; the first one still runs
            self.source.on_outcome(bool(result.success), code, result.summary or result.error_message)

    # ------------------------------------------------------------ the camera

    def _watch_camera(self) -> None:
        """One picture a period while somebody looks; a camera's full stream would cost more than the rest of the page."""
        while not self._closing.wait(self.parameters.camera_period):
            if not self.page.watched:
                continue
            came = threading.Event()
            subscription = self.create_subscription(Image, COLOR, partial(self._on_camera, came), SENSOR)
            came.wait(FIRST_PICTURE)
            if not self._closing.is_set():
                self.destroy_subscription(subscription)

    def _on_camera(self, came: threading.Event, message: Image) -> None:
        if not came.is_set():
            self.source.on_camera(conversions.image_from_msg(message))
            came.set()


def main() -> int:
    """Entry point."""
    return run_node(ViewNode, threads=3)


if __name__ == "__main__":
    sys.exit(main())
