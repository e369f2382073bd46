"""Unit tests run side by side; those that start nodes or whole programs follow one at a time: they watch the clock, and share ROS domains."""

from __future__ import annotations

import os
from typing import Any

import pytest

os.environ.setdefault("MUJOCO_GL", "egl")  # before whatever test imports MuJoCo first
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy: threads of two processes that wait for each other by spinning take a third more time
    os.environ.setdefault(_name, "1")

try:
    from xdist.scheduler import LoadScopeScheduling
except ImportError:  # without it, pytest runs one test at a time anyway
    LoadScopeScheduling = None

ALONE = ("test/nodes/", "test/e2e/")


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many of the attacks of test/e2e/attacks are made."""
    parser.addoption("--attacks", type=int, default=0, help="attacks of each kind on a running robot (test/e2e/attacks); 0: only the few of the suite")
    parser.addoption("--long", action="store_true", help="also those tests that take long and of which shorter ones show most (make test-long; nightly)")
    parser.addoption("--attack-seed", type=int, default=1, help="what they are drawn by")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Those that want the machine for themselves come last; many attacks are made only where they are asked for."""
    left_out = [item for mark in ("attacks", "long") if not config.getoption(f"--{mark}") for item in items if item.get_closest_marker(mark)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.nodeid.startswith(ALONE))


if LoadScopeScheduling is not None:

    class OneByOneLast(LoadScopeScheduling):  # type: ignore[misc]
        """A file of unit tests goes to the next free process; what wants the machine for itself goes to the one that is left when the others have ended."""

        def _split_scope(self, nodeid: str) -> str:
            return "alone" if nodeid.startswith(ALONE) else nodeid.split("::", 1)[0]

        def _reschedule(self, node: Any) -> None:
            others = any(other is not node and not other.shutting_down for other in self.nodes)
            if next(iter(self.workqueue), "") == "alone" and others and not node.shutting_down and self._pending_of(self.assigned_work[node]) <= 2:
                node.shutdown()  # it ends with what it has
                return
            super()._reschedule(node)

    def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneByOneLast:
        """Of pytest-xdist."""
        config.option.loadscopereorder = False
        return OneByOneLast(config, log)
