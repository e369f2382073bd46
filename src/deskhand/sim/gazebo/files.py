"""What Gazebo and its bridge are started from, written into a folder: the world, the arm, which topics become ROS topics."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import yaml

from deskhand.bringup.stack import STATE_PUBLISHER, GazeboWorld, ros_package_installed
from deskhand.errors import DeskhandError
from deskhand.recording.frames import COLOR, DEPTH, INFO
from deskhand.sim.gazebo.robot import CAMERA_TOPIC, robot_urdf
from deskhand.sim.gazebo.sdf import WORLD, world_sdf
from deskhand.sim.spec import WorldSpec

INSTALL = "apt install ros-jazzy-ros-gz ros-jazzy-gz-ros2-control ros-jazzy-ros2-controllers, then source /opt/ros/jazzy/setup.bash (docs/gazebo.md)."
BRIDGED = (
    # ROS topic, Gazebo topic, ROS type, Gazebo type, lazy: not for pictures, whose first one after a pause comes without colour
    ("/clock", "/clock", "rosgraph_msgs/msg/Clock", "gz.msgs.Clock", False),
    (COLOR, f"/{CAMERA_TOPIC}/image", "sensor_msgs/msg/Image", "gz.msgs.Image", False),
    (DEPTH, f"/{CAMERA_TOPIC}/depth_image", "sensor_msgs/msg/Image", "gz.msgs.Image", False),
    (INFO, f"/{CAMERA_TOPIC}/camera_info", "sensor_msgs/msg/CameraInfo", "gz.msgs.CameraInfo", False),
)
"""No pose of any object is among them: the robot sees pictures and joint states."""


def write_gazebo(world: WorldSpec, folder: Path, namespace: str = "") -> GazeboWorld:
    """Write the files of ``world`` into ``folder``, which is made.

    Raises:
        DeskhandError: ``config_error`` for the arm, ``invalid_input`` when the world cannot be built.
    """
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    arm, sdf = folder / "arm.urdf", folder / "world.sdf"
    urdf = robot_urdf(world, namespace)
    arm.write_text(urdf)
    sdf.write_text(world_sdf(world, folder))
    bridge = folder / "bridge.yaml"
    bridge.write_text(bridge_yaml())
    return GazeboWorld(
        name=WORLD, camera=f"/{CAMERA_TOPIC}/camera_info", sdf=sdf, arm=arm, urdf=urdf, bridge=bridge, partition=f"deskhand_{os.getpid()}_{folder.name}"
    )


def bridge_yaml() -> str:
    """Configuration of ros_gz_bridge's parameter_bridge. Relative names are in the bridge's namespace."""
    names = ("ros_topic_name", "gz_topic_name", "ros_type_name", "gz_type_name", "lazy")
    return yaml.safe_dump([{**dict(zip(names, entry, strict=True)), "direction": "GZ_TO_ROS"} for entry in BRIDGED], sort_keys=False)


def require_gazebo() -> None:
    """See that Gazebo and what connects it with ROS 2 can be started.

    Raises:
        DeskhandError: ``missing_dependency`` naming what is not there.
    """
    missing = [program for program in ("gz", "ros2") if shutil.which(program) is None]
    if missing:
        raise DeskhandError("missing_dependency", f"Gazebo cannot be started: no {' and no '.join(missing)} command is on the PATH.", hint=INSTALL)
    for package in ("ros_gz_bridge", "gz_ros2_control", "controller_manager", STATE_PUBLISHER):
        if not ros_package_installed(package):
            raise DeskhandError("missing_dependency", f"Gazebo cannot be used: the ROS package {package} is not installed.", hint=INSTALL)
