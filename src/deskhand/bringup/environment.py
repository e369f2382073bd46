"""Environment variables that deskhand's processes need, where nobody has set them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from deskhand.types.resources import resource_path

FAST_DDS, CYCLONE_DDS = "rmw_fastrtps_cpp", "rmw_cyclonedds_cpp"
DDS_PROFILES = {FAST_DDS: ("FASTRTPS_DEFAULT_PROFILES_FILE", "config/dds/fastdds.xml"), CYCLONE_DDS: ("CYCLONEDDS_URI", "config/dds/cyclonedds.xml")}
"""By middleware: the variable that names its configuration, and ours."""
LOCALHOST_PROFILE = "config/dds/fastdds_localhost.xml"
"""Of Fast DDS with ROS_LOCALHOST_ONLY=1."""

ARENAS = "2"
"""Heaps of a process (glibc's malloc; by itself eight for each core): what threads of short lives free in heaps of their own is not given back."""


def workstation_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    """What is missing in ``environment``: a configuration of the middleware that lets pictures and all processes through, rendering without a
    screen, and few heaps.

    The middleware is ``RMW_IMPLEMENTATION``, else Fast DDS, which is ROS 2's own choice in Humble and in Jazzy; one of which we know nothing keeps its own
    configuration. Where no ROS 2 is sourced (the wheels of ``make setup``) also the RMW, the ament index, and DDS on this machine only; a sourced ROS 2
    says itself how it talks.
    """
    wanted = {"MUJOCO_GL": "egl", "MALLOC_ARENA_MAX": ARENAS}
    if middleware := DDS_PROFILES.get(environment.get("RMW_IMPLEMENTATION") or FAST_DDS):
        variable, file = middleware
        if variable == "CYCLONEDDS_URI":
            wanted[variable] = f"file://{resource_path(file)}"
        else:
            wanted[variable] = str(resource_path(LOCALHOST_PROFILE if environment.get("ROS_LOCALHOST_ONLY") == "1" else file))
    if not environment.get("ROS_DISTRO"):
        wanted |= {"AMENT_PREFIX_PATH": sys.prefix, "RMW_IMPLEMENTATION": FAST_DDS}
        if "ROS_LOCALHOST_ONLY" not in environment:
            wanted["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return {name: value for name, value in wanted.items() if name not in environment}


def apply_workstation_defaults() -> None:
    """Set :func:`workstation_defaults` in this process; harmless when called again."""
    os.environ.update(workstation_defaults(os.environ))
