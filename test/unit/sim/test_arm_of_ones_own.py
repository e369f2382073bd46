"""An arm that is described by files of one's own, a mesh among them, beside the arm's file: it is simulated with its shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from deskhand.arms.model import RobotModel
from deskhand.sim.builder import build
from deskhand.sim.spec import WorldSpec
from deskhand.types.resources import resource_path

SHAPE = '<geometry><cylinder radius="0.042" length="0.027"/></geometry>'
EDGES = np.array([80.0, 80.0, 30.0])  # [mm]


def write_box(file: Path) -> None:
    corners = EDGES * (np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) - 0.5)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [part for a, b, c, d in quads for part in ((a, b, c), (a, c, d))]
    rows = np.zeros(len(faces), dtype=[("numbers", "<f4", 12), ("attribute", "<u2")])
    rows["numbers"][:, 3:] = corners[np.array(faces)].reshape(-1, 9)
    file.write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + rows.tobytes())


@pytest.mark.parametrize("name", ["link1.stl", "meshes/link1.stl"])
def test_a_mesh_beside_the_urdf_is_the_shape_of_the_link(tmp_path: Path, name: str) -> None:
    (tmp_path / "meshes").mkdir()
    write_box(tmp_path / name)
    folder = resource_path("urdf")
    text = (folder / "jetarm.urdf.xacro").read_text().replace(SHAPE, f'<geometry><mesh filename="{name}" scale="0.001 0.001 0.001"/></geometry>')
    text = text.replace('filename="', f'filename="{folder}/').replace(f"{folder}/{name}", name)
    (tmp_path / "mine.urdf.xacro").write_text(text)
    arm = tmp_path / "mine.yaml"
    arm.write_text(yaml.safe_dump({"extends": "jetarm", "urdf": "mine.urdf.xacro"}))
    shape = next(shape for shape in RobotModel.load(str(arm)).shapes["link1"] if shape.kind == "mesh")
    assert np.ptp(shape.vertices, axis=0) == pytest.approx(EDGES / 1000)
    model = build(WorldSpec((), arm=str(arm))).model
    assert model.nmesh == 1  # turned to its principal axes
    assert np.sort(np.ptp(model.mesh_vert, axis=0)) == pytest.approx(np.sort(EDGES) / 1000, abs=1e-6)
