"""rclpy's ActionClient for many calls at once.

Two faults can make a call wait for ever there (rclpy 7.1): requests and answers queue up to ten and the rest is dropped, see :data:`MANY`; and a request
is sent first and noted second, so that an answer that another thread reads in between is thrown away ("Ignoring unexpected goal response"). Here an
answer is looked at only when no request is between the two steps.
"""

from __future__ import annotations

import threading
from typing import Any

import rclpy.action
from rclpy.qos import QoSProfile, ReliabilityPolicy

MANY: dict[str, QoSProfile] = {
    f"{name}_qos_profile": QoSProfile(depth=200, reliability=ReliabilityPolicy.RELIABLE)
    for name in ("goal_service", "result_service", "cancel_service", "feedback_pub")
}
"""Qualities of an ActionServer that many call at once; a client takes the same."""


class ActionClient(rclpy.action.ActionClient):
    """As rclpy.action.ActionClient; safe to use from several threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._sending = threading.Lock()
        quality = {name.replace("_pub_", "_sub_"): profile for name, profile in MANY.items()}
        super().__init__(*args, **{**quality, **kwargs})

    def send_goal_async(self, *args: Any, **kwargs: Any) -> Any:
        """See rclpy."""
        with self._sending:
            return super().send_goal_async(*args, **kwargs)

    def _get_result_async(self, goal_handle: Any) -> Any:
        with self._sending:
            return super()._get_result_async(goal_handle)

    def _cancel_goal_async(self, goal_handle: Any) -> Any:
        with self._sending:
            return super()._cancel_goal_async(goal_handle)

    async def execute(self, taken_data: Any) -> None:
        """See rclpy."""
        with self._sending:
            pass  # whatever was sent before this answer came is noted now
        if "feedback" in taken_data:  # before the result, after which nobody hears it
            await super().execute({"feedback": taken_data.pop("feedback")})
        await super().execute(taken_data)
