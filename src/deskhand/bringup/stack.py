"""Which nodes make up deskhand, with which parameters and remappings: said once, here.

The launch files turn the specs into launch_ros actions (``launch/``), ``deskhand up`` and the trials turn them into supervised
processes (supervisor.py).
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from deskhand.arms.driver_config import KINDS, SERVO_BUSES
from deskhand.bringup.arms import arm_node, arm_nodes, spawner
from deskhand.bringup.spec import PARAMETERS, NodeSpec, StackOptions, Value
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

EPISODES = "episodes"
"""Where records go when nobody says otherwise, in the current folder."""

STACK = ("perception", "grasping", "motion", "safety", "tool_server", "orchestrator", "recorder")
"""Node names of the robot stack, the same on every robot; each is ``deskhand.nodes.<name>_node``."""
HALTERS = ("motion", "safety")
"""Those that stop the arm: the others give way to them where processors are few."""
GIVE_WAY = 5
COMPOSED = ("perception", "grasping", "tool_server", "orchestrator", "recorder")
"""Those that may be one process: neither what stops the arm nor what drives it."""


DRIVERS = ("external", *KINDS, "mock")
"""Who serves the arm of a robot: something that already runs; our own node on a servo bus; ros2_control with the hardware, or with a mock that echoes
commands."""
DRIVEN_SIM: Mapping[str, Value] = {"realtime_factor": 1.0, "state_period": 0.01, "max_state_rate": 100.0}
"""Parameters of a simulation whose arm a driver moves over an emulated bus: that takes real time."""

STATE_PUBLISHER = "robot_state_publisher"
"""Publishes the arm's transforms from its description and joint states."""


def _approvals(options: StackOptions, simulated: bool) -> dict[str, Value]:
    """Parameters of the tool server, as far as they are not the safety file's: in simulation nothing needs a person's leave by itself."""
    chosen = {"approval": options.approval, "approval_others": options.approval_others or ("never" if simulated else "")}
    return {name: value for name, value in chosen.items() if value}


def _folders(options: StackOptions) -> dict[str, Value]:
    return {"folders": os.pathsep.join(str(folder.expanduser().resolve()) for folder in options.files)} if options.files else {}


def _checked(files: tuple[Path, ...]) -> tuple[Path, ...]:
    """ROS parameter files, read once: ROS itself takes the last of two equal keys and says nothing.

    Raises:
        DeskhandError: ``config_error`` for one that cannot be read or is not YAML.
    """
    for file in files:
        try:
            read_yaml(file)
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise DeskhandError("config_error", f"the parameter file {file} cannot be read: {error}.") from error
    return files


def _stack(options: StackOptions, simulated: bool, remappings: tuple[tuple[str, str], ...] = ()) -> list[NodeSpec]:
    memory: dict[str, Value] = {"memory_file": options.memory} if options.memory else {}
    camera: dict[str, Value] = {"camera": options.camera_mount} if options.camera_mount else {}
    images: dict[str, Value] = {"images": options.images} if options.images is not None else {}
    exact: dict[str, Value] = {"check_registration": False} if simulated else {}  # a simulated camera is
    own: dict[str, dict[str, Value]] = {
        "perception": {"arm": options.arm, **memory, **camera, **exact},
        "tool_server": {"arm": options.arm, **memory, **camera, **_approvals(options, simulated), **_folders(options)},
        "motion": {"arm": options.arm, "planner": options.planner},
        "orchestrator": {"arm": options.arm, "brain": options.brain, "episodes": options.episodes or EPISODES, **images},
        "recorder": {"folder": options.episodes or EPISODES},
        "view": {"arm": options.arm, "port": options.view_port},
    }
    names = (*STACK, "view") if options.view else STACK
    return [
        NodeSpec(
            name=name,
            executable=f"{name}_node",
            namespace=options.namespace,
            parameters={"use_sim_time": simulated, **own.get(name, {"arm": options.arm})},
            parameter_files=(resource_path(PARAMETERS), *_checked(options.parameter_files)),
            remappings=(*remappings, *options.remappings),
            nice=0 if name in HALTERS else GIVE_WAY,
        )
        for name in names
    ]


def _composed(options: StackOptions, nodes: list[NodeSpec]) -> list[NodeSpec]:
    return composed(nodes) if options.composed else nodes


def composed(nodes: list[NodeSpec]) -> list[NodeSpec]:
    """``nodes`` with those of :data:`COMPOSED` as one process, each with its own parameters."""
    together = [node for node in nodes if node.name in COMPOSED]
    parameters = {f"{node.name}:{name}": value for node in together for name, value in node.parameters.items()}
    one = replace(
        together[0], name="composed", executable="composed_node", parameters=parameters, arguments=tuple(node.name for node in together), renamed=False
    )
    return [*(node for node in nodes if node.name not in COMPOSED), one]


def reality_argument(reality: str) -> str:
    """A name as it is, a file by its full path: nodes may run in another folder."""
    file, colon, part = reality.partition(":")
    return f"{Path(file).resolve()}{colon}{part}" if file.endswith((".yaml", ".yml")) else reality


