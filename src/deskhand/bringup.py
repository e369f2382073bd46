"""Which nodes make up deskhand, with which parameters and remappings: said once, here.

The launch files turn the specs into launch_ros actions (``launch/``), ``deskhand up`` and the trials turn them into supervised
processes (supervisor.py).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from deskhand.errors import DeskhandError
from deskhand.resources import resource_path

Value = bool | int | float | str | list[str] | list[float]

PARAMETERS = "config/nodes.yaml"
"""Every node's parameters, by node name."""

STACK = ("perception", "grasping", "motion", "safety", "tool_server", "orchestrator", "recorder")
"""Node names of the robot stack, the same on every robot; each is ``deskhand.nodes.<name>_node``."""
HALTERS = ("motion", "safety")
"""Those that stop the arm: the others give way to them where processors are few."""
GIVE_WAY = 5


@dataclass(frozen=True)
class NodeSpec:
    """One node as one process.

    ``package`` other than "deskhand" is a ROS package of someone else with ``executable``; it exists only where ROS 2 is installed.
    ``arguments`` are plain arguments, before ``--ros-args``; ``pass_fds`` are inherited by this process and by no other; one that works ``once``
    may end with exit code 0; ``nice`` (0 to 19) is how far it gives way to others.
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
    once: bool = False
    nice: int = 0

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

    def prefix(self) -> list[str]:
        """What stands before the node's own command; it is replaced by the node, which keeps its process id."""
        return ["nice", "-n", str(self.nice)] if self.nice else []

    def command(self) -> list[str]:
        """The command that starts the node."""
        start = [sys.executable, "-m", self.module] if self.package == "deskhand" else ["ros2", "run", self.package, self.executable]
        return [*self.prefix(), *start, *self.arguments, *self.ros_arguments()]


@dataclass(frozen=True)
class CameraDriver:
    """A vendor's camera node, named "camera": how it is started, and where its topics differ from ours.

    ``own_namespace`` when its topics are relative; else they are below the node's name.
    """

    package: str
    executable: str
    parameters: Mapping[str, Value]
    remappings: tuple[tuple[str, str], ...] = ()
    own_namespace: bool = False


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
            "camera_name": "camera",
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
        own_namespace=True,
    ),
}
"""Camera nodes that a robot's bring-up can start; ``external`` is any camera that already publishes."""

DRIVERS = ("external", "hardware", "mock")
"""Who serves the arm of a robot: something that already runs, or ros2_control with the hardware or with a mock that echoes commands."""

CONTROLLERS = ("joint_state_broadcaster", "arm_controller", "gripper_controller")


