"""What skills and tools are written against (base.py), and its variant in one process (local.py); the one over ROS is nodes/ros_robot.py."""

from deskhand.skills.robot.base import Connected, MobileBase, OnBase, Robot

__all__ = ["Connected", "MobileBase", "OnBase", "Robot"]
