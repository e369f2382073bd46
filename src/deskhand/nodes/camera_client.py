"""Pictures on demand from the camera's topics: subscribed only while one is waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode
from deskhand.recording.frames import COLOR, DEPTH, INFO, TOGETHER
from deskhand.types import Frame

PATIENCE = 0.4  # [s] of wall time that a burst waits for more pictures than one


class CameraClient:
    """Captures aligned frames through ``node``, which other threads spin.

    Args:
        node: whose subscriptions are used.
        extrinsics: world_T_camera (4, 4) of an optical frame by its id; raises ``no_frame`` when it is unknown.
        timeout: wall time [s] to wait for a picture.
    """

    def __init__(self, node: DeskhandNode, extrinsics: Callable[[str], Array], timeout: float = 5.0) -> None:
        self._node, self._extrinsics, self._timeout = node, extrinsics, timeout
        self._busy, self._one = threading.Lock(), threading.Lock()
        self._news = threading.Condition()
        self._latest: dict[str, Any] = {}
        self._captured: Frame | None = None

    def capture(self, newer_than: float) -> Frame:
        """The last frame that was captured when it was exposed after ``newer_than`` [s], else the first one that is.

        Raises:
            DeskhandError: ``no_frame`` when none came in time, naming the topics that are silent.
        """
        with self._one:
            have = self._captured
            if have is None or not newer_than < have.stamp <= self._node.seconds():  # a clock that was set back makes it of no use
                have = self._captured = self.burst(newer_than, 1)[0]
            return have

    def burst(self, newer_than: float, count: int) -> list[Frame]:
        """As :meth:`capture`, and those after it: ``count`` at most, fewer when a slow camera gives no more in a while.

        Raises:
            DeskhandError: ``no_frame`` when none came in time, naming the topics that are silent.
        """
        quality = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)
        with self._busy:
            self._latest = {}
            subscriptions = [
                self._node.create_subscription(kind, topic, partial(self._on, topic), quality, callback_group=self._node.reentrant)
                for topic, kind in ((COLOR, Image), (DEPTH, Image), (INFO, CameraInfo))
            ]
            try:
                pictures = [self._await(newer_than, self._timeout)]
                end = time.monotonic() + PATIENCE
                while len(pictures) < count:
                    try:
                        pictures.append(self._await(conversions.time_from_msg(pictures[-1][0].header.stamp), end - time.monotonic()))
                    except DeskhandError:
                        break
            finally:
                for subscription in subscriptions:
                    self._node.destroy_subscription(subscription)
        return [conversions.frame_from_msg(color, depth, info, self._extrinsics(info.header.frame_id)) for color, depth, info in pictures]

    def _on(self, topic: str, message: Any) -> None:
        with self._news:
            self._latest[topic] = message
            self._news.notify_all()

    def _await(self, newer_than: float, timeout: float) -> tuple[Image, Image, CameraInfo]:
        def complete() -> bool:
            if not {COLOR, DEPTH, INFO} <= self._latest.keys():
                return False
            color, depth = (conversions.time_from_msg(self._latest[topic].header.stamp) for topic in (COLOR, DEPTH))
            return color > newer_than and abs(color - depth) <= TOGETHER

        with self._news:
            if not self._news.wait_for(complete, timeout):
                silent = [topic for topic in (COLOR, DEPTH, INFO) if topic not in self._latest]
                why = f"nothing came on {', '.join(silent)}" if silent else "colour and depth did not come together, or only old ones"
                raise DeskhandError("no_frame", f"no picture within {timeout:g} s: {why}.", retry=True, hint="Is the camera running?")
            return self._latest[COLOR], self._latest[DEPTH], self._latest[INFO]
