"""Worlds for Gazebo against the specs that they are made from; with Gazebo's own parser where it is installed."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, pose_from_xyz_rpy, rotation_angle
from deskhand.sim.gazebo.files import write_gazebo
from deskhand.sim.gazebo.sdf import LINK, POSE_RATE, ROOM, world_sdf
from deskhand.sim.spec import BoardSpec, ObjectSpec, WorldSpec, pose_at
from deskhand.tasks import world_of
from deskhand.types.meshes import load_mesh

KINDS = {
    "block": (0.04, 0.03, 0.02),
    "ball": (0.04, 0.04, 0.04),
    "cup": (0.07, 0.07, 0.09),
    "can": (0.06, 0.06, 0.1),
    "pen": (0.012, 0.012, 0.14),
    "bin": (0.15, 0.2, 0.1),
}
TURNED = make_transform(pose_from_xyz_rpy((0, 0, 0), (0.3, -0.5, 1.1))[:3, :3], (0.1, -0.2, 0.4))


def numbers(element: ElementTree.Element | None) -> list[float]:
    assert element is not None and element.text
    return [float(part) for part in element.text.split()]


def pose(element: ElementTree.Element) -> np.ndarray:
    values = numbers(element.find("pose"))
    return pose_from_xyz_rpy(values[:3], values[3:])


def extents(link: ElementTree.Element, folder: Path) -> np.ndarray:
    """Size (3,) of the box around all that is seen of a link."""
    points = []
    for visual in link.findall("visual"):
        geometry = visual.find("geometry")
        assert geometry is not None
        kind = geometry[0]
        if kind.tag == "mesh":
            corners = load_mesh(folder / str(kind.findtext("uri")))[0]
        else:
            if kind.tag == "box":
                half = np.array(numbers(kind.find("size"))) / 2
            elif kind.tag == "sphere":
                half = np.full(3, numbers(kind.find("radius"))[0])
            else:
                radius, length = numbers(kind.find("radius"))[0], numbers(kind.find("length"))[0]
                half = np.array([radius, radius, length / 2])
            corners = np.array(list(itertools.product((-1, 1), repeat=3))) * half
        placed = pose(visual)
        points.append(corners @ placed[:3, :3].T + placed[:3, 3])
    return np.asarray(np.ptp(np.concatenate(points), axis=0))


def check_objects(world: WorldSpec, folder: Path) -> None:
    sdf = ElementTree.fromstring(world_sdf(world, folder))
    models = {model.attrib["name"]: model for model in sdf.iter("model")}
    assert set(models) == {ROOM, *(item.name for item in world.objects)}
    for item in world.objects:
        model = models[item.name]
        link = model.find(f"link[@name='{LINK}']")
        assert link is not None and link.find("collision") is not None
        placed = pose(model)
        assert placed[:3, 3] == pytest.approx(item.pose[:3, 3], abs=1e-6)
        assert rotation_angle(placed, item.pose) < 1e-5
        assert numbers(link.find("inertial/mass"))[0] == pytest.approx(item.mass, rel=1e-6)
        assert extents(link, folder) == pytest.approx(np.array(item.size), abs=1.1e-3), item.kind  # a can has lids


@pytest.mark.parametrize("task", ["desk_cleaning", "block_building"])
def test_everything_of_a_tasks_world_is_there_as_the_task_says(task: str, tmp_path: Path) -> None:
    check_objects(world_of("wx250s", task, 5, None, "none"), tmp_path)


def test_every_kind_keeps_pose_mass_and_size(tmp_path: Path) -> None:
    items = [
        ObjectSpec(f"thing {number}", kind, size, (0.8, 0.1, 0.1), 0.03 + 0.01 * number, TURNED if number == 0 else pose_at(0.1 * number, 0, 0.1, 0.4))
        for number, (kind, size) in enumerate(KINDS.items())
    ]
    shaped = ObjectSpec("shaped", "mesh", (0.06, 0.05, 0.04), (0, 0.5, 0), 0.1, pose_at(0, 0.3, 0.1), shape="wedge")
    check_objects(WorldSpec((*items, shaped)), tmp_path)


def test_inertia_is_that_of_a_solid_cuboid(tmp_path: Path) -> None:
    size, mass = np.array([0.06, 0.04, 0.02]), 0.2
    world = WorldSpec((ObjectSpec("block", "block", (0.06, 0.04, 0.02), (1, 0, 0), mass, pose_at(0, 0, 0.01)),))
    link = ElementTree.fromstring(world_sdf(world, tmp_path)).find(f".//model[@name='block']/link[@name='{LINK}']")
    assert link is not None
    turned = pose_from_xyz_rpy((0, 0, 0), numbers(link.find("inertial/pose"))[3:])[:3, :3]
    principal = np.diag([numbers(link.find(f"inertial/inertia/{name}"))[0] for name in ("ixx", "iyy", "izz")])
    expected = np.diag([mass * (np.sum(size**2) - side**2) / 12 for side in size])
    assert turned @ principal @ turned.T == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_the_desks_top_is_at_zero_and_the_room_stands_still(tmp_path: Path) -> None:
    sdf = ElementTree.fromstring(world_sdf(world_of("wx250s", "desk_cleaning", 0, None, "none"), tmp_path))
    room = sdf.find(f".//model[@name='{ROOM}']")
    assert room is not None and room.findtext("static") == "true"
    board = next(item for item in room.iter("collision") if item.find("geometry/box") is not None)
    assert pose(board)[2, 3] + numbers(board.find("geometry/box/size"))[2] / 2 == pytest.approx(0.0, abs=1e-9)
    assert sdf.findtext(".//dynamic_pose_hertz") == str(POSE_RATE)
    assert {light.attrib["type"] for light in sdf.iter("light")} == {"directional"}


def test_a_calibration_board_is_refused(tmp_path: Path) -> None:
    world = WorldSpec((), board=BoardSpec("a4", pose_at(0, 0, 0.1)))
    with pytest.raises(DeskhandError) as caught:
        world_sdf(world, tmp_path)
    assert caught.value.code == "invalid_input"


def parser() -> str:
    """Gazebo's command that reads SDF; skips where there is none."""
    for program in ("gz", "ign"):
        if shutil.which(program) and subprocess.run([program, "sdf", "--help"], capture_output=True, timeout=60, check=False).returncode == 0:
            return program
    pytest.skip("no `gz sdf` (Gazebo Harmonic) nor `ign sdf`")


