"""Which nodes drive a robot's arm: our own, ros2_control with its vendor's hardware interface, or none where one runs already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.arms.config import ArmConfig
from deskhand.arms.driver_config import SERVO_BUSES
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path

if TYPE_CHECKING:
    from deskhand.bringup.spec import NodeSpec, StackOptions

CONTROLLERS = ("joint_state_broadcaster", "arm_controller", "gripper_controller")
VENDOR_CONTROLLERS = ("arm_controller", "gripper_controller")
"""Of a vendor whose own node publishes joint_states, and reads them back: a second publisher would be taken for it."""
INTERBOTIX = (
    "driver:=ros2_control starts Interbotix' xs_sdk (interbotix_xs_sdk, on /dev/ttyDXL) and its hardware interface (interbotix_xs_ros_control), which at once "
    "MOVES THE ARM TO ITS SLEEP POSE at up to 3 rad/s: have it rest there before, and keep hands away. Start nothing else of Interbotix' then. "
    "driver:=external expects its own launch file (xsarm_ros_control.launch.py) in the namespace given. driver:=dynamixel needs neither, and moves nothing."
)
"""What one must know of the wx250s' drivers; shown by the launch file's help."""


def arm_nodes(options: StackOptions, arm: ArmConfig) -> list[NodeSpec]:
    """What drives the arm; nothing for a driver that runs already (``external``).

    Raises:
        DeskhandError: ``config_error`` for a port that is not ours to open.
    """
    if options.driver == "external":
        return []
    if options.driver in SERVO_BUSES:
        return [arm_node(options, use_sim_time=False)]
    if options.driver == "ros2_control" and options.port:
        said = "the vendor's node opens the port of driver ros2_control, so none can be given."
        raise DeskhandError("config_error", said, hint="Make the name that it opens (wx250s: /dev/ttyDXL) by udev, or use driver dynamixel.")
    if options.driver == "ros2_control" and arm.driver.vendor == "interbotix_xs":
        return _interbotix(options, arm)
    return _ros2_control(options, resource_path(f"config/ros2_control/{arm.name}.yaml"), CONTROLLERS)


def arm_node(options: StackOptions, use_sim_time: bool) -> NodeSpec:
    """Our own driver on a servo bus."""
    from deskhand.bringup.spec import PARAMETERS, NodeSpec, Value

    parameters: dict[str, Value] = {"arm": options.arm, "driver": options.driver, "port": options.port, "use_sim_time": use_sim_time}
    files = (resource_path(PARAMETERS), *options.parameter_files)
    return NodeSpec(name="arm", executable="arm_node", namespace=options.namespace, parameters=parameters, parameter_files=files)


def spawner(options: StackOptions, controllers: Path, names: tuple[str, ...] = CONTROLLERS) -> NodeSpec:
    """Loads controllers and ends."""
    from deskhand.bringup.spec import NodeSpec

    arguments = (*names, "--param-file", str(controllers), "--controller-manager-timeout", "60", "--switch-timeout", "60")
    return NodeSpec(name="spawner", executable="spawner", package="controller_manager", namespace=options.namespace, arguments=arguments, once=True)


def _ros2_control(options: StackOptions, controllers: Path, names: tuple[str, ...]) -> list[NodeSpec]:
    from deskhand.bringup.spec import NodeSpec

    manager = NodeSpec(
        name="controller_manager",
        executable="ros2_control_node",
        package="controller_manager",
        namespace=options.namespace,
        parameter_files=(controllers,),
        remappings=(("~/robot_description", "robot_description"),),  # where Humble's looks for it
        renamed=False,  # it would rename the node inside a vendor's hardware interface too
    )
    return [manager, spawner(options, controllers, names)]


def _interbotix(options: StackOptions, arm: ArmConfig) -> list[NodeSpec]:
    """xs_sdk, which has the servos and publishes joint_states, and ros2_control on top of it."""
    from deskhand.bringup.spec import NodeSpec, Value

    files = resource_path("config/interbotix")
    parameters: dict[str, Value] = {
        "motor_configs": str(files / f"{arm.name}_motors.yaml"),
        "mode_configs": str(files / f"{arm.name}_modes.yaml"),
        "load_configs": False,
    }
    sdk = NodeSpec(name="xs_sdk", executable="xs_sdk", package="interbotix_xs_sdk", namespace=options.namespace, parameters=parameters)
    return [sdk, *_ros2_control(options, files / f"{arm.name}_controllers.yaml", VENDOR_CONTROLLERS)]
