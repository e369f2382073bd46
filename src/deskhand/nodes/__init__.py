"""The ROS boundary: the only package that imports rclpy and messages. One file a node."""
