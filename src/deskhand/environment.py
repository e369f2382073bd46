"""Environment variables that deskhand's processes need where no ROS 2 is sourced (the wheels of ``make setup``).

A sourced ROS 2 says itself how it talks; there nothing is changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from deskhand.resources import resource_path

DDS_PROFILE = "config/dds/fastdds.xml"


def workstation_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    """What is missing in ``environment`` for ROS from wheels: DDS on this machine only, images through shared memory, rendering by EGL.

    Empty when a ROS 2 is sourced (``ROS_DISTRO``).
    """
    if environment.get("ROS_DISTRO"):
        return {}
    wanted = {
        "AMENT_PREFIX_PATH": sys.prefix,
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(resource_path(DDS_PROFILE)),
        "MUJOCO_GL": "egl",
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
    }
    if "ROS_LOCALHOST_ONLY" not in environment:
        wanted["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return {name: value for name, value in wanted.items() if name not in environment}


def apply_workstation_defaults() -> None:
    """Set :func:`workstation_defaults` in this process; harmless when called again."""
    os.environ.update(workstation_defaults(os.environ))
