from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from deskhand.errors import DeskhandError
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import KINDS
from deskhand.sim.worldfile import load_world, save_world, world_from_dict
from deskhand.types.meshes import load_mesh
from deskhand.types.resources import resource_path

BLOCK: dict[str, Any] = {"kind": "block", "pose": [0.1, 0.1]}


def tetrahedron(path: Path, edge: float) -> Path:
    corners = ["0 0 0", f"{edge} 0 0", f"0 {edge} 0", f"0 0 {edge}"]
    path.write_text("\n".join([*(f"v {corner}" for corner in corners), "f 1 3 2", "f 1 2 4", "f 2 3 4", "f -4 -1 -2"]))
    return path


def with_block(**change: Any) -> dict[str, Any]:
    return {"objects": [BLOCK, {**BLOCK, "pose": [0.0, 0.0], **change}]}


BAD = {
    "objects[1].kind": with_block(kind="blok"),
    "objects[1].size": with_block(size=[0.1, 0.2]),
    "objects[1].size[2]": with_block(size=[0.1, 0.1, "tall"]),
    "objects[1].mass": with_block(mass=-1),
    "objects[1].color": with_block(color="rde"),
    "objects[1].color[0]": with_block(color=[255, 0, 0]),
    "objects[1].pose": with_block(pose=[0.0, 4.0]),
    "objects[1].pose[1]": with_block(pose=[0.0, float("nan")]),
    "objects[1].pose.q": with_block(pose={"x": 0, "y": 0, "q": 1}),
    "objects[1].pose.quaternion": with_block(pose={"x": 0, "y": 0, "quaternion": [0, 0, 0, 3]}),
    "objects[1].colr": with_block(colr="red"),
    "objects[1].mesh": with_block(mesh="nowhere.obj"),
    "objects[1].wall": with_block(kind="bin", wall=0.0),
    "objects[1].name": {"objects": [{**BLOCK, "name": "a"}, {**BLOCK, "pose": [0, 0], "name": "a"}]},
    "objects[0]": {"objects": ["block"]},
    "objects": {"objects": []},
    "arm": {"arm": "puma", "objects": [BLOCK]},
    "table": {"table": [1.0], "objects": [BLOCK]},
    "camera.fovy_deg": {"camera": {"fovy_deg": 400}, "objects": [BLOCK]},
    "camera.lookat": {"camera": {"lookat": [0, 0, 0]}, "objects": [BLOCK]},
    "objcts": {"objcts": [BLOCK]},
    "seed": {"seed": 1.5, "objects": [BLOCK]},
    "the file": ["block"],
}


@pytest.mark.parametrize("field", BAD)
def test_a_wrong_field_is_named_with_its_path(field: str) -> None:
    with pytest.raises(DeskhandError, match=rf"^\S+: {re.escape(field)}: ") as caught:
        world_from_dict(BAD[field])
    assert caught.value.code == "scene_file_error"


@pytest.mark.parametrize("text", ["objects: [", "\x00", "", "just words"])
def test_what_is_no_scene_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "scene.yaml").write_text(text)
    with pytest.raises(DeskhandError) as caught:
        load_world(tmp_path / "scene.yaml")
    assert caught.value.code == "scene_file_error"


def test_a_missing_file_and_objects_in_one_place_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DeskhandError, match=r"nowhere\.yaml") as caught:
        load_world(tmp_path / "nowhere.yaml")
    assert caught.value.code == "scene_file_error"
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump({"objects": [BLOCK, {**BLOCK, "name": "other"}]}))
    with pytest.raises(DeskhandError, match="overlap") as caught:
        load_world(tmp_path / "scene.yaml")
    assert caught.value.code == "scene_file_error"


def test_the_example_can_be_loaded_and_comes_to_rest() -> None:
    simulation = Simulation(load_world(resource_path("config/tasks/example_scene.yaml")))
    assert not simulation.moving()
    assert len(simulation.truth().objects) == 8


def test_a_world_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    world = load_world(resource_path("config/tasks/example_scene.yaml"))
    save_world(world, tmp_path / "copy.yaml")
    again = load_world(tmp_path / "copy.yaml")
    for before, after in zip(world.objects, again.objects, strict=True):
        assert (after.name, after.kind, after.size, after.rgb, after.mass) == (before.name, before.kind, before.size, before.rgb, before.mass)
        assert np.allclose(after.pose, before.pose)
    assert np.allclose(again.camera.world_T_camera, world.camera.world_T_camera)


def test_a_calibration_board_may_be_all_there_is(tmp_path: Path) -> None:
    pose = [[1, 0, 0, -0.1], [0, -1, 0, 0.1], [0, 0, -1, 0.003], [0, 0, 0, 1]]
    world = world_from_dict({"board": {"name": "4x5@30/22mm", "pose": pose, "link": "tcp"}})
    assert world.objects == () and world.board is not None and (world.board.board, world.board.link) == ("4x5@30/22mm", "tcp")
    save_world(world, tmp_path / "scene.yaml")
    again = load_world(tmp_path / "scene.yaml").board
    assert again is not None and np.allclose(again.pose, pose) and (again.board, again.link) == ("4x5@30/22mm", "tcp")
    with pytest.raises(DeskhandError, match=re.escape("board.name: ")):
        world_from_dict({"board": {"name": "4x4@30/22mm", "pose": pose}})


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "mesh"])
def test_kind_and_place_are_enough_and_the_object_lies_on_the_desk(kind: str) -> None:
    item = world_from_dict({"objects": [{"kind": kind, "pose": [0.1, 0.05, 0.3]}]}).objects[0]
    bottom = item.pose[2, 3] - np.abs(item.pose[2, :3]) @ np.array(item.size) / 2
    assert 0 <= bottom <= 0.0015
    assert 0.001 <= item.mass < 0.6


