"""Fixtures as bodies: what moves, by how much, what stays, and what falls where."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_about
from deskhand.sim.fixtures.kinds import FIXTURES, GRAVITY, LID_STOP, PAN_TRAVEL, STICK, hole_of
from deskhand.sim.fixtures.outlines import OUTLINES, around, natural_sides, outline, widened
from deskhand.sim.fixtures.spec import Recess
from deskhand.sim.gazebo.sdf import world_sdf
from deskhand.sim.gazebo.truth import position_of
from deskhand.sim.simulation import Simulation
from deskhand.sim.truth import truth_from_json, truth_to_json
from deskhand.sim.worldfile import load_world, world_from_dict, world_to_dict
from deskhand.types.resources import resource_path

HOLES = [{"outline": "square", "size": 0.03, "at": [0.0, -0.03]}, {"outline": "star", "size": 0.03, "at": [0.0, 0.03]}]
BALANCE = {"kind": "balance", "pose": [0.2, 0.0]}


def alone(kind: str, **fields: object) -> Simulation:
    holes = {"recesses": HOLES} if "recesses" in FIXTURES[kind].fields else {}
    return Simulation(world_from_dict({"fixtures": [{"kind": kind, "pose": [0.1, 0.2], **holes, **fields}]}))


def push(simulation: Simulation, joint: str, force: tuple[float, float, float], seconds: float) -> None:
    """Press on what the joint moves, in the world's axes [N], then let go."""
    body = simulation.model.body(joint).id
    simulation.data.xfrc_applied[body, :3] = force
    simulation.step(seconds)
    simulation.data.xfrc_applied[:] = 0


@pytest.mark.parametrize("kind", FIXTURES)
def test_every_kind_stands_still(kind: str) -> None:
    simulation = alone(kind)
    before = simulation.truth().joints
    simulation.step(0.5)
    assert not simulation.moving()
    assert simulation.truth().joints == pytest.approx(before, abs=1e-4)


def test_a_drawer_opens_when_it_is_pulled_and_stays_where_it_was_left() -> None:
    simulation = alone("drawer")
    joint = "drawer/drawer"
    friction = float(simulation.model.dof_frictionloss[simulation.model.joint(joint).dofadr[0]])
    push(simulation, joint, (-0.8 * friction, 0, 0), 0.5)
    assert abs(simulation.truth().joints[joint]) < 1e-3  # less than its friction does not move it
    push(simulation, joint, (-2.0 - friction, 0, 0), 0.08)
    simulation.step(0.5)
    opened = simulation.truth().joints[joint]
    assert 0.01 < opened < 0.09
    simulation.step(2.0)
    assert simulation.truth().joints[joint] == pytest.approx(opened, abs=1e-4)
    push(simulation, joint, (10.0, 0, 0), 0.5)
    assert abs(simulation.truth().joints[joint]) < 1.5e-3


def test_what_lies_in_a_drawer_comes_out_with_it() -> None:
    inside = {"kind": "block", "size": 0.02, "pose": {"x": 0.03, "y": 0.2, "z": 0.025}}
    simulation = Simulation(world_from_dict({"fixtures": [{"kind": "drawer", "pose": [0.1, 0.2], "open": 0.04}], "objects": [inside]}))
    start, opened = simulation.truth().get("block_1").pose[0, 3], simulation.truth().joints["drawer/drawer"]
    push(simulation, "drawer/drawer", (-1.2, 0, 0), 0.15)
    simulation.step(0.5)
    moved = simulation.truth().joints["drawer/drawer"] - opened
    assert moved > 0.01
    assert start - simulation.truth().get("block_1").pose[0, 3] == pytest.approx(moved, abs=0.004)


def test_a_lid_falls_shut_before_it_is_upright_and_leans_on_its_stop_beyond() -> None:
    simulation = alone("lid_box", open_deg=60)
    simulation.step(1.5)
    assert abs(simulation.truth().joints["lid_box/lid"]) < 0.01
    simulation = alone("lid_box", open_deg=100)
    simulation.step(1.5)
    assert simulation.truth().joints["lid_box/lid"] == pytest.approx(LID_STOP, abs=0.01)


