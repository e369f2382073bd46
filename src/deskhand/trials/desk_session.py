"""A tool session on a simulated desk in this process, without nodes and without an episode: for trying tools out and for measuring them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deskhand.arms.config import load_arm
from deskhand.etp.approval import Approval
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.skills.robot.local import Devices, make_local_robot
from deskhand.tools.base import make_session
from deskhand.trials.base import TrialOptions, prepare


@contextmanager
def desk_session(options: TrialOptions, registry: Registry | None = None, approval: Approval | None = None) -> Iterator[Session]:
    """A session on the desk of ``options``; nothing is kept of it.

    Raises:
        DeskhandError: ``config_error``, ``scene_file_error`` for options that make no desk.
    """
    world, _ = prepare(options)
    simulation = Simulation(world)
    camera = SimCamera(simulation)
    robot = make_local_robot(load_arm(world.arm), Devices(SimArm(simulation), SimGripper(simulation), camera, SimClock(simulation)))
    try:
        with make_session(robot, registry=registry, approval=approval) as session:
            yield session
    finally:
        robot.close()
        camera.close()