@pytest.mark.parametrize("arm", ["wx250s", "jetarm", "so101"])
def test_gazebos_own_parsers_take_the_world_and_the_arm(arm: str, tmp_path: Path) -> None:
    program = parser()
    files = write_gazebo(world_of(arm, "desk_cleaning", 3, None, "none"), tmp_path)
    for file in (tmp_path / "arm.urdf", files.sdf):
        checked = subprocess.run([program, "sdf", "-k", str(file)], capture_output=True, text=True, timeout=60, check=False)
        assert checked.returncode == 0 and "Valid" in checked.stdout, checked.stdout + checked.stderr
    printed = subprocess.run([program, "sdf", "-p", str(tmp_path / "arm.urdf")], capture_output=True, text=True, timeout=60, check=True).stdout
    model = ElementTree.fromstring(printed).find("model")
    assert model is not None
    joints = {joint.attrib["name"]: joint.attrib["type"] for joint in model.findall("joint")}
    assert {name for name, kind in joints.items() if kind != "fixed"} == {*load_arm(arm).joints, *RobotModel.load(load_arm(arm)).fingers}
    collisions = {item.attrib["name"] for item in model.iter("collision") if "name" in item.attrib}
    felt = {str(item.text) for item in model.iterfind(".//sensor/contact/collision")}
    assert felt and felt <= collisions  # what the contact sensors listen to is what the parser has made of the fingers
    assert [sensor.attrib["type"] for sensor in model.iter("sensor")].count("rgbd_camera") == 1
