"""Reach in closed form agrees with the arm's forward kinematics."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import make_transform
from deskhand.grasping.planar import PlanarReach, is_planar


@pytest.fixture(scope="module")
def model():
    return RobotModel.load(load_arm("jetarm"))


def test_only_arms_that_bend_in_one_plane_are_planar(model):
    assert is_planar(model)
    assert not is_planar(RobotModel.load(load_arm("wx250s")))


def test_every_pose_that_joints_make_is_within_reach(model):
    rng = np.random.default_rng(4)
    low, high = np.array([model.limits[name][:2] for name in model.arm.joints]).T
    poses = np.stack([model.tcp_pose(model.arm_joints(rng.uniform(low, high))) for _ in range(300)])
    reach = PlanarReach(model)
    assert reach.within(poses).all()
    found = np.stack([model.tcp_pose(model.arm_joints(joints)) for joints in reach.joints(poses)])
    assert np.abs(found[:, :3, 3] - poses[:, :3, 3]).max() < 0.002
    assert np.abs(found[:, :3, 2] - poses[:, :3, 2]).max() < 0.02


def test_a_stretched_arm_reaches_no_further(model):
    reach = PlanarReach(model)
    stretched = model.tcp_pose(dict(zip(model.arm.joints, (0.3, -1.0, 0.0, -1.5, 0.0), strict=True)))
    out = np.array([np.cos(0.3) * np.cos(1.0), np.sin(0.3) * np.cos(1.0), np.sin(1.0)])
    assert reach.within(stretched[None]).all()
    assert not reach.within((make_transform(translation=0.01 * out) @ stretched)[None]).any()


def test_a_wrist_beyond_its_limit_is_out_of_reach(model):
    rng, names = np.random.default_rng(5), model.arm.joints
    over = model.limits[names[3]][1] + 0.5
    # nearly straight, so that the elbow bent the other way does not help
    joints = [(rng.uniform(-1, 1), rng.uniform(-2.2, -0.9), rng.uniform(-0.05, 0.05), over, 0.0) for _ in range(50)]
    poses = np.stack([model.tcp_pose(dict(zip(names, row, strict=True))) for row in joints])
    assert not PlanarReach(model).within(poses).any()
