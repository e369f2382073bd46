"""The Panda against the maker's data sheet, and its forward kinematics against an independent chain of the same table."""

from __future__ import annotations

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, inverse, make_transform, rotation_rpy

ARM = load_arm("panda")
ROBOT = RobotModel.load(ARM)

# Franka's Denavit-Hartenberg table (modified, after Craig): a, d, alpha of each joint; limits [rad]; torque [N m]; speed [rad/s]
TABLE = (
    (0.0, 0.333, 0.0, -2.8973, 2.8973, 87, 2.1750),
    (0.0, 0.0, -np.pi / 2, -1.7628, 1.7628, 87, 2.1750),
    (0.0, 0.316, np.pi / 2, -2.8973, 2.8973, 87, 2.1750),
    (0.0825, 0.0, np.pi / 2, -3.0718, -0.0698, 87, 2.1750),
    (-0.0825, 0.384, -np.pi / 2, -2.8973, 2.8973, 12, 2.6100),
    (0.0, 0.0, np.pi / 2, -0.0175, 3.7525, 12, 2.6100),
    (0.088, 0.0, np.pi / 2, -2.8973, 2.8973, 12, 2.6100),
)


def link7(joints: Array) -> Array:
    """base_T_link7 by the table alone."""
    pose = np.eye(4)
    for (a, d, alpha, *_), angle in zip(TABLE, joints, strict=True):
        ca, sa, c, s = np.cos(alpha), np.sin(alpha), np.cos(angle), np.sin(angle)
        pose = pose @ np.array([[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]])
    return pose


def test_limits_are_those_of_the_datasheet() -> None:
    for name, (*_, lower, upper, torque, speed) in zip(ARM.joints, TABLE, strict=True):
        assert ROBOT.limits[name] == pytest.approx((lower, upper, speed, torque)), name


def test_forward_kinematics_are_those_of_the_makers_table() -> None:
    draw = np.random.default_rng(7)
    lower, upper = np.array([ROBOT.limits[name][:2] for name in ARM.joints]).T
    for joints in draw.uniform(lower, upper, (20, 7)):
        found = inverse(ARM.world_T_base) @ ROBOT.forward(ROBOT.arm_joints(joints))["link7"]
        assert np.allclose(found, link7(joints), atol=1e-9)


@pytest.mark.parametrize(
    ("geometry", "length", "yaw"),
    [({}, 0.107 + 0.1034, -np.pi / 4), ({"hand_length": 0.1065, "hand_yaw": -0.785891, "tcp_length": 0.097}, 0.2035, -2.35669 + np.pi / 2)],
    ids=["the maker's hand", "the hand of robosuite"],
)
def test_the_tcp_lies_between_the_pads_and_closes_along_y(tmp_path, geometry, length, yaw) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: panda\n" + (f"geometry: {{ {', '.join(f'{name}: {value}' for name, value in geometry.items())} }}\n" if geometry else ""))
    robot = RobotModel.load(load_arm(str(file)))
    poses = robot.forward({"left_finger": 0.02})
    assert inverse(poses["link7"]) @ poses["tcp"] == pytest.approx(make_transform(rotation_rpy(0, 0, yaw), [0, 0, length]), abs=1e-5)
    faces = []
    for side, sign in (("left", -1), ("right", 1)):
        pad = robot.shapes[f"{side}_finger_link"][1]
        middle = (inverse(poses["tcp"]) @ poses[f"{side}_finger_link"] @ pad.pose)[:3, 3]
        faces.append(middle[1] + sign * pad.size[1] / 2)
    assert faces[0] - faces[1] == pytest.approx(robot.arm.gripper.width_of(0.02), abs=1e-9) == 0.039


def test_the_elbow_is_free_to_choose() -> None:
    """Seven joints: a pose of the tcp has a whole line of postures, along which the elbow swings."""
    joints = np.array(ARM.named_poses["ready"])
    jacobian = np.zeros((6, 7))
    here = ROBOT.tcp_pose(ROBOT.arm_joints(joints))
    for index in range(7):
        there = ROBOT.tcp_pose(ROBOT.arm_joints(joints + 1e-6 * np.eye(7)[index]))
        turn = here[:3, :3].T @ there[:3, :3]
        jacobian[:, index] = [*(there[:3, 3] - here[:3, 3]) / 1e-6, turn[2, 1] / 1e-6, turn[0, 2] / 1e-6, turn[1, 0] / 1e-6]
    assert np.linalg.matrix_rank(jacobian, tol=1e-3) == 6
    still = np.linalg.svd(jacobian)[2][-1]
    moved = ROBOT.forward(ROBOT.arm_joints(joints + 0.05 * still))
    assert np.linalg.norm(moved["tcp"][:3, 3] - here[:3, 3]) < 2e-3
    assert np.linalg.norm(moved["link4"][:3, 3] - ROBOT.forward(ROBOT.arm_joints(joints))["link4"][:3, 3]) > 1e-3
