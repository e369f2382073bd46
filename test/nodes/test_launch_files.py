"""The launch files, wherever ROS 2's launch is installed (on a robot, in the ROS workflow; not from wheels)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("launch_ros", reason="launch and launch_ros come with a ROS 2 installation, not as wheels")

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, SetEnvironmentVariable
from launch.utilities import perform_substitutions
from launch_ros.actions import Node
from launch_ros.utilities import evaluate_parameters

from deskhand.bringup.stack import STACK

FOLDER = Path(__file__).resolve().parents[2] / "launch"
UNNAMED = Node.UNSPECIFIED_NODE_NAME
"""Of a process that names its nodes itself: __node would rename all of them."""
FILES = sorted(path.name for path in FOLDER.glob("*.launch.py"))


def description(name: str) -> Any:
    specification = importlib.util.spec_from_file_location(name.replace(".", "_"), FOLDER / name)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.generate_launch_description()


def started(name: str, **values: str) -> tuple[LaunchContext, list[Any]]:
    """The actions that a launch file starts with its defaults and ``values``."""
    context = LaunchContext()
    context.launch_configurations.update(values)
    actions: list[Any] = []
    for entity in description(name).entities:
        if isinstance(entity, DeclareLaunchArgument | SetEnvironmentVariable):
            entity.execute(context)
        elif isinstance(entity, OpaqueFunction):
            actions += entity.execute(context)
    return context, actions


def node_names(context: LaunchContext, actions: list[Any]) -> list[str]:
    for action in actions:
        action._perform_substitutions(context)
    return [action.node_name.rpartition("/")[2] for action in actions]


def parameters(context: LaunchContext, node: Node) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for entry in evaluate_parameters(context, node._Node__parameters):
        if isinstance(entry, dict):
            merged.update(entry)
    return merged


@pytest.mark.parametrize("name", FILES)
def test_every_argument_is_described(name: str) -> None:
    arguments = [entity for entity in description(name).entities if isinstance(entity, DeclareLaunchArgument)]
    assert arguments
    assert all(argument.description and "no description" not in argument.description.lower() for argument in arguments)


def test_sim_starts_the_simulation_and_the_stack() -> None:
    context, actions = started("sim.launch.py", seed="7")
    assert node_names(context, actions) == ["sim", *STACK]
    assert all(isinstance(action, Node) for action in actions)


def test_a_process_is_logged_by_its_nodes_name_also_where_it_gives_way() -> None:
    context, actions = started("sim.launch.py", seed="7")
    labels = [perform_substitutions(context, action.process_description.name) for action in actions]
    assert labels == ["sim", *STACK]
    assert any("nice" in perform_substitutions(context, action.process_description.prefix) for action in actions)


def test_robot_starts_the_stack_with_drivers_that_are_asked_for() -> None:
    context, actions = started("robot.launch.py", arm="wx250s")
    assert node_names(context, actions) == ["robot_state_publisher", *STACK]
    context, actions = started("robot.launch.py", arm="wx250s", driver="mock", camera="orbbec", namespace="left")
    assert node_names(context, actions) == ["robot_state_publisher", UNNAMED, "spawner", "camera", *STACK]
    assert actions[1].node_executable == "ros2_control_node"


def test_gazebo_starts_gazebo_its_bridge_its_controllers_and_the_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deskhand.sim.gazebo.files.require_gazebo", lambda: None)
    context, actions = started("gazebo.launch.py", seed="2", folder=str(tmp_path))
    nodes = [action for action in actions if isinstance(action, Node)]
    assert all(isinstance(action, ExecuteProcess) for action in actions) and len(actions) == len(nodes) + 3
    assert node_names(context, nodes) == ["gazebo_bridge", "robot_state_publisher", "spawner", *STACK]
    assert parameters(context, nodes[0])["config_file"] == str(tmp_path / "bridge.yaml")
    assert (tmp_path / "world.sdf").is_file() and all(parameters(context, action)["use_sim_time"] is True for action in nodes[3:])


def test_the_operator_page_is_a_launch_argument() -> None:
    for name in ("sim.launch.py", "robot.launch.py"):
        context, actions = started(name, arm="jetarm", view="true", view_port="9000", approval="motion")
        names = node_names(context, actions)
        assert names[-1] == "view" and parameters(context, actions[-1])["port"] == 9000
        assert parameters(context, actions[names.index("tool_server")])["approval"] == "motion"


def test_composed_is_a_launch_argument() -> None:
    context, actions = started("sim.launch.py", composed="true")
    together = [action for action in actions if not isinstance(action, Node)]
    assert [action.node_name.rpartition("/")[2] for action in actions if isinstance(action, Node) and not action._perform_substitutions(context)] == [
        "sim",
        "motion",
        "safety",
    ]
    words = [perform_substitutions(context, word) for word in together[0].cmd]
    assert "deskhand.nodes.composed_node" in words and "tool_server" in words and 'perception:arm:="wx250s"' in words


def test_parameters_keep_their_types_on_the_way() -> None:
    context, actions = started("robot.launch.py", arm="wx250s", brain="1")
    names = node_names(context, actions)
    orchestrator = parameters(context, actions[names.index("orchestrator")])
    assert orchestrator["brain"] == "1" and orchestrator["use_sim_time"] is False
    description_text = parameters(context, actions[names.index("robot_state_publisher")])["robot_description"]
    assert isinstance(description_text, str) and description_text.startswith("<?xml")


@pytest.mark.parametrize(("middleware", "variable"), [("rmw_fastrtps_cpp", "FASTRTPS_DEFAULT_PROFILES_FILE"), ("rmw_cyclonedds_cpp", "CYCLONEDDS_URI")])
def test_the_dds_profile_is_in_force_for_what_is_launched(monkeypatch: pytest.MonkeyPatch, middleware: str, variable: str) -> None:
    monkeypatch.setenv("RMW_IMPLEMENTATION", middleware)
    monkeypatch.delenv(variable, raising=False)
    context, _ = started("sim.launch.py")
    assert Path(context.environment[variable].removeprefix("file://")).is_file()


def test_task_needs_an_instruction_and_hands_it_on_as_one_argument() -> None:
    with pytest.raises(RuntimeError, match="instruction"):
        started("task.launch.py")
    context, (client,) = started("task.launch.py", instruction="put the 'red' cup; then stop")
    assert isinstance(client, ExecuteProcess)
    command = ["".join(part.perform(context) for part in argument) for argument in client.cmd]
    assert "--instruction=put the 'red' cup; then stop" in command
