"""Model files: print, convex pieces and ways to lie come back as written, and make a body that looks and collides as they say."""

from pathlib import Path

import numpy as np
import pytest

from deskhand.bench.foreign.decompose import decompose
from deskhand.bench.foreign.prepare import _rests
from deskhand.errors import DeskhandError
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.convex import block, surface_of, tube, volume_of
from deskhand.sim.model_file import ModelFile, Part, load_model, save_model
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at

SIZE = (0.06, 0.04, 0.12)


def box_model() -> ModelFile:
    """A carton: red all over by its picture."""
    vertices, faces = surface_of([block(SIZE)])
    uv = np.zeros((len(vertices), 2))
    picture = np.full((8, 8, 3), (200, 10, 10), np.uint8)
    part = Part(vertices, faces, (1.0, 1.0, 1.0), picture, uv, faces.astype(np.int32))
    rests, shares = _rests(vertices, [block(SIZE)], None)
    return ModelFile((part,), (block(SIZE),), 0.05, rests, shares)


def test_it_comes_back_as_written(tmp_path: Path) -> None:
    model = box_model()
    save_model(model, tmp_path / "carton.npz")
    again = load_model(tmp_path / "carton.npz")
    assert again.size == pytest.approx(SIZE, abs=1e-6)
    assert np.allclose(again.hulls[0], model.hulls[0], atol=1e-6)
    assert (again.parts[0].picture == model.parts[0].picture).all()
    assert np.allclose(again.rests, model.rests)


def test_a_broken_file_says_how_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "broken.npz").write_bytes(b"no zip")
    with pytest.raises(DeskhandError) as told:
        load_model(tmp_path / "broken.npz")
    assert told.value.code == "invalid_input"
    assert "bench foreign install" in (told.value.hint or "")


def test_a_carton_lies_on_six_sides_and_most_often_on_the_largest() -> None:
    model = box_model()
    assert len(model.rests) == 6
    likely = model.rests[int(model.shares.argmax())]
    assert np.abs(likely[2]).argmax() == 1  # its y, along which it is thinnest, is upright
    assert model.shares.sum() == pytest.approx(1.0)


def test_its_body_has_the_colour_of_its_print_and_stays_where_it_stands(tmp_path: Path) -> None:
    save_model(box_model(), tmp_path / "carton.npz")
    item = ObjectSpec("carton", "mesh", SIZE, (0.5, 0.5, 0.5), 0.05, pose_at(0.0, 0.0, SIZE[2] / 2 + 0.001), mesh=tmp_path / "carton.npz")
    simulation = Simulation(WorldSpec((item,)))
    simulation.step(0.5)
    assert simulation.truth().get("carton").pose[2, 3] == pytest.approx(SIZE[2] / 2, abs=0.001)
    with RgbdRenderer(simulation) as renderer:
        frame, owners = renderer.render(), renderer.render_owners()
    mine = frame.color[owners == 0].mean(axis=0)
    assert mine[0] > 3 * mine[1]
    assert mine[0] > 3 * mine[2]


def test_a_hollow_object_stays_hollow_and_a_solid_one_is_one_piece() -> None:
    pieces = tube((0.04, 0.0), (0.04, 0.06), 0.005, sides=24)
    found = decompose(*surface_of(pieces))
    assert 4 <= len(found) <= 40
    inside = np.array([0.0, 0.0, 0.03])
    assert all(not _holds(piece, inside) for piece in found)
    assert sum(map(volume_of, found)) < 1.4 * sum(map(volume_of, pieces))
    assert len(decompose(*surface_of([block(SIZE)]))) == 1


def _holds(piece: np.ndarray, point: np.ndarray) -> bool:
    from scipy.spatial import ConvexHull

    return bool((ConvexHull(piece).equations @ np.append(point, 1.0) < 0).all())
