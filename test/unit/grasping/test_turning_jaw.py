"""Grasps for a gripper of one fixed jaw and one that turns."""

import json

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, make_transform, transform_points
from deskhand.grasping.collision import closing
from deskhand.grasping.generator import GraspGenerator
from deskhand.grasping.remote import RemoteGraspGenerator
from deskhand.perception.fit.surface import complete_surface
from deskhand.testing.desk_scene import desk, one_of_each
from deskhand.testing.desk_scene import scene_object as an_object

ARM = load_arm("so101")
GRIPPER = ARM.gripper
KINDS = [item.id for item in one_of_each() if not item.is_container]


def assert_stands_off(grasp, item):
    """The fixed pad stands beside the object by its gap, the open jaw and the rest of the hand are free of it."""
    points = transform_points(inverse(grasp.pose), complete_surface(item, 0.002).points)
    opened = np.array([grasp.opening])
    met = closing(grasp.pose[None], opened, GRIPPER, complete_surface(item, 0.002).points)
    gap = GRIPPER.stand_off(opened, met.width)[0]
    assert met.low[0] - GRIPPER.pad_face == pytest.approx(gap, abs=0.002) and gap >= 0.003
    for part in GRIPPER.finger_parts(opened):
        y, z = part.seen_from(points[None, :, 1], points[None, :, 2])
        local = np.column_stack([points[:, 0], y[0], z[0]])
        assert not np.any(np.all(np.abs(local - part.centre[0]) < part.half[0] - 0.0005, axis=1))


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_grasps_beside_the_fixed_jaw(name):
    scene = desk(*one_of_each())
    grasps = GraspGenerator(ARM).generate(scene, name)
    assert len(grasps) >= 3
    for grasp in grasps:
        assert_stands_off(grasp, scene.get(name))
        middle = transform_points(inverse(grasp.pose), grasp.contacts).mean(axis=0)
        width = abs(float((grasp.contacts[1] - grasp.contacts[0]) @ grasp.pose[:3, 1]))
        expected = GRIPPER.tcp_offset(width)[1] + GRIPPER.stand_off(np.array(grasp.opening), np.array(width))
        assert middle[1] == pytest.approx(expected, abs=0.006)
        assert grasp.friction_margin <= np.arctan(0.62) - max(0.0, float(GRIPPER.angle(width))) + 0.005  # a lean that is turned into the arm's plane


def test_the_turning_jaw_takes_its_room_on_the_free_side():
    """A wall 18 mm beside a block: only the fixed jaw goes there."""
    block = an_object("block_1", "box", (0.03, 0.05, 0.03), (0.0, 0.0, 0.015))
    wall = an_object("box_1", "box", (0.05, 0.2, 0.03), (0.015 + 0.018 + 0.025, 0.0, 0.015), color="brown")
    grasps = [grasp for grasp in GraspGenerator(ARM).generate(desk(block, wall), "block_1") if abs(grasp.pose[0, 1]) > 0.9]
    assert grasps and all(grasp.pose[0, 1] < -0.9 for grasp in grasps), "the jaw opens away from the wall"


def test_a_block_wider_than_the_lean_allows_is_refused_though_the_jaw_opens_wider():
    wide = an_object("block_1", "box", (0.062, 0.062, 0.03), (0.0, 0.0, 0.015))
    assert GRIPPER.widest(0.62) < 0.062 < GRIPPER.width_max - 0.004
    with pytest.raises(DeskhandError, match=r"no two sides between 4 and 55 mm apart"):
        GraspGenerator(ARM).generate(desk(wide), "block_1")


def test_a_predictors_pose_is_the_middle_between_the_pads(monkeypatch):
    block = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.0, 0.0, 0.015))
    proposal = make_transform(np.diag([1.0, -1.0, -1.0]), (0.0, 0.0, 0.012))
    generator = RemoteGraspGenerator(ARM, "http://127.0.0.1:9/")
    monkeypatch.setattr(generator, "_ask", lambda message: json.loads(json.dumps({"grasps": [{"pose": proposal.tolist()}]})))
    grasps = generator.generate(desk(block), "block_1")
    assert {float(np.sign(grasp.pose[1, 1])) for grasp in grasps} == {1.0, -1.0}, "from either side"
    for grasp in grasps:
        assert_stands_off(grasp, block)
