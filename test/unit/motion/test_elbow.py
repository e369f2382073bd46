"""The spare joint of an arm with seven: other postures at one pose of the hand, chosen for room."""

from __future__ import annotations

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import pose_from_xyz_rpy, rotation_angle
from deskhand.motion.elbow import Elbow
from deskhand.motion.embedded import EmbeddedBackend
from deskhand.motion.numerical_ik import NumericalIk
from deskhand.safety.scene import PlanningScene
from deskhand.types import CollisionObject, Shape

MODEL = RobotModel.load(load_arm("panda"))
READY = np.array([0, -0.161, 0, -2.445, 0, 2.227, 0.785])
FINGERS = {"left_finger": 0.02, "right_finger": 0.02}
IK = NumericalIk(MODEL)


def elbow_at(joints):
    return MODEL.forward(dict(zip(MODEL.arm.joints, map(float, joints), strict=True)))["link4"][:3, 3]


@pytest.fixture(scope="module")
def backend():
    made = EmbeddedBackend(MODEL)
    yield made
    made.close()


def test_postures_keep_the_hand_where_it_is_and_move_the_elbow():
    pose = IK.pose(READY)
    postures = Elbow(MODEL).postures(pose, READY)
    assert len(postures) >= 8
    for joints in postures:
        reached = IK.pose(joints)
        assert np.linalg.norm(reached[:3, 3] - pose[:3, 3]) < 1e-4 and rotation_angle(reached, pose) < 1e-3
        assert all(MODEL.limits[name][0] <= value <= MODEL.limits[name][1] for name, value in zip(MODEL.arm.joints, joints, strict=True))
    elbows = np.array([elbow_at(joints) for joints in postures])
    assert np.ptp(elbows[:, 1]) > 0.15, "the elbow goes to the left and to the right"


def test_an_arm_without_a_spare_joint_has_none():
    elbow = Elbow(RobotModel.load(load_arm("wx250s")))
    assert not elbow.spare
    assert len(elbow.postures(np.eye(4), np.zeros(6))) == 0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_elbow_goes_round_what_stands_beside_it(backend, side):
    pose, elbow = IK.pose(READY), elbow_at(READY)
    post = CollisionObject("post", (Shape("box", (0.3, 0.12, 0.12)),), pose_from_xyz_rpy(elbow + np.array([0.0, side * 0.05, 0.0]), (0.0, 0.0, 0.0)))
    scene = PlanningScene({"post": post})
    assert backend.in_collision(scene, READY, FINGERS)
    found = backend.solve_ik(scene, pose, READY, FINGERS)
    assert found and found[0].collision_free
    assert abs((elbow_at(found[0].joints) - elbow)[1]) > 0.05, "round the post, on either side of it"
    assert np.abs(found[0].joints - READY).max() < 2.0, "and not by another way to stand altogether"


def test_a_posture_with_room_to_its_joints_ends_is_preferred(backend):
    """A base turned as far as it goes: from there nothing can be followed. Without the spare joint's help the start itself is the answer each time."""
    poses, rng = Elbow(MODEL), np.random.default_rng(3)
    end = MODEL.limits["panda_joint1"][0]
    better = 0
    for _ in range(20):
        joints = READY + rng.normal(0, 0.3, 7)
        joints[0] = end + 0.05
        assert poses.at_limit(joints)
        found = backend.solve_ik(PlanningScene(), IK.pose(joints), joints, FINGERS)
        better += bool(found) and not poses.at_limit(found[0].joints)
    assert better >= 15, better
