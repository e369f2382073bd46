"""Cans that lie: one object, with its metal ends, from whichever side it is seen."""

import numpy as np
import pytest

from deskhand.geometry import make_transform, rotation_about
from deskhand.perception.pipeline import Perception
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec

SIZE = (0.038, 0.038, 0.066)


@pytest.mark.parametrize("yaw", np.linspace(-np.pi, np.pi, 9)[:-1].round(2).tolist())
def test_a_can_that_lies_is_one_can_with_its_ends(yaw):
    rotation = rotation_about([0, 0, 1], yaw) @ rotation_about([0, 1, 0], np.pi / 2)
    can = ObjectSpec("can", "can", SIZE, (0.08, 0.52, 0.15), 0.04, make_transform(rotation[:3, :3], (0.03, -0.12, SIZE[0] / 2)))
    simulation = Simulation(WorldSpec((can,)))
    with RgbdRenderer(simulation) as renderer:
        scene = Perception().detect(renderer.render(), simulation.built.robot, simulation.joint_state())
    (found,) = scene.objects
    assert found.label == "can" and found.shape == "cylinder"
    assert np.linalg.norm(found.position - can.pose[:3, 3]) < 0.005
    np.testing.assert_allclose(np.sort(found.size), np.sort(SIZE), atol=0.009)
    assert abs(found.pose[:3, 0] @ can.pose[:3, 2]) > np.cos(0.06)
