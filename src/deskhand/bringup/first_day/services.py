"""System services that hold what an arm needs, and how to stop them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError

TIMEOUT = 10.0  # [s] that systemd may take to answer


@dataclass(frozen=True)
class Service:
    """A systemd service: whether it runs, and whether it starts with the machine."""

    name: str
    active: bool
    enabled: bool


def service(name: str) -> Service:
    """What systemd says of ``name``; a machine without systemd runs none."""
    return Service(name, _says(name, "is-active") in ("active", "activating", "reloading"), _says(name, "is-enabled") in ("enabled", "enabled-runtime"))


def _says(name: str, question: str) -> str:
    if shutil.which("systemctl") is None:
        return ""
    try:
        done = subprocess.run(["systemctl", question, name], capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise DeskhandError(
            "timeout", f"systemd does not say whether {name} runs.", retry=True, hint="systemctl status; is the machine still starting?"
        ) from error
    return done.stdout.strip()


def stopped(operator: Operator, name: str, whose: str) -> Service:
    """The service, once it neither runs nor comes back: the person is told the line, and it is looked at again. Asks ``service.stop``.

    Raises:
        DeskhandError: ``device_busy`` when it still does.
    """
    found = service(name)
    if found.active or found.enabled:
        does = "runs" if found.active else "starts with this machine"
        operator.act("service.stop", f"{whose} service {name} {does}, and takes the arm's port. In another terminal: sudo systemctl disable --now {name}")
        found = service(name)
    if found.active or found.enabled:
        does = "still runs" if found.active else "would still start with this machine"
        raise DeskhandError("device_busy", f"{name} {does}.", hint=f"sudo systemctl disable --now {name}; back again: sudo systemctl enable --now {name}")
    return found
