"""Some real nodes over DDS in a domain of their own, and a client process that measures them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from deskhand.bringup.domains import free_domain
from deskhand.bringup.environment import workstation_defaults
from deskhand.bringup.spec import StackOptions
from deskhand.bringup.stack import sim_nodes
from deskhand.bringup.supervisor import Supervisor
from deskhand.errors import DeskhandError

READY_TIMEOUT, CALLS_TIMEOUT = 90.0, 300.0  # [s]


def measured_by_client(nodes: Collection[str], options: StackOptions, module: str, arguments: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """Start those ``nodes`` of the simulated robot, run ``python -m module arguments``, and stop them.

    Returns:
        The JSON object that is the last such line of the client's output.

    Raises:
        DeskhandError: ``node_unavailable``, ``timeout`` when the nodes do not come up or do not answer, ``internal_error`` when the client says nothing.
    """
    with free_domain() as domain, tempfile.TemporaryDirectory() as folder:
        own = {"ROS_DOMAIN_ID": str(domain), "ROS_HOME": folder}
        environment = {**os.environ, **workstation_defaults(os.environ), **own}
        specs = [node for node in sim_nodes(options, seed=seed) if node.name in nodes]
        supervisor = Supervisor(specs, log_folder=Path(folder), environment=own)
        try:
            supervisor.start()
            supervisor.wait_ready(READY_TIMEOUT)
            command = [sys.executable, "-m", module, *arguments]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=CALLS_TIMEOUT, check=False)
        except subprocess.TimeoutExpired as error:
            raise DeskhandError("timeout", f"the calls of {module} were not answered within {CALLS_TIMEOUT:g} s.") from error
        finally:
            supervisor.stop()
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise DeskhandError("internal_error", f"{module} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    told: dict[str, Any] = json.loads(lines[-1])
    return told
