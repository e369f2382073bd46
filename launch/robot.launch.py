"""A real robot: ros2 launch deskhand robot.launch.py arm:=wx250s driver:=hardware camera:=realsense camera_mount:=fixed"""

from deskhand.bringup import CAMERA_DRIVERS, DRIVERS, robot_nodes
from deskhand.nodes.launching import STACK_ARGUMENTS, launch_description, node_action, stack_options

ARGUMENTS = {
    **STACK_ARGUMENTS,
    "driver": ("external", f"who serves arm_controller and gripper_controller: {', '.join(DRIVERS)}; external runs already"),
    "camera": ("external", f"camera to start: {', '.join(CAMERA_DRIVERS)}, or external for one that publishes already"),
    "camera_mount": ("", "where the camera is, a name in config/cameras or a YAML file; empty: its transform comes by /tf"),
    "memory": ("", "file that the robot remembers in; empty: ~/.ros/deskhand/memory.sqlite"),
    "episodes": ("", "folder for recordings; empty: ./episodes"),
}


def make(values):
    chosen = ("driver", "camera", "camera_mount", "episodes", "memory")
    options = stack_options(values, **{name: values[name] for name in chosen})
    return [node_action(spec) for spec in robot_nodes(options)]


def generate_launch_description():
    return launch_description(ARGUMENTS, make)
