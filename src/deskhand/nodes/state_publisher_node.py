"""Stands in for robot_state_publisher where that is not installed (ROS 2 from wheels): the same topics, QoS and parameters.

``robot_description`` (std_msgs/String, latched), ``/tf_static`` (latched) of the fixed joints, ``/tf`` of the others at ``joint_states``' own times.
Not here: changing the description while it runs, ``frame_prefix``. ``ignore_timestamp`` is not needed: a time that goes back is a new run.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from deskhand.arms.frames import LinkTransforms
from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.node import DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
STATES = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""As a sensor's: reaches publishers of either reliability."""

SILENT = 2.0  # [s] of ROS time without joint states that is worth a warning


@dataclass(frozen=True)
class StatePublisherParameters:
    """Parameters of the node.

    Attributes:
        robot_description: the expanded URDF, as text.
        publish_frequency: transforms at most so often [Hz], in the joint states' own time.
    """

    robot_description: str = ""
    publish_frequency: float = 20.0


class StatePublisherNode(DeskhandNode):
    """Node ``robot_state_publisher``."""

    def __init__(self, **kwargs: Any) -> None:
        """Publish the description and the fixed joints.

        Raises:
            DeskhandError: ``config_error`` for a description that is no URDF, or a frequency that is not positive.
        """
        super().__init__("robot_state_publisher", **kwargs)
        self.parameters = declare_parameters(self, StatePublisherParameters)
        if not self.parameters.publish_frequency > 0:
            raise DeskhandError("config_error", f"publish_frequency must be positive [Hz], got {self.parameters.publish_frequency:g}.")
        self._period = 1.0 / self.parameters.publish_frequency
        self._transforms = LinkTransforms(self.parameters.robot_description)
        self._published: dict[str, float] = {}
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._tf = self.create_publisher(TFMessage, "/tf", QoSProfile(depth=100))
        self._tf_static = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._description.publish(String(data=self.parameters.robot_description))
        self._tf_static.publish(TFMessage(transforms=[conversions.transform_to_msg(t.parent, t.child, t.pose, 0.0) for t in self._transforms.fixed()]))
        self.create_subscription(JointState, "joint_states", self._on_joints, STATES)

    def health(self) -> Health:
        """See base."""
        newest = max(self._published.values(), default=None)
        age = self.seconds() - newest if newest is not None else None
        silent = "no joint state has come" if age is None else f"the last joint state is {age:.1f} s old" if age > SILENT else ""
        return Health("warning" if silent else "ok", silent, {"joints": len(self._published)})

    def _on_joints(self, message: JointState) -> None:
        if len(message.position) != len(message.name):
            text = f"joint state ignored: {len(message.name)} names but {len(message.position)} positions"
            self.get_logger().warning(text, throttle_duration_sec=10.0)
            return
        stamp = conversions.time_from_msg(message.header.stamp)
        # what comes for some joints alone (a gripper's own driver) does not hold up the others
        due = [name for name in message.name if not 0 <= stamp - self._published.get(name, -1.0) < self._period]
        if not due:
            return
        self._published.update(dict.fromkeys(due, stamp))
        known = {name: position for name, position in zip(message.name, message.position, strict=True) if math.isfinite(position)}
        transforms = self._transforms.moving(known)
        if transforms:
            self._tf.publish(TFMessage(transforms=[conversions.transform_to_msg(t.parent, t.child, t.pose, stamp) for t in transforms]))


def main() -> int:
    """Run the node."""
    return run_node(StatePublisherNode, threads=2)


if __name__ == "__main__":
    sys.exit(main())
