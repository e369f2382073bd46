"""One source for ROS 2 Humble and Jazzy: the nodes use only what both have, but for nodes/distro.py."""

import ast
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

NODES = Path(__file__).parents[2] / "src/deskhand/nodes"
DISTRO = "distro.py"
OWN = ("rclpy", "launch", "launch_ros", "ament_index_python")
"""Packages of ROS beside those of messages."""

IN_BOTH = {
    "action_msgs.msg": "GoalStatus GoalStatusArray",
    "action_msgs.srv": "CancelGoal",
    "builtin_interfaces.msg": "Duration Time",
    "control_msgs.action": "FollowJointTrajectory GripperCommand",
    "diagnostic_msgs.msg": "DiagnosticArray DiagnosticStatus KeyValue",
    "geometry_msgs.msg": "Point Point32 Pose PoseArray PoseStamped Quaternion TransformStamped Vector3",
    "launch": "LaunchDescription LaunchDescriptionEntity",
    "launch.actions": "DeclareLaunchArgument ExecuteProcess OpaqueFunction SetEnvironmentVariable Shutdown",
    "launch.launch_context": "LaunchContext",
    "launch_ros.actions": "Node",
    "launch_ros.parameter_descriptions": "ParameterValue",
    "lifecycle_msgs.msg": "Transition",
    "lifecycle_msgs.srv": "ChangeState",
    "nav2_msgs.action": "NavigateToPose",
    "rcl_interfaces.msg": "FloatingPointRange IntegerRange ParameterDescriptor",
    "rcl_interfaces.srv": "GetParameters",
    "rclpy": "",
    "rclpy.action": "ActionClient ActionServer CancelResponse GoalResponse",
    "rclpy.action.client": "ClientGoalHandle",
    "rclpy.action.server": "ServerGoalHandle",
    "rclpy.callback_groups": "CallbackGroup MutuallyExclusiveCallbackGroup ReentrantCallbackGroup",
    "rclpy.client": "Client",
    "rclpy.clock": "Clock ClockType",
    "rclpy.context": "Context",
    "rclpy.duration": "Duration",
    "rclpy.exceptions": "InvalidParameterTypeException InvalidParameterValueException",
    "rclpy.executors": "Executor ExternalShutdownException MultiThreadedExecutor ShutdownException SingleThreadedExecutor TimeoutException",
    "rclpy.impl.implementation_singleton": "rclpy_implementation",
    "rclpy.lifecycle": "LifecycleNodeMixin TransitionCallbackReturn",
    "rclpy.node": "Node",
    "rclpy.parameter": "Parameter",
    "rclpy.publisher": "Publisher",
    "rclpy.qos": "DurabilityPolicy QoSProfile ReliabilityPolicy qos_profile_sensor_data",
    "rclpy.serialization": "deserialize_message serialize_message",
    "rclpy.service": "Service",
    "rclpy.signals": "SignalHandlerOptions",
    "rclpy.subscription": "Subscription",
    "rclpy.task": "Task",
    "rclpy.utilities": "remove_ros_args",
    "rclpy.waitable": "NumberOfEntities Waitable",
    "rosgraph_msgs.msg": "Clock",
    "sensor_msgs.msg": "CameraInfo CompressedImage Image JointState PointCloud2 PointField",
    "shape_msgs.msg": "Mesh MeshTriangle SolidPrimitive",
    "std_msgs.msg": "Bool Header String",
    "std_srvs.srv": "SetBool Trigger",
    "tf2_msgs.msg": "TFMessage",
    "trajectory_msgs.msg": "JointTrajectory JointTrajectoryPoint",
}
"""Names that ROS 2 Humble (rclpy 3.3, launch 1.0) and Jazzy (rclpy 7.1, launch 3.4) both have. Before a name is added here, look for it in both."""

LATER = {
    "add_post_set_parameters_callback",
    "add_pre_set_parameters_callback",
    "configure_introspection",
    "count_clients",
    "count_services",
    "get_fully_qualified_node_names",
    "get_publisher_count",
    "logger_name",
    "remove_done_callback",
    "wait_for_node",
}
"""Methods of nodes, clients, subscriptions and futures that Humble's rclpy has not."""


def ros_imports(file: Path) -> set[tuple[str, str]]:
    """(module, name) of everything that ``file`` imports of ROS; moveit_py is an option of its own, which Humble has not."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
    packages = {module.partition(".")[0] for module, _ in found}
    ros = {package for package in packages if package in OWN or (package.endswith(("_msgs", "_srvs", "_interfaces")) and package != "deskhand_interfaces")}
    return {(module, name) for module, name in found if module.partition(".")[0] in ros - {"moveit_msgs"}}


@pytest.mark.parametrize("file", sorted(file for file in NODES.glob("*.py") if file.name != DISTRO), ids=lambda file: file.stem)
def test_a_node_imports_what_both_distributions_have(file: Path) -> None:
    for module, name in ros_imports(file):
        assert module in IN_BOTH, f"{file.name} imports {module}: is it in Humble and in Jazzy? What differs belongs into {DISTRO}."
        assert not name or name in IN_BOTH[module].split() or f"{module}.{name}" in IN_BOTH, f"{file.name} imports {name} from {module}: as above."
    attributes = {node.attr for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute)}
    assert not attributes & LATER


@pytest.mark.parametrize("module", IN_BOTH)
def test_the_distribution_at_hand_has_them(module: str) -> None:
    package = module.partition(".")[0]
    if find_spec({"launch": "launch_ros"}.get(package, package)) is None:  # launch/ of deskhand looks like a package too
        pytest.skip("not installed here")
    for name in IN_BOTH[module].split():
        assert hasattr(import_module(module), name)


AS_HUMBLE = """
import importlib.util, pathlib, sys
import rclpy.node, rclpy.subscription
known = sys.modules.get("rclpy.event_handler") or sys.modules["rclpy.qos_event"]
sys.modules["rclpy.qos_event"], sys.modules["rclpy.event_handler"] = known, None
vars(rclpy).pop("event_handler", None)
folder = pathlib.Path(sys.argv[1])
for file in sorted(folder.glob("*.py")):
    if file.stem not in ("__init__", "launching") and (file.stem != "moveit_messages" or importlib.util.find_spec("moveit_msgs")):
        importlib.import_module(f"deskhand.nodes.{file.stem}")
from deskhand.nodes.node import DeskhandNode
from std_msgs.msg import String
rclpy.init()
node = DeskhandNode("as_in_humble")
print(node.create_subscription(String, "anything", print, 1).event_handlers)
node.destroy_node()
rclpy.shutdown()
"""
"""rclpy's names as Humble has them, whichever distribution is here."""


def test_every_node_is_imported_with_the_names_of_humble() -> None:
    alone = {**os.environ, "ROS_DOMAIN_ID": "93", "ROS_LOCALHOST_ONLY": "1"}
    done = subprocess.run([sys.executable, "-c", AS_HUMBLE, str(NODES)], capture_output=True, text=True, timeout=60, env=alone)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[]"], "a subscription has events, which wake the executor for every message"
