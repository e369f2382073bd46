"""Environment variables that deskhand's processes need, where nobody has set them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from deskhand.resources import resource_path

DDS_PROFILE = "config/dds/fastdds.xml"


def workstation_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    """What is missing in ``environment``: pictures through shared memory, rendering without a screen.

    Where no ROS 2 is sourced (the wheels of ``make setup``) also the RMW, the ament index, and DDS on this machine only; a sourced ROS 2 says itself how
    it talks.
    """
    wanted = {"FASTRTPS_DEFAULT_PROFILES_FILE": str(resource_path(DDS_PROFILE)), "MUJOCO_GL": "egl"}
    if not environment.get("ROS_DISTRO"):
        wanted |= {"AMENT_PREFIX_PATH": sys.prefix, "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp"}
        if "ROS_LOCALHOST_ONLY" not in environment:
            wanted["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return {name: value for name, value in wanted.items() if name not in environment}


def apply_workstation_defaults() -> None:
    """Set :func:`workstation_defaults` in this process; harmless when called again."""
    os.environ.update(workstation_defaults(os.environ))
