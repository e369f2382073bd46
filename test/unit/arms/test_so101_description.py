"""The SO-101: limits of the datasheet table, joints where the public description has them, the same in every mode."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.description import urdf_text
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import pose_from_xyz_rpy

ARM = load_arm("so101")
ROBOT = RobotModel.load(ARM)
LIMITS = {
    "shoulder_pan": (-1.92, 1.92),
    "shoulder_lift": (-1.745, 1.745),
    "elbow_flex": (-1.69, 1.69),
    "wrist_flex": (-1.658, 1.658),
    "wrist_roll": (-2.744, 2.841),
}
# so101_new_calib.urdf: origin (xyz, rpy) of every joint in the frame before; each turns about its own z
CHAIN = [
    ((0.0207909, -0.0230745, 0.0948817), (-math.pi, 0, math.pi / 2)),
    ((-0.0303992, -0.0182778, -0.0542), (-math.pi / 2, -math.pi / 2, 0)),
    ((-0.11257, -0.028, 0), (0, 0, math.pi / 2)),
    ((-0.1349, 0.0052, 0), (0, 0, -math.pi / 2)),
    ((0, -0.0611, 0.0181), (math.pi / 2, 0, math.pi)),
]
BASE = (0.020791, 0.0157608 - 0.03884, 0.0324817)  # on the axis of shoulder_pan, at the height of the table
TCP = 0.0981


def published_tcp(angles: np.ndarray) -> np.ndarray:
    """Where the tcp is by the public chain, in axes x forward, y left."""
    pose = np.eye(4)
    for (xyz, rpy), angle in zip(CHAIN, angles, strict=True):
        pose = pose @ pose_from_xyz_rpy(xyz, rpy) @ pose_from_xyz_rpy((0, 0, 0), (0, 0, angle))
    point = (pose @ np.array([0, 0, -TCP, 1]))[:3] - BASE
    return np.array([-point[1], point[0], point[2]])


def test_limits_are_those_of_the_datasheet() -> None:
    for joint, limits in LIMITS.items():
        assert ROBOT.limits[joint][:2] == pytest.approx(limits)


def test_the_tcp_is_where_the_published_description_has_it() -> None:
    generator = np.random.default_rng(0)
    for _ in range(100):
        joints = np.array([generator.uniform(*LIMITS[joint]) for joint in ARM.joints])
        ours = (np.linalg.inv(ARM.world_T_base) @ ROBOT.tcp_pose(ROBOT.arm_joints(joints)))[:3, 3]
        assert np.abs(ours - published_tcp(joints)).max() < 0.0006  # 0.2 mm by which its plane misses the base's axis are left out


def test_servos_reach_the_limits_of_their_joints() -> None:
    for joint, (low, high) in LIMITS.items():
        servo = ARM.driver.servos[joint]
        assert servo.pulse_of(0) == 2048
        ends = sorted(servo.angle_of(tick) for tick in ARM.driver.ticks)
        assert ends[0] <= low and high <= ends[1]
    assert [servo.id for servo in ARM.driver.servos.values()] == [1, 2, 3, 4, 5]
    gripper = ARM.driver.gripper
    assert gripper is not None and gripper.id == 6
    closed, opened = (gripper.ticks_of(width) for width in (ARM.gripper.width_min, ARM.gripper.width_max))
    assert -0.1745 - 0.01 <= (closed - 2048) * 2 * math.pi / 4096 < (opened - 2048) * 2 * math.pi / 4096 <= 1.745


def test_its_modes_are_those_without_a_hardware_interface() -> None:
    for mode in ("mock", "gazebo"):
        system = ElementTree.fromstring(urdf_text(ARM, mode)).find("ros2_control")
        assert system is not None
        commanded = {joint.attrib["name"] for joint in system.findall("joint") if joint.find("command_interface") is not None}
        assert commanded == {*ARM.joints, ARM.gripper.joint}
    with pytest.raises(DeskhandError, match="no ros2_control hardware"):
        urdf_text(ARM, "hardware")
