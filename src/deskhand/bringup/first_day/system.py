"""Is this machine ready: libraries, ROS 2, ports and their permission, cameras, clock, disk."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from deskhand.bringup.first_day.base import Day
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.bringup.doctor.base import Check


def run(day: Day) -> Mapping[str, Any]:
    """What `deskhand doctor --robot` looks at, but for what only a simulation needs. A rehearsal asks for no arm and no camera.

    Raises:
        DeskhandError: ``missing_dependency`` with what failed and what to do.
    """
    from deskhand.bringup.doctor import software as doctor
    from deskhand.bringup.doctor.robot import ROBOT_CHECKS

    checks: tuple[Callable[[], Check], ...] = (
        doctor.check_python,
        doctor.check_libraries,
        doctor.check_ros,
        doctor.check_interfaces,
        doctor.check_shared_memory,
        doctor.check_ports,
        *(partial(each, not day.rehearsal) for each in ROBOT_CHECKS),
    )
    found: dict[str, str] = {}
    failed: list[Check] = []
    for each in checks:
        check = each()
        day.operator.say(f"    {'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}")
        found[check.name] = check.detail
        if not check.ok:
            failed.append(check)
    if failed and not _goes_on(day, failed):
        raise DeskhandError(
            "missing_dependency", "; ".join(f"{check.name}: {check.detail}" for check in failed), hint=" ".join(check.advice for check in failed)
        )
    return {"machine": platform.machine(), "python": platform.python_version(), "ros": found["ros"], "not_ok": [check.name for check in failed]}


NEEDED = ("python", "libraries", "ros", "interfaces", "serial")
"""Checks that nothing works without."""


def _goes_on(day: Day, failed: list[Check]) -> bool:
    """Whether the person goes on in spite of what failed; never without what is needed."""
    if any(check.name in NEEDED for check in failed):
        return False
    for check in failed:
        day.operator.say(f"    {check.name}: {check.advice}")
    return day.operator.confirm("system.go_on", f"Go on without {', '.join(check.name for check in failed)} being in order, and mend it later?")
