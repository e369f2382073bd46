"""The JetArm: limits and lengths of the vendor's tables, frames of its modified DH parameters, the same in MuJoCo."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.description import urdf_text
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array

ARM = load_arm("jetarm")
ROBOT = RobotModel.load(ARM)
JOINTS = ARM.joints

# The vendor's table (jetarm_6dof_params.py): joint range [degrees], and the joint angle at pulses 0 and 1000 [degrees]
DATASHEET = {
    "joint1": (-120, 120, -120, 120),
    "joint2": (-180, 0, 30, -210),
    "joint3": (-120, 120, 120, -120),
    "joint4": (-200, 20, 30, -210),
    "joint5": (-120, 120, -120, 120),
}
# alpha [degrees] and a [m] of the link before, d [m]: Craig's convention
BASE, LINK1, LINK2, LINK3, TOOL = 0.10315, 0.12942, 0.12942, 0.05946, 0.112
MODIFIED_DH = [(0, 0, BASE), (-90, 0, 0), (0, LINK1, 0), (0, LINK2, 0), (-90, 0, LINK3 + TOOL)]


def modified_dh(angles: Array) -> list[Array]:
    """base_T_link of every link, each row of the table as one matrix (Craig, Introduction to Robotics, eq. 3.6)."""
    pose, result = np.eye(4), []
    for (alpha, a, d), theta in zip(MODIFIED_DH, angles, strict=True):
        ca, sa = math.cos(math.radians(alpha)), math.sin(math.radians(alpha))
        ct, st = math.cos(theta), math.sin(theta)
        pose = pose @ np.array([[ct, -st, 0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca], [0, 0, 0, 1]])
        result.append(pose)
    return result


@pytest.mark.parametrize("joint", DATASHEET)
def test_limits_and_pulses_are_those_of_the_vendor(joint: str) -> None:
    low, high, at_0, at_1000 = DATASHEET[joint]
    assert ROBOT.limits[joint][:2] == (pytest.approx(math.radians(low)), pytest.approx(math.radians(high)))
    servo = ARM.driver.servos[joint]
    assert servo.id == 1 + JOINTS.index(joint)
    assert (servo.angle_of(0), servo.angle_of(1000)) == (pytest.approx(math.radians(at_0)), pytest.approx(math.radians(at_1000)))
    assert servo.pulse_of(servo.angle_of(333)) == pytest.approx(333)
    assert abs(servo.angle_of(1) - servo.angle_of(0)) == pytest.approx(ARM.resolution, abs=1e-5)
    assert ARM.max_velocity[JOINTS.index(joint)] <= ROBOT.limits[joint][2]


@pytest.mark.parametrize(("name", "pulses"), [("upright", (500, 500, 500, 500, 500)), ("start", (500, 560, 115, 130, 500))])
def test_named_poses_of_the_vendor_are_its_pulses(name: str, pulses: tuple[int, ...]) -> None:
    angles = [ARM.driver.servos[joint].angle_of(pulse) for joint, pulse in zip(JOINTS, pulses, strict=True)]
    assert ARM.named_poses[name] == pytest.approx(angles, abs=1e-4)


def test_upright_is_upright_and_as_tall_as_the_lengths_say() -> None:
    tcp = np.linalg.inv(ARM.world_T_base) @ ROBOT.tcp_pose(ROBOT.arm_joints(ARM.named_poses["upright"]))
    assert tcp[:3, 3] == pytest.approx([0, 0, BASE + LINK1 + LINK2 + LINK3 + TOOL], abs=1e-5)
    assert tcp[:3, 2] == pytest.approx([0, 0, 1], abs=1e-5)
    assert pytest.approx(LINK1 + LINK2 + LINK3 + TOOL, abs=0.002) == ARM.reach  # the vendor quotes 429 mm


def test_forward_kinematics_are_the_modified_dh_table() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        joints = {name: rng.uniform(low, high) for name, (low, high, _, _) in ROBOT.limits.items()}
        poses = ROBOT.forward(joints)
        table = modified_dh(np.array([joints[name] for name in JOINTS]))
        np.testing.assert_allclose(np.linalg.inv(poses["base_link"]) @ poses["tcp"], table[-1], atol=1e-9)
        for link, frame in zip(("link2", "link3", "link4"), table[1:4], strict=True):
            np.testing.assert_allclose(np.linalg.inv(poses["base_link"]) @ poses[link], frame, atol=1e-9)


def test_another_unit_has_its_own_lengths() -> None:
    other = RobotModel.load(replace(ARM, geometry={**ARM.geometry, "link1": 0.15, "tool": 0.10}))
    tall = other.tcp_pose(other.arm_joints(ARM.named_poses["upright"]))[2, 3] - ARM.world_T_base[2, 3]
    assert tall == pytest.approx(BASE + 0.15 + LINK2 + LINK3 + 0.10, abs=1e-5)


@pytest.mark.parametrize("width", [0.002, 0.03, 0.06])
def test_the_gap_between_the_pads_is_the_width_of_the_configuration(width: float) -> None:
    poses = ROBOT.forward({"left_finger": ARM.gripper.position_of(width)})
    faces = []
    for side, sign in (("left", -1), ("right", 1)):
        pad = ROBOT.shapes[f"{side}_finger_link"][0]
        local = np.linalg.inv(poses["tcp"]) @ poses[f"{side}_finger_link"] @ pad.pose
        faces.append(local[1, 3] + sign * pad.size[1] / 2)
        assert local[2, 3] + pad.size[2] / 2 == pytest.approx(ARM.gripper.finger_depth)
    assert faces[0] - faces[1] == pytest.approx(width, abs=1e-9)


def test_ros2_control_has_no_hardware_interface_for_it_and_says_so() -> None:
    for mode in ("mock", "gazebo"):
        system = ElementTree.fromstring(urdf_text(ARM, mode)).find("ros2_control")
        assert system is not None
        commanded = {joint.attrib["name"] for joint in system.findall("joint") if joint.find("command_interface") is not None}
        assert commanded == {*JOINTS, ARM.gripper.joint}
    with pytest.raises(DeskhandError, match="no ros2_control hardware") as caught:
        urdf_text(ARM, "hardware")
    assert caught.value.code == "config_error"
