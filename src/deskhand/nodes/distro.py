"""What ROS 2 Humble (rclpy 3.3) names otherwise than Jazzy (rclpy 7.1); everything else in ``nodes/`` uses what both have, and asks for neither."""

from __future__ import annotations

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ModuleNotFoundError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

__all__ = ["SubscriptionEventCallbacks"]