def test_sizes_may_be_short() -> None:
    objects = [
        {"kind": "ball", "size": 0.03, "pose": [0, 0]},
        {"kind": "can", "size": [0.03, 0.06], "pose": [0.1, 0]},
        {"kind": "block", "size": 0.02, "pose": [0, 0.1]},
    ]
    assert [item.size for item in world_from_dict({"objects": objects}).objects] == [(0.03,) * 3, (0.03, 0.03, 0.06), (0.02,) * 3]


@pytest.mark.parametrize("color", ["red", "#c71a1a", [0.78, 0.10, 0.10]])
def test_colours_by_name_hex_or_numbers(color: object) -> None:
    for key in ("color", "colour"):
        assert world_from_dict({"objects": [{**BLOCK, key: color}]}).objects[0].rgb == pytest.approx((0.78, 0.10, 0.10), abs=0.003)


@pytest.mark.parametrize("size", [0.04, [0.04, 0.04, 0.04]])
def test_a_mesh_is_scaled_and_lies_on_the_desk(tmp_path: Path, size: object) -> None:
    tetrahedron(tmp_path / "shape.obj", 40.0)  # in millimetres
    world = world_from_dict({"objects": [{"mesh": "shape.obj", "size": size, "pose": [0.1, 0.0]}]}, folder=tmp_path)
    assert world.objects[0].size == pytest.approx((0.04, 0.04, 0.04))
    simulation = Simulation(world)
    body = simulation.built.object_bodies[0]
    assert simulation.model.body_subtreemass[body] == pytest.approx(world.objects[0].mass)
    assert -0.002 < simulation.truth().objects[0].pose[2, 3] - 0.02 < 0.002


def test_a_mesh_in_millimetres_without_a_size_is_refused(tmp_path: Path) -> None:
    tetrahedron(tmp_path / "shape.obj", 40.0)
    with pytest.raises(DeskhandError, match="give its size"):
        world_from_dict({"objects": [{"mesh": "shape.obj", "pose": [0.1, 0.0]}]}, folder=tmp_path)


def test_separate_parts_of_a_mesh_are_collided_with_separately(tmp_path: Path) -> None:
    boxes = []
    for x in (0.0, 0.08):  # two walls with a gap of 60 mm, joined below
        boxes.append((x, 0.0, 0.008, 0.02, 0.06, 0.052))
    boxes.append((0.0, 0.0, 0.0, 0.10, 0.06, 0.01))
    lines, count = [], 0
    for x, y, z, dx, dy, dz in boxes:
        lines += [f"v {x + dx * i} {y + dy * j} {z + dz * k}" for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        for a, b, c, d in ((1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)):
            lines.append(f"f {a + count} {b + count} {c + count} {d + count}")
        count += 8
    (tmp_path / "u.obj").write_text("\n".join(lines))
    objects = [
        {"mesh": "u.obj", "name": "u", "mass": 0.3, "pose": [0.1, 0.0]},
        {"kind": "ball", "name": "ball", "size": 0.04, "pose": {"x": 0.1, "y": 0.0, "z": 0.08}},
    ]
    simulation = Simulation(world_from_dict({"objects": objects}, folder=tmp_path))
    assert simulation.truth().get("ball").pose[2, 3] == pytest.approx(0.03, abs=0.002)


def test_binary_and_text_stl_hold_the_same_mesh(tmp_path: Path) -> None:
    vertices, faces = load_mesh(tetrahedron(tmp_path / "shape.obj", 0.03))
    triangles = vertices[faces]
    text = "".join("facet\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in triangle) + "endloop\nendfacet\n" for triangle in triangles)
    (tmp_path / "text.stl").write_text(f"solid shape\n{text}endsolid\n")
    records = np.zeros(len(triangles), dtype=[("n", "<3f4"), ("c", "<9f4"), ("a", "<u2")])
    records["c"] = triangles.reshape(-1, 9)
    (tmp_path / "binary.stl").write_bytes(bytes(80) + len(triangles).to_bytes(4, "little") + records.tobytes())
    for name in ("text.stl", "binary.stl"):
        again, corners = load_mesh(tmp_path / name)
        assert len(corners) == 4
        assert np.allclose(sorted(map(tuple, again)), sorted(map(tuple, vertices)), atol=1e-6)


@pytest.mark.parametrize("content", [b"", b"v 0 0 0\nf 1 2 3\n", b"v a b c\n", b"solid\n"])
def test_a_broken_mesh_is_named(tmp_path: Path, content: bytes) -> None:
    for name in ("broken.obj", "broken.stl"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DeskhandError, match=r"broken\.") as caught:
            load_mesh(tmp_path / name)
        assert caught.value.code == "invalid_input"
