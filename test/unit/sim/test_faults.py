"""Faults on purpose: what they do to the world and to the pictures."""

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.faults import Fault, check_fault
from deskhand.sim.simulation import SimSettings, Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at


def _block(name, x, y, z):
    return ObjectSpec(name, "block", (0.03, 0.03, 0.03), (0.78, 0.08, 0.08), 0.016, pose_at(x, y, z))


def _world(*objects):
    return WorldSpec(objects, seed=3)


def test_an_unknown_fault_is_refused_with_those_there_are():
    with pytest.raises(DeskhandError, match="knocked_tower"):
        check_fault("earthquake")


def test_a_block_is_knocked_off_what_it_stands_on_once():
    world = _world(_block("low", 0.0, 0.0, 0.015), _block("high", 0.0, 0.0, 0.0452))
    calm, knocked = Simulation(world), Simulation(world, SimSettings(fault="knocked_tower"))
    for simulation in (calm, knocked):
        simulation.step(2.5)
    assert calm.truth().get("high").pose[2, 3] == pytest.approx(0.045, abs=0.002)
    fallen = knocked.truth().get("high")
    assert knocked.fault.happened and fallen.pose[2, 3] < 0.03
    assert np.linalg.norm(fallen.pose[:2, 3]) < 0.25
    assert np.linalg.norm(knocked.truth().get("low").pose[:2, 3]) < 0.02


def test_three_pictures_are_old_and_then_new_again():
    simulation = Simulation(_world(_block("low", 0.0, 0.0, 0.015)), SimSettings(fault="stale_frames"))
    stamps = []
    with RgbdRenderer(simulation) as renderer:
        for _ in range(7):
            simulation.step(0.1)
            stamps.append(renderer.render().stamp)
    assert stamps[2:5] == [stamps[1]] * 3
    assert stamps[5] > stamps[4] and stamps[6] > stamps[5]


def test_a_fifth_of_the_depth_is_lost_in_patches():
    depth = np.ones((240, 320), np.float32)
    holed = Fault("depth_holes").holed(depth, np.random.default_rng(0))
    lost = np.isnan(holed)
    assert lost.mean() == pytest.approx(0.2, abs=0.01)
    assert (lost[:, 1:] & lost[:, :-1]).mean() > 0.12
    assert Fault("slip").holed(depth, np.random.default_rng(0)) is depth
