from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.description import MODES, urdf_text
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import identity, rotation_rpy, rpy_from_rotation

ARM = load_arm("wx250s")
ROBOT = RobotModel.load(ARM)

# Trossen's table of the WidowX 250s: joint range [degrees]; effort [N m] as its public description has it
DATASHEET = {
    "waist": (-180, 180, 10),
    "shoulder": (-108, 114, 20),
    "elbow": (-123, 92, 15),
    "forearm_roll": (-180, 180, 2),
    "wrist_angle": (-100, 123, 5),
    "wrist_rotate": (-180, 180, 1),
}


@pytest.mark.parametrize("joint", DATASHEET)
def test_limits_are_those_of_the_datasheet(joint: str) -> None:
    low, high, effort = DATASHEET[joint]
    lower, upper, velocity, torque = ROBOT.limits[joint]
    assert lower == pytest.approx(math.radians(low), abs=2e-5)
    assert upper == pytest.approx(math.radians(high), abs=2e-5)
    assert (velocity, torque) == (pytest.approx(math.pi), effort)


def test_the_hand_stands_where_the_vendor_measured_it() -> None:
    poses = ROBOT.forward({})
    base = poses["base_link"][:3, 3]
    # sums of the vendor's joint origins with all joints at 0, and tcp 35 mm beyond its fingers_link; z: 72 + 38.65 + 250 mm
    assert poses["tcp"][:3, 3] - base == pytest.approx([0.04975 + 0.175 + 0.075 + 0.065 + 0.043 + 0.023 + 0.035, 0, 0.36065])
    assert poses["tcp"][:3, 2] == pytest.approx([1, 0, 0])  # z forward out of the gripper
    assert poses["tcp"][:3, 1] == pytest.approx([0, 1, 0])  # y along the closing direction


def test_the_mass_is_that_of_the_vendors_links() -> None:
    total = sum(float(mass.attrib["value"]) for mass in ElementTree.fromstring(ROBOT.urdf).iter("mass"))
    assert total == pytest.approx(0.538736 + 0.480879 + 0.430811 + 0.234589 + 0.220991 + 0.084957 + 0.072885 + 0.00434 + 0.034199 + 2 * 0.016246, abs=1e-5)


@pytest.mark.parametrize("width", [0.005, 0.02, 0.049])
def test_the_gap_between_the_pads_is_the_width_of_the_configuration(width: float) -> None:
    position = ARM.gripper.position_of(width)
    poses = ROBOT.forward({"left_finger": position})
    faces = []
    for side, sign in (("left", -1), ("right", 1)):
        pad = ROBOT.shapes[f"{side}_finger_link"][1]
        middle = (poses["tcp"][:3, :3].T @ ((poses[f"{side}_finger_link"] @ pad.pose)[:3, 3] - poses["tcp"][:3, 3]))[1]
        faces.append(middle + sign * pad.size[1] / 2)
    assert faces[0] - faces[1] == pytest.approx(width, abs=1e-6)
    assert ARM.gripper.width_of(position) == pytest.approx(width)


def test_fingers_reach_beyond_the_tcp_by_the_depth_of_the_configuration() -> None:
    poses = ROBOT.forward({"left_finger": 0.03})
    pad = ROBOT.shapes["left_finger_link"][1]
    tip = (np.linalg.inv(poses["tcp"]) @ poses["left_finger_link"] @ pad.pose)[2, 3] + pad.size[0] / 2
    assert tip == pytest.approx(ARM.gripper.finger_depth, abs=5e-4)


@pytest.mark.parametrize("mode", MODES)
def test_ros2_control_commands_every_driven_joint(mode: str) -> None:
    system = ElementTree.fromstring(urdf_text(ARM, mode)).find("ros2_control")
    if mode == "none":
        assert system is None
        return
    assert system is not None
    commanded = {joint.attrib["name"]: joint.find("command_interface") is not None for joint in system.findall("joint")}
    following = {"right_finger": False} if mode == "gazebo" else {}  # a simulator moves it, as it mimics the other
    assert commanded == {**dict.fromkeys([*ARM.joints, ARM.gripper.joint], True), **following}


def test_the_vendors_hardware_is_asked_for_no_more_states_than_it_offers() -> None:
    """XSHardwareInterface exports position and velocity, the finger's velocity from beyond the end of its memory, and no effort."""
    hardware = ElementTree.fromstring(urdf_text(ARM, "hardware")).find("ros2_control")
    assert hardware is not None and hardware.findtext("hardware/plugin") == "interbotix_xs_ros_control/XSHardwareInterface"
    told = {item.attrib["name"]: item.text for item in hardware.findall("hardware/param")}
    assert (told["group_name"], told["gripper_name"], told["joint_states_topic"]) == ("arm", "gripper", "joint_states")
    for mode, states in (("hardware", {"position"}), ("mock", {"position", "velocity", "effort"}), ("gazebo", {"position", "velocity", "effort"})):
        system = ElementTree.fromstring(urdf_text(ARM, mode)).find("ros2_control")
        assert system is not None
        for joint in system.findall("joint"):
            if joint.find("command_interface") is not None:
                assert {state.attrib["name"] for state in joint.findall("state_interface")} == states, (mode, joint.attrib["name"])


def test_the_second_finger_counts_as_the_vendors_joint_states_do_and_is_where_it_is() -> None:
    root = ElementTree.fromstring(urdf_text(ARM, "hardware"))
    right = next(joint for joint in root.findall("joint") if joint.attrib["name"] == "right_finger")
    limit, mimic, axis = right.find("limit"), right.find("mimic"), right.find("axis")
    assert limit is not None and mimic is not None and axis is not None
    assert (float(limit.attrib["lower"]), float(limit.attrib["upper"])) == (-0.037, -0.015)
    outward = float(axis.attrib["xyz"].split()[1]) * float(mimic.attrib["multiplier"])
    assert outward == -1.0, "it moves to -y as the left one moves to +y"


def test_an_unknown_ros2_control_mode_is_refused() -> None:
    with pytest.raises(DeskhandError, match="mock, hardware, gazebo") as caught:
        urdf_text(ARM, "real")
    assert caught.value.code == "config_error"


def test_roll_pitch_yaw_survive_the_way_through_a_matrix() -> None:
    rng = np.random.default_rng(2)
    for angles in [*rng.uniform(-1.5, 1.5, (50, 3)), np.array([0.3, math.pi / 2, 0.2])]:
        rotation = identity()
        rotation[:3, :3] = rotation_rpy(*angles)
        assert rotation_rpy(*rpy_from_rotation(rotation)) == pytest.approx(rotation[:3, :3], abs=1e-9)
