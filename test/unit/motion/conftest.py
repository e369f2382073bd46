"""Which planner the desks of motion_desk.py have."""

from collections.abc import Iterator

import pytest
from backends import moveit

from deskhand.testing import motion_desk


@pytest.fixture(autouse=True)
def planner(request: pytest.FixtureRequest) -> Iterator[str]:
    """The embedded one, or what a module asks for."""
    name = getattr(request, "param", "embedded")
    motion_desk.backend = (lambda: moveit(motion_desk.ARM.name, walls=True)) if name == "moveit" else None
    yield name
    motion_desk.backend = None
