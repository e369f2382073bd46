"""Transforms from the URDF chain to the same poses as the model's forward kinematics; mimic joints follow, unknown joints are left out."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.description import urdf_text
from deskhand.arms.frames import LinkTransforms
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError


def composed(transforms, link):
    above = {item.child: item for item in transforms}
    pose = np.eye(4)
    while link in above:
        pose = above[link].pose @ pose
        link = above[link].parent
    return pose


@pytest.mark.parametrize("name", ["wx250s", "so101", "jetarm", "panda"])
def test_fixed_and_moving_transforms_together_are_the_forward_kinematics(name):
    model, links = RobotModel.load(name), LinkTransforms(urdf_text(load_arm(name)))
    draw = np.random.default_rng(3)
    told = [joint.name for joint in model.joints.values() if joint.kind != "fixed" and joint.mimic is None]
    joints = {joint: float(draw.uniform(*np.clip(model.limits[joint][:2], -3, 3))) for joint in told}
    transforms = [*links.fixed(), *links.moving(joints)]
    assert {item.child for item in transforms} == set(model.links) - {model.root}
    for link, pose in model.forward(joints).items():
        assert np.allclose(composed(transforms, link), pose, atol=1e-12), link


def test_a_joint_that_nobody_told_of_has_no_transform():
    links = LinkTransforms(urdf_text(load_arm("jetarm")))
    first, *_ = (joint for joint in links.joints.values() if joint.kind != "fixed")
    assert [item.child for item in links.moving({first.name: 0.3, "no such joint": 1.0})] == [first.child]
    assert links.moving({}) == []


@pytest.mark.parametrize("text", ["", "not xml", "<robot/>", "<robot><joint name='a' type='fixed'><parent link='b'/></joint></robot>"])
def test_what_is_no_urdf_is_said_to_be_none(text):
    with pytest.raises(DeskhandError) as caught:
        LinkTransforms(text)
    assert caught.value.code == "config_error" and "robot_description" in str(caught.value)
