"""Puts a rehearsal together: the unit, its nodes and the person."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deskhand.arms.config import load_arm
from deskhand.bench.rehearsal.hands import hands_of
from deskhand.bench.rehearsal.nodes import RehearsedNodes
from deskhand.bench.rehearsal.person import Person
from deskhand.bench.rehearsal.unit import Unit
from deskhand.bringup.domains import free_domain
from deskhand.bringup.environment import apply_workstation_defaults
from deskhand.bringup.first_day.base import Day


@contextmanager
def rehearsed_day(arm: str, folder: Path, seed: int, show: Callable[[str], None], camera: str = "fixed") -> Iterator[Day]:
    """A day on an emulated unit drawn from ``seed``, in a ROS domain of its own; nothing runs any more when the block ends.

    Its ``camera`` stands beside the desk (``fixed``) or is carried by the arm (``wrist``).
    """
    unit = Unit(arm, folder / "rehearsal", seed)
    with free_domain() as domain, tempfile.TemporaryDirectory(prefix="deskhand_") as ports:
        before = os.environ.get("ROS_DOMAIN_ID")
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        apply_workstation_defaults()
        port = str(Path(ports) / "arm")
        person = Person(show, camera)
        day = Day(arm, folder, person, settings={"port": port, "driver": load_arm(arm).driver.kinds[0]}, rehearsal=True)
        nodes = day.workplace = RehearsedNodes(day, unit, port)
        person.stand_at(nodes, hands_of(arm, nodes))
        try:
            nodes.servos.open()
            yield day
        finally:
            nodes.close()
            if before is None:
                del os.environ["ROS_DOMAIN_ID"]
            else:
                os.environ["ROS_DOMAIN_ID"] = before
