"""Inverse kinematics as a client of the ROS service sees it: real nodes over DDS, an idle simulated arm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.bench.domains import free_domain
from deskhand.bringup import StackOptions, sim_nodes
from deskhand.environment import workstation_defaults
from deskhand.errors import DeskhandError
from deskhand.supervisor import Supervisor

NODES = ("sim", "safety", "motion")
READY_TIMEOUT, CALLS_TIMEOUT = 60.0, 300.0  # [s]


def measure_ros_ik(arm: ArmConfig, calls: int, seed: int) -> dict[str, Any]:
    """Poses of random joints, one call after the other: wall time at the client.

    ``{"calls", "success", "median_ms", "p95_ms", "errors": {code: how many}}``.

    Raises:
        DeskhandError: ``node_unavailable``, ``timeout`` when the nodes do not come up or do not answer.
    """
    with free_domain() as domain, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **workstation_defaults(os.environ), "ROS_DOMAIN_ID": str(domain)}
        nodes = [node for node in sim_nodes(StackOptions(arm=arm.name), seed=seed) if node.name in NODES]
        supervisor = Supervisor(nodes, log_folder=Path(folder), environment={"ROS_DOMAIN_ID": str(domain)})
        try:
            supervisor.start()
            supervisor.wait_ready(READY_TIMEOUT)
            command = [sys.executable, "-m", "deskhand.nodes.ik_timer", "--arm", arm.name, "--calls", str(calls), "--seed", str(seed)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=CALLS_TIMEOUT, check=False)
        except subprocess.TimeoutExpired as error:
            raise DeskhandError("timeout", f"{calls} calls of motion/solve_ik were not answered within {CALLS_TIMEOUT:g} s.") from error
        finally:
            supervisor.stop()
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise DeskhandError("internal_error", f"the client of motion/solve_ik ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    told = json.loads(lines[-1])
    return {
        "calls": told["calls"],
        "success": told["solved"] / told["calls"],
        "median_ms": float(np.median(told["ms"])),
        "p95_ms": float(np.percentile(told["ms"], 95)),
        "errors": told["errors"],
    }
