"""A real robot: ros2 launch deskhand robot.launch.py arm:=wx250s driver:=ros2_control camera:=realsense camera_mount:=fixed"""

from pathlib import Path

from deskhand.bringup import CAMERA_DRIVERS, DRIVERS, StackOptions, robot_nodes
from deskhand.nodes.launching import STACK_ARGUMENTS, launch_description, node_action

ARGUMENTS = {
    **STACK_ARGUMENTS,
    "driver": ("external", f"who serves arm_controller and gripper_controller: {', '.join(DRIVERS)}; external runs already"),
    "port": ("", "serial port of the arm for our own drivers; empty: as in the arm's file"),
    "camera": ("external", f"camera to start: {', '.join(CAMERA_DRIVERS)}, or external for one that publishes already"),
    "camera_mount": ("", "where the camera is, a name in config/cameras or a YAML file; empty: its transform comes by /tf"),
    "memory": ("", "file that the robot remembers in; empty: ~/.ros/deskhand/memory.sqlite"),
    "episodes": ("", "folder for recordings; empty: ./episodes"),
}


def make(values):
    options = StackOptions(
        arm=values["arm"],
        planner=values["planner"],
        brain=values["brain"],
        namespace=values["namespace"],
        parameter_files=(Path(values["parameters"]),) if values["parameters"] else (),
        driver=values["driver"],
        port=values["port"],
        camera=values["camera"],
        camera_mount=values["camera_mount"],
        episodes=values["episodes"],
        memory=values["memory"],
    )
    return [node_action(spec) for spec in robot_nodes(options)]


def generate_launch_description():
    return launch_description(ARGUMENTS, make)
