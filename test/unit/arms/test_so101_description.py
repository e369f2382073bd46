"""The SO-101: limits of the datasheet table, joints where the public description has them, the same in every mode."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.description import urdf_text
from deskhand.arms.gripper import PivotGripper
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
    ((0, -0.0611, 0.0181), (math.pi / 2, 0.0486795, math.pi)),
]
BASE = (0.020791, 0.0157608 - 0.03884, 0.0324817)  # on the axis of shoulder_pan, at the height of the table
TCP = 0.0981
JAW = (0.0202, 0.0188, -0.0234), (math.pi / 2, 0, 0)  # the same of the jaw's joint in the gripper's frame


def published(angles: np.ndarray) -> np.ndarray:
    """base_T_gripper by the public chain, the base's axes x forward, y left. Its z points back out of the gripper, its x from the fixed to the turning jaw."""
    pose = np.eye(4)
    for (xyz, rpy), angle in zip(CHAIN, angles, strict=True):
        pose = pose @ pose_from_xyz_rpy(xyz, rpy) @ pose_from_xyz_rpy((0, 0, 0), (0, 0, angle))
    pose[:3, 3] -= BASE
    turn = np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    return turn @ pose


def published_tcp(angles: np.ndarray) -> np.ndarray:
    """Where the tcp is by the public chain."""
    return (published(angles) @ np.array([0, 0, -TCP, 1]))[:3]


def test_limits_are_those_of_the_datasheet() -> None:
    for joint, limits in LIMITS.items():
        assert ROBOT.limits[joint][:2] == pytest.approx(limits)


def test_the_tcp_is_where_the_published_description_has_it() -> None:
    generator = np.random.default_rng(0)
    for _ in range(100):
        joints = np.array([generator.uniform(*LIMITS[joint]) for joint in ARM.joints])
        ours = (np.linalg.inv(ARM.world_T_base) @ ROBOT.tcp_pose(ROBOT.arm_joints(joints)))[:3, 3]
        assert np.abs(ours - published_tcp(joints)).max() < 0.0006  # 0.2 mm by which its plane misses the base's axis are left out


def test_the_closing_direction_is_the_published_one() -> None:
    joints = np.array([0.3, -0.4, 0.5, 0.9, 0.7])
    tcp = (np.linalg.inv(ARM.world_T_base) @ ROBOT.tcp_pose(ROBOT.arm_joints(joints)))[:3, :3]
    assert np.abs(tcp[:, 1] - published(joints)[:3, 0]).max() < 1e-5
    assert np.abs(tcp[:, 2] + published(joints)[:3, 2]).max() < 1e-5


def test_the_jaw_turns_about_the_published_axis() -> None:
    """A point on the jaw, by the public chain and by ours, at every angle."""
    arm = np.array([0.3, -0.4, 0.5, 0.9, 0.7])
    gripper_T_axis = pose_from_xyz_rpy(*JAW)
    for angle in np.linspace(*ROBOT.limits["gripper"][:2], 7):
        # the jaw's frame there: x as the gripper's at 0, y backwards; the point is 80 mm out, 10 mm towards the fixed jaw
        point = published(arm) @ gripper_T_axis @ pose_from_xyz_rpy((0, 0, 0), (0, 0, angle)) @ np.array([-0.010, -0.080, 0.0188, 1])
        poses = ROBOT.forward({**ROBOT.arm_joints(arm), "gripper": angle})
        ours = np.linalg.inv(ARM.world_T_base) @ poses["moving_jaw_link"] @ np.array([0.080, 0, -0.010, 1])
        assert np.abs(point - ours)[:3].max() < 0.0004


