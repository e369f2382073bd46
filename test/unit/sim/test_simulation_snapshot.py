"""A simulation that is put back goes on exactly as it did, in the same one and in another of the same world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.sim.simulation import SimSettings, Simulation
from deskhand.sim.snapshot import SimulationSnapshot
from deskhand.sim.spec import ObjectSpec, StainSpec, WorldSpec, pose_at
from deskhand.types import Trajectory

BLOCK = ObjectSpec("block", "block", (0.04, 0.04, 0.04), (0.8, 0.1, 0.1), 0.05, pose_at(0.0, 0.05, 0.02))
WORLD = WorldSpec((BLOCK,), stains=(StainSpec("stain", np.array([[0.1, 0.1], [0.15, 0.1], [0.15, 0.13], [0.1, 0.13]]), (0.3, 0.1, 0.1)),))


def ahead(simulation: Simulation) -> np.ndarray:
    """All positions and speeds half a second later."""
    simulation.step(0.5)
    return np.concatenate([simulation.data.qpos, simulation.data.qvel, simulation.joint_state().efforts, [simulation.time, simulation.finger_position()]])


@pytest.fixture(scope="module")
def moving() -> tuple[Simulation, SimulationSnapshot]:
    """An arm on its way, the gripper closing, a block in the air."""
    simulation = Simulation(WORLD, SimSettings(settle=0.1, fault="slip"))
    start = simulation.joint_state().of(simulation.arm.joints)
    empty = np.zeros((0, len(start)))
    simulation.follow(Trajectory(simulation.arm.joints, np.array([1.0]), np.asarray([start + 0.2]), empty, empty))
    simulation.grip(simulation.arm.gripper.position_of(0.0), 3.0)
    joint = simulation.model.body_jntadr[simulation.built.object_bodies[0]]
    simulation.data.qpos[simulation.model.jnt_qposadr[joint] + 2] = 0.2
    simulation.step(0.1)
    return simulation, simulation.snapshot()


def test_it_goes_on_as_it_did(moving: tuple[Simulation, SimulationSnapshot]) -> None:
    simulation, snapshot = moving
    first = ahead(simulation)
    simulation.model.geom_rgba[:] = 0.5
    simulation.model.body_mass[:] *= 2
    simulation.restore(snapshot)
    assert simulation.time == pytest.approx(0.1)
    assert np.array_equal(ahead(simulation), first)
    simulation.restore(snapshot)  # what was done since has not changed it
    assert np.array_equal(ahead(simulation), first)


def test_another_simulation_of_the_same_world_goes_on_from_it(moving: tuple[Simulation, SimulationSnapshot]) -> None:
    simulation, snapshot = moving
    simulation.restore(snapshot)
    other = Simulation(WORLD, SimSettings(settle=0.0))
    other.restore(snapshot)
    assert np.array_equal(ahead(other), ahead(simulation))
    assert simulation.truth().objects[0].pose[2, 3] < 0.1, "the block was in the air, and falls"


def test_not_into_another_world_nor_under_a_driver(moving: tuple[Simulation, SimulationSnapshot]) -> None:
    other = Simulation(replace(WORLD, stains=()), SimSettings(settle=0.0))
    with pytest.raises(DeskhandError, match="another world") as caught:
        other.restore(moving[1])
    assert caught.value.code == "invalid_input"
    other.drive = lambda: (other.joint_positions(), 0.0)
    with pytest.raises(DeskhandError, match="driver"):
        other.snapshot()