def sim_nodes(
    options: StackOptions,
    *,
    task: str = "desk_cleaning",
    seed: int = 0,
    scene: Path | None = None,
    truth_fd: int | None = None,
    fault: str = "",
    reality: str = "",
) -> list[NodeSpec]:
    """The simulated robot and the stack.

    The world goes to the simulation alone, as plain arguments, so that no ROS parameter shows it; ``truth_fd`` is a socket that only
    the simulation and the process that scores it hold.
    """
    world = ("--scene", str(Path(scene).resolve())) if scene else ("--task", task, "--seed", str(seed))
    world = (*world, "--fault", fault) if fault else world
    world = (*world, "--reality", reality_argument(reality)) if reality else world
    driven: list[NodeSpec] = []
    if options.driver in SERVO_BUSES:
        port = options.port or str(Path(tempfile.gettempdir()) / f"deskhand_arm_{os.getpid()}")
        world = (*world, "--bus", options.driver, "--port", port, *(("--servos", options.servos) if options.servos else ()))
        driven = [arm_node(replace(options, port=port), use_sim_time=True)]
    elif options.driver != "external":
        raise DeskhandError("config_error", f"a simulated arm has no driver {options.driver!r}; valid: external, {', '.join(SERVO_BUSES)}.")
    simulation = NodeSpec(
        name="sim",
        executable="sim_node",
        namespace=options.namespace,
        parameters={"arm": options.arm, **(DRIVEN_SIM if driven else {})},
        parameter_files=(resource_path(PARAMETERS), *options.parameter_files),
        arguments=world if truth_fd is None else (*world, "--truth-fd", str(truth_fd)),
        pass_fds=() if truth_fd is None else (truth_fd,),
    )
    return _composed(options, [simulation, *driven, *_stack(options, simulated=True)])


@dataclass(frozen=True)
class ForeignDesk:
    """What the nodes are told of a robot in a simulator of others; sim/foreign/robot.py writes the files.

    ``arm`` and ``safety`` are files; ``taught`` is the store of taught objects, ``none`` for no such names; ``exact``: its camera has no noise.
    ``start``: arguments of foreign_node that start the simulator; none where ``robot_fd`` is the inherited socket of one that runs.
    """

    arm: Path
    safety: Path
    taught: str = "none"
    exact: bool = True
    start: tuple[str, ...] = ()
    robot_fd: int = -1


def foreign_nodes(options: StackOptions, desk: ForeignDesk) -> list[NodeSpec]:
    """The robot in a simulator of others, and the stack. Raises ``config_error`` for a driver of ours: the simulator has controllers of its own."""
    if options.driver != "external":
        raise DeskhandError("config_error", f"an arm in a simulator of others has controllers of its own, and no driver {options.driver!r}.")
    options = replace(options, arm=str(desk.arm.resolve()))
    simulation = NodeSpec(
        name="sim",
        executable="foreign_node",
        namespace=options.namespace,
        parameters={"arm": options.arm},
        arguments=desk.start or ("--robot-fd", str(desk.robot_fd)),
        pass_fds=() if desk.start else (desk.robot_fd,),
    )
    envelope: dict[str, Value] = {"settings": str(desk.safety.resolve())}
    looks: dict[str, Value] = {"taught": desk.taught, **({"frames": 1} if desk.exact else {})}
    own = {**dict.fromkeys(("safety", "motion", "tool_server", "orchestrator"), envelope), "perception": looks}
    stack = _stack(options, simulated=True)
    told = [replace(node, parameters={**node.parameters, **own.get(node.name, {})}) for node in stack]
    return _composed(options, [simulation, *told])


