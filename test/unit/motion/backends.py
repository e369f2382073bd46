"""Planning backends for the shared tests: each is asked the same questions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from deskhand.arms.model import RobotModel
from deskhand.motion.base import Backend
from deskhand.motion.embedded import EmbeddedBackend
from deskhand.motion.moveit_config import moveit_is_there
from deskhand.motion.process import ProcessBackend
from deskhand.safety.settings import load_safety

ARMS = ("wx250s", "jetarm")


def make_embedded(name: str) -> Backend:
    """Also the factory of a process."""
    return EmbeddedBackend(RobotModel.load(name))


def _in_process(name: str) -> Backend:
    return ProcessBackend("embedded", "backends:make_embedded", name)


@cache
def moveit(name: str, walls: bool = False) -> Backend:
    """One for all tests of an arm: MoveIt takes seconds to start. ``walls``: with the workspace's, as the node has it."""
    fixed = load_safety().walls() if walls else ()
    return ProcessBackend("moveit", "deskhand.nodes.moveit_backend:make_moveit", RobotModel.load(name).arm, fixed)


BACKENDS: dict[str, Callable[[str], Backend]] = {"embedded": make_embedded, "process": _in_process, "moveit": moveit}
NEEDS_MOVEIT = pytest.mark.skipif(not moveit_is_there(), reason="moveit_py is not installed (apt install ros-jazzy-moveit-py)")
CASES = [
    *(pytest.param(("embedded", arm), id=f"embedded-{arm}") for arm in ARMS),
    pytest.param(("process", "wx250s"), id="process-wx250s"),
    *(pytest.param(("moveit", arm), id=f"moveit-{arm}", marks=NEEDS_MOVEIT) for arm in ARMS),
]
PLANNERS = ["embedded", pytest.param("moveit", marks=NEEDS_MOVEIT)]
"""For tests of the services: ``pytestmark = pytest.mark.parametrize("planner", PLANNERS, indirect=True)``."""
