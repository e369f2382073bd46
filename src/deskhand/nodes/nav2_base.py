"""A mobile base behind Nav2: the action ``navigate_to_pose`` of the navigator in the robot's namespace."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.nodes import conversions
from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.node import DeskhandNode
from deskhand.types import Cancelled, NavigationReport, Progress

try:
    from nav2_msgs.action import NavigateToPose
except ImportError:
    NavigateToPose = None

MAP = "map"
LONGEST = 590.0  # [s] wall time of a drive
ARRIVED, CANCELED = 4, 5  # action_msgs/GoalStatus

Act = Callable[..., Any]
"""RosRobot's way to send a goal and to wait for what becomes of it."""


class Nav2Base:
    """See :class:`deskhand.skills.robot.MobileBase`."""

    def __init__(self, node: DeskhandNode, act: Act) -> None:
        self._act = act
        self._client = ActionClient(node, NavigateToPose, "navigate_to_pose", callback_group=node.reentrant) if NavigateToPose is not None else None

    def ready(self) -> bool:
        """See MobileBase."""
        return self._client is not None and bool(self._client.server_is_ready())

    def navigate(self, x: float, y: float, yaw: float, progress: Progress | None = None, cancelled: Cancelled | None = None) -> NavigationReport:
        """See MobileBase."""
        if self._client is None:
            raise DeskhandError("missing_dependency", "driving needs nav2_msgs, which is not on this path.", hint="apt install ros-$ROS_DISTRO-nav2-msgs")
        begun, told = time.monotonic(), {"x": math.nan, "y": math.nan, "yaw": math.nan, "left": math.nan, "first": math.nan}

        def feedback(message: Any) -> None:
            news = message.feedback
            pose = conversions.pose_from_msg(news.current_pose.pose)
            told.update(x=float(pose[0, 3]), y=float(pose[1, 3]), yaw=math.atan2(pose[1, 0], pose[0, 0]), left=float(news.distance_remaining))
            if math.isnan(told["first"]):
                told["first"] = max(told["left"], 1e-3)
            if progress is not None:
                progress(min(max(1.0 - told["left"] / told["first"], 0.0), 0.99), f"{told['left']:.2f} m left, {news.number_of_recoveries} recoveries")

        goal = NavigateToPose.Goal()
        place = make_transform(rotation_rpy(0.0, 0.0, yaw), (x, y, 0.0))
        goal.pose = conversions.pose_stamped_to_msg(place, frame_id=MAP)
        answer = self._act(self._client, "", goal, LONGEST, cancelled, feedback)
        code, message = _outcome(answer)
        return NavigationReport(code, message, told["x"], told["y"], told["yaw"], told["left"], time.monotonic() - begun)


def _outcome(answer: Any) -> tuple[str, str]:
    """Code and text of how a drive ended."""
    if answer.status == ARRIVED:
        return "", "arrived"
    if answer.status == CANCELED:
        return "cancelled", "the drive was cancelled; the base stands"
    number = getattr(answer.result, "error_code", None)  # Humble's result is empty
    text = getattr(answer.result, "error_msg", "") or "the navigator gave up"
    return "controller_failed", f"{text}." if number is None else f"{text} (Nav2 error {number})."
