"""Parts that are none of the solids that perception knows: each stays one object, and what stands for it covers all of it."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.bench.tools.pose_and_localisation import size_of
from deskhand.bench.tools.worlds import BLUE, ORANGE, RED, upright
from deskhand.perception.pipeline import Perception
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at


def parts():
    """Two parts, a box and a can, at odd angles."""
    shapes = [("wedge", 0.02, 0.10, 0.9), ("l_piece", 0.0, -0.10, 2.2)]
    made = tuple(ObjectSpec(name, "mesh", size_of(name), RED, 0.05, pose_at(x, y, size_of(name)[2] / 2 + 0.001, yaw), shape=name) for name, x, y, yaw in shapes)
    return WorldSpec((*made, upright("box", "box", (0.09, 0.05, 0.04), 0.10, 0.0, ORANGE, 0.5), upright("can", "can", (0.05, 0.05, 0.08), -0.10, 0.03, BLUE)))


@pytest.fixture(scope="module", params=range(4))
def seen(request):
    """The scene that is found, and where the parts really are; each time with other noise."""
    simulation = Simulation(parts())
    simulation.step(1.0)
    with RgbdRenderer(simulation, DepthSensor()) as renderer:
        for _ in range(request.param):
            renderer.render()
        scene = Perception().detect(renderer.render(), simulation.built.robot, simulation.joint_state())
    return scene, {item.name: item for item in simulation.truth().objects}


@pytest.mark.parametrize("name", ["l_piece", "wedge"])
def test_a_part_is_one_object_as_large_as_it_is(seen, name):
    scene, truth = seen
    near = [item for item in scene.objects if np.linalg.norm(item.position[:2] - truth[name].pose[:2, 3]) < 0.05]
    assert len(near) == 1, [item.id for item in near]
    assert np.allclose(sorted(near[0].size), sorted(size_of(name)), atol=0.012)


def test_nothing_else_is_found(seen):
    assert len(seen[0].objects) == 4
