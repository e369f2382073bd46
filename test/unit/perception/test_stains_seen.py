"""Stains in rendered pictures: where they are, which way they run, and what is none: shadows, objects, the grain of the table."""

import numpy as np
import pytest

from deskhand.perception.desk_view import view_of
from deskhand.perception.stains import SMALLEST, find_stains, left_of, seen_of
from deskhand.sim.devices import SimArm, SimCamera
from deskhand.sim.simulation import Simulation
from deskhand.sim.worldfile import world_from_dict

BLOCKS = [{"kind": "block", "color": "red", "pose": [0.0, 0.0]}, {"kind": "sponge", "color": "yellow", "pose": [0.08, 0.02]}]
NAVY = {"name": "navy", "color": "#000080", "size": [0.16, 0.045], "pose": [0.05, 0.15, 0.2]}
SILVER = {"name": "silver", "color": "#c0c0c0", "size": [0.16, 0.045], "pose": [0.05, -0.15, 1.45]}
OIL = {"name": "oil", "color": "black", "outline": [[0.0, 0.12], [0.06, 0.12], [0.03, 0.18]]}


def seen(stains, seed=0, reality="mild", gone=""):
    simulation = Simulation(world_from_dict({"objects": BLOCKS, "stains": stains, "seed": seed, "reality": reality}))
    if gone:
        geoms = [number for number in range(simulation.model.ngeom) if simulation.model.geom(number).name.startswith(gone)]
        simulation.model.geom_rgba[geoms, 3] = 0.0
    camera = SimCamera(simulation)
    try:
        return view_of(camera.capture(), SimArm(simulation).joint_state(), simulation.arm)
    finally:
        camera.close()


@pytest.mark.parametrize("seed", [0, 3])
def test_painted_areas_are_found_where_they_are(seed) -> None:
    found = [stain for stain in find_stains(seen([NAVY, SILVER], seed)) if np.linalg.norm(stain.centre) < 0.4]
    assert len(found) == 2
    for stain in found:
        left = stain.centre[1] > 0
        assert np.allclose(stain.centre, (0.05, 0.15 if left else -0.15), atol=0.008)
        assert (stain.length, stain.width) == pytest.approx((0.16, 0.045), abs=0.006)
        assert stain.direction == ("front-back" if left else "left-right")
        assert stain.area == pytest.approx(0.0072, rel=0.1)


def test_shadows_and_objects_are_no_stains() -> None:
    assert [stain for stain in find_stains(seen([], 2)) if np.linalg.norm(stain.centre) < 0.4] == []


def test_what_is_as_long_as_wide_has_no_direction_and_what_is_wiped_is_gone() -> None:
    view = seen([OIL], 1)
    (stain,) = [one for one in find_stains(view) if np.linalg.norm(one.centre) < 0.4]
    assert stain.direction == "" and stain.area == pytest.approx(0.0018, rel=0.25)
    low, high = np.array([-0.01, 0.11]), np.array([0.07, 0.19])
    assert left_of([stain], low, high) == pytest.approx(stain.area, rel=0.05) and seen_of(view, low, high) > 0.9
    assert left_of([stain], low + 0.2, high + 0.2) == 0.0
    wiped = seen([OIL], 1, gone="oil/")
    assert left_of(find_stains(wiped), low, high) < SMALLEST
