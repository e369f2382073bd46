"""What the nodes of simulated robots publish alike: the clock, joint states, transforms, the description; pictures as a RealSense has them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from deskhand.geometry import Array
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode
from deskhand.types import CameraIntrinsics, Frame
from deskhand.types import JointState as Joints

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
PICTURES = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)


@dataclass(frozen=True)
class Described:
    """A robot to be published: ``joints`` by name, as deskhand.arms.model has them, its ``urdf``, and ``frame_id`` of its camera, ``pose`` in ``parent``."""

    joints: Mapping[str, Any]
    urdf: str
    parent: str
    frame_id: str
    pose: Array


class StatePublishers:
    """``/clock``, and of ``robot`` ``joint_states`` (where ``states``), ``/tf``, ``/tf_static`` and ``robot_description`` (where ``transforms``).

    ``period``: [s] of simulated time between joint states; ``most``: [Hz] of wall time, at most. ``shown``: whether more than the clock is published.
    """

    def __init__(self, node: DeskhandNode, robot: Described, period: float, most: float, states: bool = True, transforms: bool = True) -> None:
        self.shown = False
        self._joints, self._period, self._pause = robot.joints, period, 1.0 / most
        self._last_state, self._last_wall = -1.0, 0.0
        self._clock = node.create_publisher(Clock, "/clock", QoSProfile(depth=1))
        self._states = node.create_publisher(JointState, "joint_states", QoSProfile(depth=5)) if states else None
        self._tf = node.create_publisher(TFMessage, "/tf", QoSProfile(depth=20)) if transforms else None
        if not transforms:
            return
        self._tf_static = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        fixed = [conversions.transform_to_msg(joint.parent, joint.child, joint.origin, 0.0) for joint in robot.joints.values() if joint.kind == "fixed"]
        mount = conversions.transform_to_msg(robot.parent, robot.frame_id, robot.pose, 0.0)
        self._tf_static.publish(TFMessage(transforms=[*fixed, mount]))
        self._description = node.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=robot.urdf))

    def due(self, now: float) -> bool:
        """Whether it is time for :meth:`publish`, ``now`` [s] being simulated time."""
        return now >= self._last_state + self._period - 1e-6 and time.monotonic() >= self._last_wall + self._pause

    def publish(self, now: float, state: Joints) -> None:
        """The clock, and what the joints are at."""
        self._last_state, self._last_wall = now, time.monotonic()
        self._clock.publish(Clock(clock=conversions.time_to_msg(now)))
        if not self.shown:
            return
        if self._states is not None:
            self._states.publish(conversions.joint_state_to_msg(state))
        if self._tf is not None and self._tf.get_subscription_count():
            positions = dict(zip(state.names, state.positions, strict=True))
            moving = [joint for joint in self._joints.values() if joint.kind != "fixed"]
            self._tf.publish(TFMessage(transforms=[conversions.transform_to_msg(j.parent, j.child, j.motion(positions[j.name]), now) for j in moving]))


class PicturePublishers:
    """The camera's topics."""

    def __init__(self, node: DeskhandNode) -> None:
        self._color = node.create_publisher(Image, "camera/color/image_raw", PICTURES)
        self._depth = node.create_publisher(Image, "camera/aligned_depth_to_color/image_raw", PICTURES)
        self._info = node.create_publisher(CameraInfo, "camera/color/camera_info", PICTURES)

    def listened(self) -> int:
        """To how many of the two kinds of picture somebody listens."""
        return int(self._color.get_subscription_count() > 0) + int(self._depth.get_subscription_count() > 0)

    def wanted(self) -> bool:
        """Whether somebody listens."""
        return self.listened() > 0

    def publish_info(self, intrinsics: CameraIntrinsics, stamp: float) -> None:
        """The intrinsics alone."""
        self._info.publish(conversions.camera_info_to_msg(intrinsics, stamp))

    def publish(self, frame: Frame) -> None:
        """A picture: depth in 16 bit millimetres, 0 for nothing, as RealSense does."""
        depth = np.nan_to_num(np.round(frame.depth * 1000)).astype(np.uint16)
        frame_id = frame.intrinsics.frame_id
        self.publish_info(frame.intrinsics, frame.stamp)
        self._color.publish(conversions.image_to_msg(frame.color, frame.stamp, frame_id))
        self._depth.publish(conversions.image_to_msg(depth, frame.stamp, frame_id))
