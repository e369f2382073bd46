"""What skills and tools are written against (base.py), and its variant in one process (local.py); the one over ROS is nodes/ros_robot.py.

feed.py reads what the robot senses once for all who watch.
"""

from deskhand.skills.robot.base import Connected, MobileBase, OnBase, Robot
from deskhand.skills.robot.feed import SensorFeed, SensorReading

__all__ = ["Connected", "MobileBase", "OnBase", "Robot", "SensorFeed", "SensorReading"]
