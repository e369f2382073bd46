"""A real robot: ros2 launch deskhand robot.launch.py arm:=wx250s driver:=dynamixel camera:=realsense camera_mount:=fixed"""

import os

from deskhand.arms.config import list_arms
from deskhand.bringup.arms import INTERBOTIX
from deskhand.bringup.cameras import CAMERAS
from deskhand.bringup.stack import DRIVERS, robot_nodes
from deskhand.nodes.launching import STACK_ARGUMENTS, launch_description, node_action, stack_options

ARGUMENTS = {
    **STACK_ARGUMENTS,
    "arm": (os.environ.get("DESKHAND_ARM"), f"must be given, here or as DESKHAND_ARM: {', '.join(list_arms())}, or a YAML file of your own"),
    "driver": ("external", f"who serves arm_controller and gripper_controller: {', '.join(DRIVERS)}; external runs already. wx250s: {INTERBOTIX}"),
    "port": ("", "serial port of the arm for our own drivers; empty: as in the arm's file"),
    "camera": ("ros", f"one of {', '.join(CAMERAS)}; ros publishes already"),
    "camera_topics": ("", "of camera:=ros where they are not ours: colour, aligned depth, camera_info, with commas"),
    "camera_file": ("", "of camera:=file: a recording (MCAP) or a folder of pictures"),
    "camera_mount": ("", "where the camera is, a name in config/cameras or a YAML file; empty: its transform comes by /tf"),
    "memory": ("", "file that the robot remembers in; empty: ~/.ros/deskhand/memory.sqlite"),
    "episodes": ("", "folder for recordings; empty: ./episodes"),
}


def make(values):
    chosen = ("driver", "port", "camera", "camera_mount", "camera_topics", "camera_file", "episodes", "memory")
    options = stack_options(values, **{name: values[name] for name in chosen})
    return [node_action(spec) for spec in robot_nodes(options)]


def generate_launch_description():
    return launch_description(ARGUMENTS, make)
