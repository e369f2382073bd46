"""The ROS boundary: the only package that imports rclpy and messages. One file a node."""

from deskhand.bringup.environment import apply_workstation_defaults

apply_workstation_defaults()  # rclpy and Fast DDS read these when a context begins
