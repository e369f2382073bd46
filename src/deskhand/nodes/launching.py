"""The nodes of bringup.py as launch_ros actions; imported by the launch files alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from launch import LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.launch_context import LaunchContext
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from deskhand.bringup.environment import workstation_defaults
from deskhand.bringup.spec import NodeSpec, StackOptions
from deskhand.errors import DeskhandError

STACK_ARGUMENTS: dict[str, tuple[str, str]] = {
    "arm": ("wx250s", "arm, a name in config/arms or a YAML file"),
    "planner": ("embedded", "motion planner: embedded, moveit, or auto (moveit where it is installed)"),
    "brain": ("offline", "language model, a profile of config/llm.yaml; offline needs none"),
    "namespace": ("", "ROS namespace of all nodes"),
    "parameters": ("", "ROS parameter file, over config/nodes.yaml"),
    "composed": ("false", "true: the nodes that neither stop nor drive the arm are one process"),
    "view": ("false", "true: also serve the operator page, on this machine alone"),
    "view_port": ("8080", "port of the operator page"),
    "approval": ("", "which tool calls wait for the operator's leave: never, motion or always; empty: as config/safety.yaml says"),
    "files": ("", "folders from which tools may read plans and reference pictures, with ':' between"),
    "approval_others": ("", "the same for callers other than the operator's own task; empty: as config/safety.yaml says, never in simulation"),
}
"""Launch arguments that every bring-up has: default and description."""


def stack_options(values: Mapping[str, str], **more: Any) -> StackOptions:
    """What :data:`STACK_ARGUMENTS` say, and ``more``."""
    for name in ("view", "composed"):
        if values[name].lower() not in ("true", "false"):
            raise DeskhandError("config_error", f"{name} must be true or false, got {values[name]!r}.")
    return StackOptions(
        arm=values["arm"],
        planner=values["planner"],
        brain=values["brain"],
        namespace=values["namespace"],
        parameter_files=(Path(values["parameters"]),) if values["parameters"] else (),
        composed=values["composed"].lower() == "true",
        view=values["view"].lower() == "true",
        view_port=int(values["view_port"]),
        approval=values["approval"],
        approval_others=values["approval_others"],
        files=tuple(Path(folder) for folder in values["files"].split(os.pathsep) if folder),
        **more,
    )


def node_action(spec: NodeSpec) -> ExecuteProcess:
    """One node, or plain program; when it ends, everything is shut down, as ``deskhand up`` does."""
    ended = None if spec.once else Shutdown(reason=f"{spec.name} ended")
    if not spec.package:
        return ExecuteProcess(cmd=spec.command(), name=spec.name, output="screen", additional_env=dict(spec.environment), on_exit=ended)
    if any(":" in name for name in spec.parameters):  # of several nodes in one process: launch_ros would give them all to one name
        return ExecuteProcess(cmd=spec.command(), name=spec.name, output="screen", additional_env=dict(spec.environment), on_exit=ended)
    typed = {name: ParameterValue(value, value_type=str) if isinstance(value, str) else value for name, value in spec.parameters.items()}
    return Node(
        package=spec.package,
        executable=spec.executable,
        name=spec.name if spec.renamed else None,
        namespace=spec.namespace,
        parameters=[*map(str, spec.parameter_files), *([typed] if typed else [])],
        remappings=list(spec.remappings),
        arguments=list(spec.arguments),
        exec_name=spec.name,  # else launch's log calls a process by the first word of its command: "nice-7" for all that give way
        prefix=" ".join(spec.prefix()) or None,
        output="screen",
        additional_env=dict(spec.environment),
        on_exit=ended,
    )


def launch_description(
    arguments: Mapping[str, tuple[str | None, str]],
    make: Callable[[dict[str, str]], list[LaunchDescriptionEntity]],
) -> LaunchDescription:
    """Declare ``arguments`` (None: it must be given) and start what ``make`` returns for their values."""

    def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return make({name: context.launch_configurations[name] for name in arguments})

    return LaunchDescription(
        [
            *(DeclareLaunchArgument(name, default_value=default, description=text) for name, (default, text) in arguments.items()),
            *(SetEnvironmentVariable(name, value) for name, value in workstation_defaults(os.environ).items()),
            OpaqueFunction(function=start),
        ]
    )
