"""Planning backends for the shared tests: each is asked the same questions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deskhand.arms.model import RobotModel
from deskhand.motion.base import Backend
from deskhand.motion.embedded import EmbeddedBackend
from deskhand.motion.process import ProcessBackend
from deskhand.nodes.moveit_backend import moveit_is_there

ARMS = ("wx250s", "jetarm")


def make_embedded(name: str) -> Backend:
    """Also the factory of a process."""
    return EmbeddedBackend(RobotModel.load(name))


def _in_process(name: str) -> Backend:
    return ProcessBackend("embedded", "backends:make_embedded", name)


def _moveit(name: str) -> Backend:
    """One for all tests of an arm: MoveIt takes seconds to start, and a process can initialise ROS only once."""
    if name not in _STARTED:
        _STARTED[name] = ProcessBackend("moveit", "deskhand.nodes.moveit_backend:make_moveit", RobotModel.load(name).arm)
    return _STARTED[name]


_STARTED: dict[str, Backend] = {}
BACKENDS: dict[str, Callable[[str], Backend]] = {"embedded": make_embedded, "process": _in_process, "moveit": _moveit}
NEEDS_MOVEIT = pytest.mark.skipif(not moveit_is_there(), reason="moveit_py is not installed (apt install ros-jazzy-moveit-py)")
CASES = [
    *(pytest.param(("embedded", arm), id=f"embedded-{arm}") for arm in ARMS),
    pytest.param(("process", "wx250s"), id="process-wx250s"),
    *(pytest.param(("moveit", arm), id=f"moveit-{arm}", marks=NEEDS_MOVEIT) for arm in ARMS),
]
