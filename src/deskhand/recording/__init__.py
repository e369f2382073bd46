"""Recordings of robot sessions as MCAP files that ``ros2 bag`` and Foxglove read; no ROS is needed to write or read them."""