def gap(angle: float, out: float) -> float:
    """[m] between the fixed pad's plane and the inner face of the turning jaw's step that reaches ``out`` [m] from the axis, at its inner end, by the URDF."""
    poses = ROBOT.forward({"gripper": angle})
    tcp_T_jaw = np.linalg.inv(poses["tcp"]) @ poses["moving_jaw_link"]
    step = min(ROBOT.shapes["moving_jaw_link"], key=lambda shape: abs(shape.pose[0, 3] + shape.size[0] / 2 - out))
    edge = tcp_T_jaw @ np.array([step.pose[0, 3] - step.size[0] / 2, 0, step.pose[2, 3] - step.size[2] / 2, 1])
    pad = ROBOT.shapes["fixed_jaw_link"][-1]
    face = np.linalg.inv(poses["tcp"]) @ poses["fixed_jaw_link"] @ np.array([pad.pose[0, 3], 0, pad.pose[2, 3] + pad.size[2] / 2, 1])
    return float(edge[1] - face[1])


def test_the_jaw_opens_as_far_as_an_independent_emulator_says() -> None:
    """54 to 59 mm at 0.61 rad, along the jaws. The servo stands there at tick 1934, which was once taken for closed to 2.0 mm."""
    assert gap(0.61, 0.0711) == pytest.approx(0.054, abs=0.002)
    assert gap(0.61, 0.0820) == pytest.approx(0.059, abs=0.001)
    assert ARM.gripper.width_of(0.61) == pytest.approx(gap(0.61, 0.0820), abs=1e-6)
    assert ARM.driver.gripper is not None and ARM.driver.gripper.width_of(1934) == pytest.approx(0.0587, abs=0.0005)


@pytest.mark.parametrize("width", [0.0158, 0.03, 0.05, 0.075])
def test_the_gap_between_the_pads_is_the_width_of_the_configuration(width: float) -> None:
    assert gap(ARM.gripper.position_of(width), 0.0820) == pytest.approx(width, abs=2e-5)


def test_the_jaws_of_the_configuration_are_those_of_the_urdf() -> None:
    gripper = ARM.gripper
    assert isinstance(gripper, PivotGripper)
    poses = ROBOT.forward({})
    for link, rows, axis in (("fixed_jaw_link", gripper.fixed_jaw, (0.0, 0.0)), ("moving_jaw_link", gripper.moving_jaw, gripper.pivot)):
        for shape, row in zip(ROBOT.shapes[link], rows, strict=True):
            low, high = ((np.linalg.inv(poses["tcp"]) @ poses[link] @ shape.pose @ [*(side * np.array(shape.size) / 2), 1])[1:3] - axis for side in (-1, 1))
            assert np.abs([low[0] - row[0], high[0] - row[1], low[1] - row[2], high[1] - row[3]]).max() < 2e-4


def test_servos_reach_the_limits_of_their_joints() -> None:
    for joint, (low, high) in LIMITS.items():
        servo = ARM.driver.servos[joint]
        assert servo.pulse_of(0) == 2048
        ends = sorted(servo.angle_of(tick) for tick in ARM.driver.ticks)
        assert ends[0] <= low and high <= ends[1]
    assert [servo.id for servo in ARM.driver.servos.values()] == [1, 2, 3, 4, 5]
    gripper = ARM.driver.gripper
    assert gripper is not None and gripper.id == 6
    # lerobot's homing: 2048 in the middle of -0.1745 .. 1.745 rad
    for width in (ARM.gripper.width_min, 0.02, 0.04, 0.06, ARM.gripper.width_max):
        angle = (gripper.ticks_of(width) - 2048) * 2 * math.pi / 4096 + (1.745 - 0.1745) / 2
        assert ARM.gripper.width_of(angle) == pytest.approx(width, abs=0.0005)
    assert max(tick for tick, _ in gripper.table) < 2048 + (1.745 + 0.1745) / 2 * 4096 / 2 / math.pi, "past the stop"


def test_its_modes_are_those_without_a_hardware_interface() -> None:
    for mode in ("mock", "gazebo"):
        system = ElementTree.fromstring(urdf_text(ARM, mode)).find("ros2_control")
        assert system is not None
        commanded = {joint.attrib["name"] for joint in system.findall("joint") if joint.find("command_interface") is not None}
        assert commanded == {*ARM.joints, ARM.gripper.joint}
    with pytest.raises(DeskhandError, match="no ros2_control hardware"):
        urdf_text(ARM, "hardware")