@dataclass(frozen=True)
class StackOptions:
    """What a person chooses at bring-up.

    ``camera`` (one of :data:`CAMERA_DRIVERS`, or ``external``), ``camera_mount`` (a name in ``config/cameras`` or a file; empty: its transform comes by
    ``/tf``) and ``driver`` (one of :data:`DRIVERS`) are for a real robot. ``remappings`` apply to every node of the stack. ``memory`` is a file that
    outlives the nodes; empty: a real robot has its own below the ROS home (``~/.ros``), a simulated one begins anew. ``view``: the operator page, on
    ``view_port`` of this machine alone. ``approval`` (``never``, ``motion``, ``always``): which calls wait for the operator; empty: as config/nodes.yaml says.
    """

    arm: str = "wx250s"
    camera: str = "external"
    camera_mount: str = ""
    driver: str = "external"
    planner: str = "embedded"
    brain: str = "offline"
    namespace: str = ""
    parameter_files: tuple[Path, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    episodes: str = ""
    memory: str = ""
    view: bool = False
    view_port: int = 8080
    approval: str = ""


def _stack(options: StackOptions, use_sim_time: bool, remappings: tuple[tuple[str, str], ...] = ()) -> list[NodeSpec]:
    memory: dict[str, Value] = {"memory_file": options.memory} if options.memory else {}
    own: dict[str, dict[str, Value]] = {
        "perception": {"arm": options.arm, **memory, **({"camera": options.camera_mount} if options.camera_mount else {})},
        "tool_server": {"arm": options.arm, **memory, **({"approval": options.approval} if options.approval else {})},
        "motion": {"arm": options.arm, "planner": options.planner},
        "orchestrator": {"arm": options.arm, "brain": options.brain},
        "recorder": {"folder": options.episodes} if options.episodes else {},
        "view": {"arm": options.arm, "port": options.view_port},
    }
    names = (*STACK, "view") if options.view else STACK
    return [
        NodeSpec(
            name=name,
            executable=f"{name}_node",
            namespace=options.namespace,
            parameters={"use_sim_time": use_sim_time, **own.get(name, {"arm": options.arm})},
            parameter_files=(resource_path(PARAMETERS), *options.parameter_files),
            remappings=(*remappings, *options.remappings),
            nice=0 if name in HALTERS else GIVE_WAY,
        )
        for name in names
    ]


def sim_nodes(
    options: StackOptions, *, task: str = "desk_cleaning", seed: int = 0, scene: Path | None = None, truth_fd: int | None = None, fault: str = ""
) -> list[NodeSpec]:
    """The simulated robot and the stack.

    The world goes to the simulation alone, as plain arguments, so that no ROS parameter shows it; ``truth_fd`` is a socket that only
    the simulation and the process that scores it hold.
    """
    world = ("--scene", str(Path(scene).resolve())) if scene else ("--task", task, "--seed", str(seed))
    world = (*world, "--fault", fault) if fault else world
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


def _known(what: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise DeskhandError("config_error", f"there is no {what} {value!r}; valid: {', '.join(valid)}.")


def _driver_nodes(options: StackOptions, arm_name: str) -> list[NodeSpec]:
    if options.driver == "external":
        return []
    controllers = resource_path(f"config/ros2_control/{arm_name}.yaml")
    package, namespace = "controller_manager", options.namespace
    return [
        NodeSpec(name="controller_manager", executable="ros2_control_node", package=package, namespace=namespace, parameter_files=(controllers,)),
        NodeSpec(
            name="spawner",
            executable="spawner",
            package=package,
            namespace=namespace,
            arguments=(*CONTROLLERS, "--param-file", str(controllers)),
            once=True,
        ),
    ]


def robot_memory() -> Path:
    """Where a real robot remembers, when nobody says otherwise."""
    return Path(os.environ.get("ROS_HOME", "~/.ros")).expanduser() / "deskhand/memory.sqlite"


def robot_nodes(options: StackOptions) -> list[NodeSpec]:
    """A real robot: robot_state_publisher, the drivers that are ours to start, and the stack.

    An ``external`` driver serves ``arm_controller``, ``gripper_controller`` and ``joint_states`` by itself.

    Raises:
        DeskhandError: ``config_error`` for an unknown arm, camera or driver.
    """
    from deskhand.arms.config import load_arm
    from deskhand.arms.description import urdf_text

    options = options if options.memory else replace(options, memory=str(robot_memory()))
    _known("camera", options.camera, ("external", *CAMERA_DRIVERS))
    _known("driver", options.driver, DRIVERS)
    arm = load_arm(options.arm)
    urdf = urdf_text(arm, "none" if options.driver == "external" else options.driver)
    publisher = NodeSpec(
        name="robot_state_publisher",
        executable="robot_state_publisher",
        package="robot_state_publisher",
        namespace=options.namespace,
        parameters={"robot_description": urdf},
    )
    nodes = [publisher, *_driver_nodes(options, arm.name)]
    remappings: tuple[tuple[str, str], ...] = ()
    if options.camera != "external":
        driver = CAMERA_DRIVERS[options.camera]
        remappings = driver.remappings
        namespace = f"{options.namespace}/camera".strip("/") if driver.own_namespace else options.namespace
        nodes.append(NodeSpec(name="camera", executable=driver.executable, package=driver.package, namespace=namespace, parameters=driver.parameters))
    return [*nodes, *_stack(options, use_sim_time=False, remappings=remappings)]
