"""Which nodes make up deskhand, with which parameters and remappings: said once, here.

The launch files turn the specs into launch_ros actions (``launch/``), ``deskhand up`` and the trials turn them into supervised
processes (supervisor.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deskhand.errors import DeskhandError
from deskhand.resources import resource_path

Value = bool | int | float | str | list[str] | list[float]

PARAMETERS = "config/nodes.yaml"
"""Every node's parameters, by node name."""

STACK = ("perception", "grasping", "motion", "safety", "tool_server", "orchestrator", "recorder")
"""Node names of the robot stack, the same on every robot; each is ``deskhand.nodes.<name>_node``."""


@dataclass(frozen=True)
class NodeSpec:
    """One node as one process.

    ``package`` other than "deskhand" is a ROS package of someone else with ``executable``; it exists only where ROS 2 is installed.
    ``arguments`` are plain arguments, before ``--ros-args``; ``pass_fds`` are inherited by this process and by no other.
    """

    name: str
    executable: str
    package: str = "deskhand"
    namespace: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    parameter_files: tuple[Path, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    pass_fds: tuple[int, ...] = ()

    @property
    def module(self) -> str:
        """Python module of a deskhand node."""
        return f"deskhand.nodes.{self.executable}"

    def ros_arguments(self) -> list[str]:
        """``--ros-args …`` with name, namespace, parameters and remappings."""
        arguments = ["--ros-args", "-r", f"__node:={self.name}"]
        if self.namespace:
            arguments += ["-r", f"__ns:=/{self.namespace.strip('/')}"]
        for source, target in self.remappings:
            arguments += ["-r", f"{source}:={target}"]
        for file in self.parameter_files:
            arguments += ["--params-file", str(file)]
        for name, value in self.parameters.items():
            arguments += ["-p", f"{name}:={json.dumps(value)}"]  # JSON is YAML, and keeps "1" a string
        return arguments

    def command(self) -> list[str]:
        """The command that starts the node."""
        start = [sys.executable, "-m", self.module] if self.package == "deskhand" else ["ros2", "run", self.package, self.executable]
        return [*start, *self.arguments, *self.ros_arguments()]


@dataclass(frozen=True)
class CameraDriver:
    """A vendor's camera node: how it is started, and where its topics differ from ours."""

    package: str
    executable: str
    parameters: Mapping[str, Value]
    remappings: tuple[tuple[str, str], ...] = ()


CAMERA_DRIVERS = {
    "realsense": CameraDriver(
        "realsense2_camera",
        "realsense2_camera_node",
        {
            "enable_color": True,
            "enable_depth": True,
            "align_depth.enable": True,
            "enable_sync": True,
            "rgb_camera.color_profile": "640x480x30",
            "depth_module.depth_profile": "640x480x30",
        },
    ),
    "orbbec": CameraDriver(
        "orbbec_camera",
        "orbbec_camera_node",
        {
            "enable_color": True,
            "enable_depth": True,
            "depth_registration": True,
            "enable_frame_sync": True,
            "color_width": 640,
            "color_height": 480,
            "depth_width": 640,
            "depth_height": 480,
        },
        remappings=(("camera/aligned_depth_to_color/image_raw", "camera/depth/image_raw"),),
    ),
}
"""Camera nodes that a robot's bring-up can start; ``external`` is any camera that already publishes."""


@dataclass(frozen=True)
class StackOptions:
    """What a person chooses at bring-up.

    ``camera`` names a file of ``config/cameras`` on the simulated robot and one of :data:`CAMERA_DRIVERS` or ``external`` on a real one.
    ``remappings`` apply to every node of the stack.
    """

    arm: str = "wx250s"
    camera: str = ""
    planner: str = "embedded"
    brain: str = "offline"
    namespace: str = ""
    parameter_files: tuple[Path, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    episodes: str = ""


def _stack(options: StackOptions, use_sim_time: bool, remappings: tuple[tuple[str, str], ...] = ()) -> list[NodeSpec]:
    own: dict[str, dict[str, Value]] = {
        "motion": {"arm": options.arm, "planner": options.planner},
        "orchestrator": {"arm": options.arm, "brain": options.brain},
        "recorder": {"folder": options.episodes} if options.episodes else {},
    }
    return [
        NodeSpec(
            name=name,
            executable=f"{name}_node",
            namespace=options.namespace,
            parameters={"use_sim_time": use_sim_time, **own.get(name, {"arm": options.arm})},
            parameter_files=(resource_path(PARAMETERS), *options.parameter_files),
            remappings=(*remappings, *options.remappings),
        )
        for name in STACK
    ]


def sim_nodes(options: StackOptions, *, task: str = "desk_cleaning", seed: int = 0, scene: Path | None = None, truth_fd: int | None = None) -> list[NodeSpec]:
    """The simulated robot and the stack.

    The world goes to the simulation alone, as plain arguments, so that no ROS parameter shows it; ``truth_fd`` is a socket that only
    the simulation and the process that scores it hold.
    """
    world = ("--scene", str(Path(scene).resolve())) if scene else ("--task", task, "--seed", str(seed))
    simulation = NodeSpec(
        name="sim",
        executable="sim_node",
        namespace=options.namespace,
        parameters={"arm": options.arm},
        parameter_files=(resource_path(PARAMETERS), *options.parameter_files),
        arguments=world if truth_fd is None else (*world, "--truth-fd", str(truth_fd)),
        pass_fds=() if truth_fd is None else (truth_fd,),
    )
    return [simulation, *_stack(options, use_sim_time=True)]


def robot_nodes(options: StackOptions, robot_description: str) -> list[NodeSpec]:
    """A real robot: robot_state_publisher, the camera's node where it is ours to start, and the stack.

    The arm and the gripper are served by their own driver (``arm_controller``, ``gripper_controller``, ``joint_states``).

    Args:
        options: what runs.
        robot_description: the expanded URDF.

    Raises:
        DeskhandError: ``config_error`` for an unknown camera.
    """
    camera = options.camera or "external"
    if camera != "external" and camera not in CAMERA_DRIVERS:
        raise DeskhandError("config_error", f"there is no camera {camera!r}; valid: external, {', '.join(CAMERA_DRIVERS)}.")
    nodes = [
        NodeSpec(
            name="robot_state_publisher",
            executable="robot_state_publisher",
            package="robot_state_publisher",
            namespace=options.namespace,
            parameters={"robot_description": robot_description},
        )
    ]
    remappings: tuple[tuple[str, str], ...] = ()
    if camera != "external":
        driver = CAMERA_DRIVERS[camera]
        remappings = driver.remappings
        nodes.append(NodeSpec(name="camera", executable=driver.executable, package=driver.package, namespace=options.namespace, parameters=driver.parameters))
    return [*nodes, *_stack(options, use_sim_time=False, remappings=remappings)]