def _known(what: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise DeskhandError("config_error", f"there is no {what} {value!r}; valid: {', '.join(valid)}.")


@dataclass(frozen=True)
class GazeboWorld:
    """What Gazebo and its bridge are started from; written by sim/gazebo/files.py.

    ``name`` is that in the file ``sdf``; ``camera`` a topic of Gazebo that comes with every picture; ``arm`` is the file that ``urdf`` stands in, the arm's
    description; ``bridge`` the configuration of the bridge; ``partition`` the name under which those that belong together find each other on Gazebo's
    transport.
    """

    name: str
    camera: str
    sdf: Path
    arm: Path
    urdf: str
    bridge: Path
    partition: str


def gazebo_environment(partition: str) -> dict[str, str]:
    """Environment of what talks over Gazebo's transport: this machine only, this simulation only; Gazebo finds the plugins that ROS 2 has installed."""
    plugins = os.pathsep.join(filter(None, (os.environ.get("GZ_SIM_SYSTEM_PLUGIN_PATH"), os.environ.get("LD_LIBRARY_PATH"))))
    return {**os.environ, "GZ_PARTITION": partition, "GZ_IP": "127.0.0.1", "GZ_SIM_SYSTEM_PLUGIN_PATH": plugins}


def gazebo_nodes(options: StackOptions, world: GazeboWorld, *, gui: bool = False) -> list[NodeSpec]:
    """The robot in Gazebo, with its controllers, and the stack. ``gui`` shows the world on this machine's screen.

    Raises:
        DeskhandError: ``config_error`` for an unknown arm or a driver of ours: Gazebo brings its own controllers.
    """
    from deskhand.arms.config import load_arm

    if options.driver != "external":
        raise DeskhandError("config_error", f"an arm in Gazebo has controllers of its own, and no driver {options.driver!r}.")
    environment = {name: value for name, value in gazebo_environment(world.partition).items() if os.environ.get(name) != value}
    shown = ("-r",) if gui else ("-s", "-r", "--headless-rendering")
    controllers = resource_path(f"config/ros2_control/{load_arm(options.arm).name}.yaml")
    simulated: dict[str, Value] = {"use_sim_time": True}
    nodes = [
        NodeSpec("gazebo", "gz", package="", arguments=("sim", *shown, "-v", "2", str(world.sdf)), environment=environment),
        NodeSpec(
            "gazebo_bridge",
            "parameter_bridge",
            package="ros_gz_bridge",
            namespace=options.namespace,
            parameters={**simulated, "config_file": str(world.bridge)},
            environment=environment,
        ),
        NodeSpec("gazebo_arm", "gz", package="", arguments=_create(world), environment=environment, once=True),
        NodeSpec("gazebo_camera", "gz", package="", arguments=("topic", "--echo", "--num", "3", "--topic", world.camera), environment=environment, once=True),
        state_publisher(options, world.urdf, simulated),
        spawner(options, controllers),
    ]
    return _composed(options, [*nodes, *_stack(options, simulated=True)])


def _create(world: GazeboWorld) -> tuple[str, ...]:
    """Arguments of gz that put the arm into the world, once that runs: gz_ros2_control dies where a finger that mimics the other is there from the start."""
    service = ("service", "--service", f"/world/{world.name}/create", "--reqtype", "gz.msgs.EntityFactory", "--reptype", "gz.msgs.Boolean")
    return (*service, "--timeout", "90000", "--req", f"sdf_filename: {json.dumps(str(world.arm))}")


def state_publisher(options: StackOptions, urdf: str, parameters: Mapping[str, Value]) -> NodeSpec:
    """ROS's own where it is installed; else ours, which publishes the same (ROS 2 from wheels has none)."""
    package, executable = (STATE_PUBLISHER, STATE_PUBLISHER) if ros_package_installed(STATE_PUBLISHER) else ("deskhand", "state_publisher_node")
    parameters = {**parameters, "robot_description": urdf}
    return NodeSpec(STATE_PUBLISHER, executable, package=package, namespace=options.namespace, parameters=parameters)


def ros_package_installed(name: str) -> bool:
    """Whether the ament index of the sourced ROS 2 has the package ``name``."""
    prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    return any((Path(prefix) / "share" / name / "package.xml").is_file() for prefix in prefixes)


def robot_memory() -> Path:
    """Where a real robot remembers, when nobody says otherwise."""
    return Path(os.environ.get("ROS_HOME", "~/.ros")).expanduser() / "deskhand/memory.sqlite"


def _absolute(name_or_file: str) -> str:
    """A YAML file by its whole path: who asks a node for it may stand elsewhere."""
    return str(Path(name_or_file).resolve()) if name_or_file.endswith((".yaml", ".yml")) else name_or_file


def robot_nodes(options: StackOptions) -> list[NodeSpec]:
    """A real robot: robot_state_publisher (ROS's, or ours where that is not installed), the drivers that are ours to start, and the stack.

    An ``external`` driver serves ``arm_controller``, ``gripper_controller`` and ``joint_states`` by itself.

    Raises:
        DeskhandError: ``config_error`` for an unknown arm, camera or driver.
    """
    from deskhand.arms.config import load_arm
    from deskhand.arms.description import urdf_text
    from deskhand.bringup.cameras import camera_nodes
    from deskhand.cameras.config import camera_of

    options = options if options.memory else replace(options, memory=str(robot_memory()))
    _known("driver", options.driver, DRIVERS)
    arm = load_arm(options.arm)
    options = replace(options, arm=_absolute(options.arm), camera_mount=_absolute(camera_of(arm.name, options.camera_mount)))
    if options.driver in KINDS and options.driver not in arm.driver.kinds:
        raise DeskhandError("config_error", f"{arm.name} has no driver {options.driver!r}; it has: {', '.join(arm.driver.kinds)}.")
    urdf = urdf_text(arm, {"ros2_control": "hardware", "mock": "mock"}.get(options.driver, "none"))
    nodes = [state_publisher(options, urdf, {}), *arm_nodes(options, arm)]
    cameras, remappings = camera_nodes(options)
    return _composed(options, [*nodes, *cameras, *_stack(options, simulated=False, remappings=remappings)])
