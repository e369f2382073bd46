#!/bin/bash
# Runs a command with ROS 2 sourced and deskhand on the path.
set -e
source "/opt/ros/${ROS_DISTRO}/setup.bash"
export PATH="/opt/deskhand/.venv/bin:${PATH}"
exec "$@"
