"""The arm's URDF and SRDF as text, from the xacro in ``urdf/`` and the arm's YAML file."""

from __future__ import annotations

from typing import Any

from deskhand.arms.config import ArmConfig
from deskhand.arms.expand import expand
from deskhand.arms.fit import arguments_of
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path

MODES = ("none", "mock", "hardware", "gazebo")


def urdf_text(arm: ArmConfig, ros2_control_mode: str = "none", extra: dict[str, str] | None = None, play: bool = True) -> str:
    """The expanded URDF: root link ``world``, the arm mounted where its configuration says.

    ``extra`` gives further xacro arguments by name. With ``play`` the limits are those that joints may be told, which keep their play away from where they
    end; without, those where they end.

    Raises:
        DeskhandError: ``missing_dependency`` without xacro, ``config_error`` when the file cannot be expanded.
    """
    if ros2_control_mode not in MODES:
        raise DeskhandError("config_error", f"there is no ros2_control mode {ros2_control_mode!r}; valid: {', '.join(MODES)}.")
    arguments = {
        **arguments_of(arm.world_T_base, arm.geometry),
        "ros2_control_mode": ros2_control_mode,
        "controllers": str(resource_path("config") / "ros2_control" / f"{arm.name}.yaml"),
        **(extra or {}),
    }
    document = expand(arm.urdf, arguments)
    _narrow(arm, document, play)
    return str(document.toprettyxml(indent="  "))


def _narrow(arm: ArmConfig, document: Any, play: bool) -> None:
    """Joints of a unit that do not go as far as the description says, or have play, get its limits, so that no link goes beyond."""
    for joint in document.getElementsByTagName("joint"):
        servo = arm.driver.servos.get(joint.getAttribute("name"))
        if servo is None or (servo.range is None and not servo.backlash):
            continue
        for limit in joint.getElementsByTagName("limit"):
            lower, upper = servo.narrowed(float(limit.getAttribute("lower")), float(limit.getAttribute("upper")), play)
            limit.setAttribute("lower", repr(lower))
            limit.setAttribute("upper", repr(upper))


def srdf_text(arm: ArmConfig) -> str:
    """The SRDF of the arm: groups, named states, pairs of links whose collisions need not be checked.

    Raises:
        DeskhandError: ``config_error`` when there is no such file.
    """
    try:
        return arm.srdf.read_text()
    except OSError as error:
        raise DeskhandError("config_error", f"the SRDF of {arm.name} cannot be read: {error}.") from error
