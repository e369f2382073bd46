"""A simulated desk with all that its robot knows, at one moment, to go on from again: to try several ways from one state, and to take back what was done.

The physics go on bit by bit as they did, and so do the pictures. The planner's random numbers, and times that are wall time, are not part of it.
Only for a robot in one process with its simulation: nodes keep states of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deskhand.etp.tool import Placement
from deskhand.sim.devices import SimCamera
from deskhand.sim.simulation import Simulation
from deskhand.sim.snapshot import SimulationSnapshot
from deskhand.skills.belief import Belief
from deskhand.skills.robot.local import LocalRobot


@dataclass(frozen=True)
class DeskSnapshot:
    """One moment; it never changes, and may be gone back to as often as one likes."""

    simulation: SimulationSnapshot
    camera: tuple[Any, ...]
    robot: tuple[Any, ...]
    belief: tuple[Any, ...]
    placed: dict[str, Placement]


@dataclass(frozen=True)
class DeskState:
    """The parts of a desk that have a state. ``placed``: what the tools of its session put down (see ToolContext)."""

    simulation: Simulation
    camera: SimCamera
    robot: LocalRobot
    belief: Belief
    placed: dict[str, Placement]

    def take(self) -> DeskSnapshot:
        """As it is now, between two calls of tools.

        Raises:
            DeskhandError: ``busy`` while the arm moves, ``invalid_input`` where a driver moves it over an emulated bus.
        """
        robot = self.robot.snapshot()
        return DeskSnapshot(self.simulation.snapshot(), self.camera.snapshot(), robot, self.belief.snapshot(), dict(self.placed))

    def put_back(self, snapshot: DeskSnapshot, noise: int = 0) -> None:
        """Go on from ``snapshot``, of this desk or of another one of the same world; with another ``noise`` (0 or more) with other noise in the pictures.

        Raises:
            DeskhandError: ``invalid_input`` when it is of another world.
        """
        self.simulation.restore(snapshot.simulation)
        self.camera.restore(snapshot.camera, noise)
        self.robot.restore(snapshot.robot)
        self.belief.restore(snapshot.belief)
        self.placed.clear()
        self.placed.update(snapshot.placed)
