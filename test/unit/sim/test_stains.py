"""Stains: how they are cut and drawn, and what takes them away: the underside of what is held, near enough, and nothing else."""

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.sim.devices import SimCamera
from deskhand.sim.gazebo.sdf import world_sdf
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import StainSpec
from deskhand.sim.stains import Wiping, cells_of
from deskhand.sim.truth import truth_from_json, truth_to_json
from deskhand.sim.worldfile import world_from_dict, world_to_dict

BLUE = {"name": "blue", "color": "blue", "size": [0.16, 0.045], "pose": [0.05, 0.1, 0.3]}
SPONGE = {"kind": "sponge", "color": "yellow", "pose": [0.05, -0.15]}


def area(corners):
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


@pytest.mark.parametrize("outline", [[[0, 0], [0.16, 0], [0.16, 0.045], [0, 0.045]], [[0, 0], [0.1, 0.02], [0.03, 0.09]], [[0.03, 0.09], [0.1, 0.02], [0, 0]]])
def test_cells_cover_a_stain_once(outline) -> None:
    cells = cells_of(StainSpec("stain", np.array(outline), (0, 0, 1)))
    assert 40 <= len(cells) <= 90 and all(area(cell) > 0 for cell in cells)
    assert sum(map(area, cells)) == pytest.approx(abs(area(np.array(outline))), rel=1e-6)


@pytest.mark.parametrize("outline", [[[0, 0], [1, 0], [0.2, 0.2], [0, 1]], [[0, 0], [1, 0], [2, 0], [0, 1]], [[0, 0], [1, 0]]])
def test_an_outline_that_is_not_convex_is_refused(outline) -> None:
    with pytest.raises(DeskhandError, match="convex"):
        cells_of(StainSpec("stain", np.array(outline, float), (0, 0, 1)))


def held_at(simulation, x, y, gap, held=True):
    """The sponge put there by hand, ``gap`` [m] over the table, and looked at as what the fingers hold, or not."""
    body = simulation.built.object_bodies[0]
    first = simulation.model.jnt_qposadr[simulation.model.body_jntadr[body]]
    simulation.data.qpos[first : first + 7] = [x, y, gap + simulation.built.spec.objects[0].size[2] / 2, 1, 0, 0, 0]
    import mujoco

    mujoco.mj_kinematics(simulation.model, simulation.data)
    simulation._wiping.step(simulation.data, {body} if held else set())


def test_a_spot_goes_only_under_a_held_object_that_is_near_enough() -> None:
    simulation = Simulation(world_from_dict({"objects": [SPONGE], "stains": [BLUE]}))
    assert simulation.truth().spots == {"blue": pytest.approx(1.0)}
    held_at(simulation, 0.05, 0.1, 0.005)
    held_at(simulation, 0.05, 0.1, 0.002, held=False)
    held_at(simulation, 0.05, -0.1, 0.002)
    assert simulation.truth().spots["blue"] == pytest.approx(1.0)
    held_at(simulation, 0.05, 0.1, 0.002)
    once = simulation.truth().spots["blue"]
    assert 0.4 < once < 0.75  # a sponge of 4 by 7 cm, askew
    held_at(simulation, 0.05, 0.1, 0.002)
    assert simulation.truth().spots["blue"] == once
    held_at(simulation, 0.10, 0.115, 0.0)
    assert simulation.truth().spots["blue"] < once
    assert truth_from_json(truth_to_json(simulation.truth())).spots == simulation.truth().spots


def test_bare_fingers_and_what_is_only_pushed_clean_nothing() -> None:
    on_it = {**SPONGE, "pose": [0.05, 0.1]}
    simulation = Simulation(world_from_dict({"objects": [on_it], "stains": [BLUE]}))
    simulation.data.xfrc_applied[simulation.built.object_bodies[0], 1] = 0.6
    simulation.step(0.4)
    assert simulation.truth().get("sponge_1").pose[1, 3] > 0.102
    finger = simulation.built.finger_bodies[0]
    assert simulation.truth().spots["blue"] == pytest.approx(1.0)
    assert not {finger} & simulation._between_fingers()


def test_what_is_wiped_is_no_longer_seen() -> None:
    simulation = Simulation(world_from_dict({"objects": [SPONGE], "stains": [{**BLUE, "pose": [0.05, 0.05]}]}))
    camera = SimCamera(simulation)
    try:

        def blue() -> int:
            picture = camera.capture().color.astype(int)
            return int(np.sum(picture[..., 2] > picture[..., 0] + 60))

        before = blue()
        simulation.model.geom_rgba[simulation._wiping._geoms[::2], 3] = 0.0
        after = blue()
    finally:
        camera.close()
    assert before > 500 and 0.35 * before < after < 0.65 * before


def test_a_stain_is_written_and_read_again_and_is_in_gazebos_world(tmp_path) -> None:
    triangle = {"name": "oil", "color": "black", "outline": [[0, 0.1], [0.1, 0.1], [0.05, 0.2]], "spots": 9}
    world = world_from_dict({"stains": [BLUE, triangle]})
    again = world_from_dict(world_to_dict(world))
    assert [item.name for item in again.stains] == ["blue", "oil"] and again.stains[1].spots == 9
    assert all(np.allclose(a.outline, b.outline) for a, b in zip(world.stains, again.stains, strict=True))
    built = Simulation(world)
    assert isinstance(built._wiping, Wiping)
    assert world_sdf(world, tmp_path).count("spot") >= len(cells_of(world.stains[0]))


@pytest.mark.parametrize(
    ("stain", "why"),
    [
        ({"name": "a", "size": [0.1, 0.1]}, "pose"), ({"name": "a", "outline": [[0, 0], [0.1, 0]]}, "convex"), ({**BLUE, "outline": [[0, 0]]}, "not both"),
        ({**BLUE, "pose": [0.44, 0.0]}, "beyond the desk"), ({**BLUE, "name": "sponge_1"}, "used twice"), ({**BLUE, "thick": 1}, "thick"),
    ],
)  # fmt: skip
def test_a_stain_that_cannot_be_is_told(stain, why) -> None:
    with pytest.raises(DeskhandError, match=why):
        world_from_dict({"objects": [{**SPONGE, "name": "sponge_1"}], "stains": [stain]})