@pytest.mark.parametrize(("left", "right"), [(0.010, 0.0), (0.030, 0.042), (0.020, 0.020), (0.080, 0.008)])
def test_a_balance_goes_down_on_the_heavier_side_as_far_as_its_equation_says(left: float, right: float) -> None:
    masses = {0.11: left, -0.11: right}
    objects = [{"kind": "block", "size": 0.03, "mass": mass, "pose": {"x": 0.2, "y": y, "z": 0.086}} for y, mass in masses.items() if mass]
    simulation = Simulation(world_from_dict({"fixtures": [BALANCE], "objects": objects}))
    simulation.step(1.5)
    joints, stiffness = simulation.truth().joints, simulation.built.spec.fixtures[0].stiffness
    wanted = float(np.clip(GRAVITY * (left - right) / stiffness, -PAN_TRAVEL, PAN_TRAVEL))
    assert joints["balance/left"] == pytest.approx(wanted, abs=STICK * GRAVITY / stiffness + 2e-4)
    assert joints["balance/right"] == pytest.approx(-joints["balance/left"], abs=2e-4)
    for item in simulation.truth().objects:
        assert item.pose[2, 2] > 0.9995  # the pans stay level


def test_a_ring_let_go_above_a_peg_falls_over_it_and_one_beside_it_does_not() -> None:
    rings = [{"shape": "peg_ring", "size": [0.034, 0.034, 0.012], "pose": {"x": x, "y": 0.085, "z": 0.066}} for x in (0.101, 0.112)]
    for ring, over in zip(rings, (True, False), strict=True):
        simulation = Simulation(world_from_dict({"fixtures": [{"kind": "peg_stand", "pose": [0.1, 0.0]}], "objects": [ring]}))
        simulation.step(0.5)
        pose = simulation.truth().objects[0].pose
        low = abs(pose[2, 3] - 0.018) < 0.001 and pose[2, 2] > 0.999
        assert low == over, pose


def test_a_cube_goes_through_its_hole_and_not_where_it_is_turned() -> None:
    sorter = {"kind": "shape_sorter", "pose": [0.1, 0.0], "recesses": HOLES}
    for yaw, through in ((0.0, True), (0.6, False)):
        cube = {"kind": "block", "size": 0.03, "pose": {"x": 0.1, "y": -0.03, "z": 0.077, "yaw": yaw}}
        simulation = Simulation(world_from_dict({"fixtures": [sorter], "objects": [cube]}))
        simulation.step(0.5)
        assert (simulation.truth().objects[0].pose[2, 3] < 0.03) == through


@pytest.mark.parametrize("name", OUTLINES)
def test_a_hole_is_free_and_the_plate_around_it_is_whole(name: str) -> None:
    from scipy.spatial import ConvexHull

    hole = hole_of(Recess(name, (0.03, 0.028), (0.005, -0.002), 0.4), 0.002)
    pieces = around(hole, (-0.03, -0.04), (0.04, 0.03), 0.0, 0.01)
    x, y = hole.T
    area = 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
    assert sum(ConvexHull(piece).volume for piece in pieces) == pytest.approx((0.07 * 0.07 - area) * 0.01, rel=1e-6)


@pytest.mark.parametrize("name", [name for name in OUTLINES if name not in ("star", "crescent")])  # their tips are too sharp to go out all the way
def test_a_piece_has_room_all_round_in_its_hole_in_notches_too(name: str) -> None:
    """The sharpest tip of a heart is its only place with less."""
    piece = outline(name, np.array(natural_sides(name)) * 0.036)
    hole = widened(piece, 0.002)
    starts, along = piece[:, None], (np.roll(piece, -1, axis=0) - piece)[:, None]
    share = np.linspace(0, 1, 60)[:, None, None]
    rim = (hole + (np.roll(hole, -1, axis=0) - hole) * share).reshape(-1, 2)
    nearest = np.clip(np.sum((rim - starts) * along, axis=2) / np.sum(along * along, axis=2), 0.0, 1.0)[..., None]
    room = np.linalg.norm(rim - (starts + nearest * along), axis=2).min(axis=0)
    assert room[rim[:, 1] > -0.012].min() > 0.00195 if name == "heart" else room.min() > 0.00195


