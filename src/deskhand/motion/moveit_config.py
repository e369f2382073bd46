"""The parameters of MoveIt for an arm: ``config/moveit/<arm>/`` with the URDF and SRDF that the rest of the package uses. Plain data, no ROS."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FILES = ("kinematics", "joint_limits", "ompl_planning", "moveit_controllers", "moveit_cpp")


def moveit_parameters(model: RobotModel) -> dict[str, Any]:
    """Parameters of a MoveItCpp node, as moveit_configs_utils would make them.

    Raises:
        DeskhandError: ``config_error`` when a file is missing or no mapping.
    """
    folder = resource_path("config/moveit") / model.arm.name
    parts = {name: _load(folder / f"{name}.yaml") for name in FILES}
    return {
        "robot_description": model.urdf,
        "robot_description_semantic": model.srdf,
        "robot_description_kinematics": parts["kinematics"],
        "robot_description_planning": parts["joint_limits"],
        "ompl": parts["ompl_planning"],
        **parts["moveit_controllers"],
        **parts["moveit_cpp"],
    }


def _load(path: Path) -> dict[str, Any]:
    try:
        data = read_yaml(path)
    except (OSError, yaml.YAMLError) as error:
        raise DeskhandError(
            "config_error", f"{path} cannot be read: {error}.", hint="Each arm that MoveIt plans for needs a folder in config/moveit."
        ) from error
    if not isinstance(data, dict):
        raise DeskhandError("config_error", f"{path} must hold a mapping, got {type(data).__name__}.")
    return data


def moveit_is_there() -> bool:
    """Whether moveit_py is installed; whether it also loads shows when it is used, with the loader's own words."""
    return find_spec("moveit") is not None and find_spec("moveit_msgs") is not None
