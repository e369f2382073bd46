"""Inverse kinematics as a client of the ROS service sees it: real nodes over DDS, an idle simulated arm."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.bringup.spec import StackOptions
from deskhand.trials.ros_client import measured_by_client

NODES = ("sim", "safety", "motion")


def measure_ros_ik(arm: ArmConfig, calls: int, seed: int) -> dict[str, Any]:
    """Poses of random joints, one call after the other: wall time at the client.

    ``{"calls", "success", "median_ms", "p95_ms", "errors": {code: how many}}``.

    Raises:
        DeskhandError: as :func:`deskhand.trials.ros_client.measured_by_client`.
    """
    arguments = ["--arm", arm.name, "--calls", str(calls), "--seed", str(seed)]
    told = measured_by_client(NODES, StackOptions(arm=arm.name), "deskhand.nodes.ik_timer", arguments, seed)
    return {
        "calls": told["calls"],
        "success": told["solved"] / told["calls"],
        "median_ms": float(np.median(told["ms"])),
        "p95_ms": float(np.percentile(told["ms"], 95)),
        "errors": told["errors"],
    }