def test_fixtures_written_and_read_again_are_the_same() -> None:
    world = load_world(resource_path("config/tasks/fixtures_scene.yaml"))
    again = world_from_dict(world_to_dict(world))
    assert world_to_dict(again) == world_to_dict(world)
    assert {item.kind for item in again.fixtures} == set(FIXTURES)


def test_the_scorer_gets_the_joints() -> None:
    truth = alone("drawer", open=0.03).truth()
    assert truth_from_json(truth_to_json(truth)).joints == truth.joints == {"drawer/drawer": pytest.approx(0.03)}


BAD = {
    "fixtures[0].kind": {"kind": "cupboard", "pose": [0, 0]},
    "fixtures[0].open": {"kind": "stand", "pose": [0, 0], "open": 0.1},
    "fixtures[0].pose": {"kind": "stand", "pose": [0, 3]},
    "fixtures[0].recesses[0].outline": {"kind": "kit", "pose": [0, 0], "recesses": [{"outline": "moon", "at": [0, 0]}]},
    "fixtures[0].handle": {"kind": "drawer", "pose": [0, 0], "handle": 3},
    "fixtures[0]": {"kind": "drawer", "pose": [0, 0], "open": 0.2},
}


@pytest.mark.parametrize("field", BAD)
def test_what_cannot_be_is_refused_with_the_field_and_what_is_valid(field: str) -> None:
    with pytest.raises(DeskhandError) as caught:
        world_from_dict({"fixtures": [BAD[field]]})
    assert caught.value.code == "scene_file_error" and caught.value.message.startswith(f"scene: {field}: ")


def test_holes_beyond_their_plate_and_fixtures_in_each_other_are_refused() -> None:
    wide = [{"outline": "circle", "size": 0.2, "at": [0, 0]}]
    with pytest.raises(DeskhandError, match="beyond its plate"):
        world_from_dict({"fixtures": [{"kind": "kit", "pose": [0, 0], "recesses": wide}]})
    block = {"kind": "block", "pose": {"x": 0.1, "y": 0.2, "z": 0.03}}
    with pytest.raises(DeskhandError, match="overlap"):
        Simulation(world_from_dict({"fixtures": [{"kind": "stand", "pose": [0.1, 0.2]}], "objects": [block]}))


def test_gazebo_gets_every_joint_with_its_friction_and_coupling(tmp_path: Path) -> None:
    world = load_world(resource_path("config/tasks/fixtures_scene.yaml"))
    sdf = ElementTree.fromstring(world_sdf(world, tmp_path))
    models = {model.attrib["name"]: model for model in sdf.iter("model")}
    joints = {joint.attrib["name"].removesuffix("/joint"): joint for model in models.values() for joint in model.findall("joint")}
    simulation = Simulation(world)
    assert {name for name in joints if not name.endswith("/fast")} == set(simulation.built.fixture_joints)
    assert all(f"{item.name}/fast" in joints for item in world.fixtures)
    for name, number in simulation.built.fixture_joints.items():
        friction = joints[name].findtext("axis/dynamics/friction")
        assert friction is not None and float(friction) == pytest.approx(simulation.model.dof_frictionloss[simulation.model.jnt_dofadr[number]])
    follower = joints["balance/right"].find("axis/mimic")
    assert follower is not None and follower.attrib["joint"] == "balance/left/joint" and float(follower.findtext("multiplier") or 0) == -1.0


def test_a_joint_is_read_from_the_pose_that_gazebo_tells() -> None:
    from deskhand.sim.fixtures.kinds import fixture_parts

    world = load_world(resource_path("config/tasks/fixtures_scene.yaml"))
    for item in world.fixtures:
        for joint in fixture_parts(item).joints:
            pose = np.eye(4)
            if joint.kind == "hinge":
                pose[:3, :3] = rotation_about(np.asarray(joint.axis), 0.7)
            else:
                pose[:3, 3] = 0.7 * np.asarray(joint.axis)
            assert position_of(joint, pose) == pytest.approx(0.7)


def test_an_outline_fills_its_box() -> None:
    for name in OUTLINES:
        assert np.ptp(outline(name, (0.03, 0.02)), axis=0) == pytest.approx([0.03, 0.02])
