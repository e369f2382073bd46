"""Every arm in every mode of ros2_control builds: xacro, the URDF as urdfdom reads it with its SRDF, MuJoCo, the controllers, the set of MoveIt."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
import yaml

from deskhand.arms.config import list_arms, load_arm
from deskhand.arms.description import MODES, srdf_text, urdf_text
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path

CASES = [(arm, mode) for arm in list_arms() for mode in MODES]


def built(name: str, mode: str) -> ElementTree.Element:
    """The URDF, or a skip where the real arm is served by one of our drivers, which xacro must then say."""
    try:
        return ElementTree.fromstring(urdf_text(load_arm(name), mode))
    except DeskhandError as error:
        assert mode == "hardware" and load_arm(name).driver.kinds and "no ros2_control hardware" in str(error)
        pytest.skip(f"{name} has a driver of ours, no ros2_control hardware")


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_its_urdf_is_one_tree_of_bodies_that_can_be(name: str, mode: str) -> None:
    urdf = built(name, mode)
    links, joints = {link.attrib["name"] for link in urdf.findall("link")}, urdf.findall("joint")
    ends = [(joint.find("parent").attrib["link"], joint.find("child").attrib["link"]) for joint in joints]  # type: ignore[union-attr]
    assert links - {child for _, child in ends} == {"world"} and {parent for parent, _ in ends} <= links
    assert len({child for _, child in ends}) == len(ends) == len(links) - 1
    for inertial in urdf.iter("inertial"):
        numbers = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}  # type: ignore[union-attr]
        xx, yy, zz, xy, xz, yz = (numbers[key] for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert float(inertial.find("mass").attrib["value"]) > 0 and moments[0] > 0  # type: ignore[union-attr]
        assert moments[2] <= moments[0] + moments[1] + 1e-9, "no body has such moments of inertia"


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_real_parsers_take_it_and_its_srdf(name: str, mode: str) -> None:
    core = pytest.importorskip("roboplan.core", reason="needs roboplan")
    urdf, arm, robot = built(name, mode), load_arm(name), RobotModel.load(name)
    text = ElementTree.tostring(urdf, encoding="unicode")
    scene = core.Scene(name, core.loadUrdfSceneDescriptionFromXml(text))  # pinocchio, with urdfdom
    model = mujoco.MjModel.from_xml_string(text)
    joints = {model.joint(index).name: model.joint(index).range for index in range(model.njnt)}
    assert set(arm.joints) <= set(scene.getJointNames()) and set(arm.joints) <= set(joints)
    for joint in arm.joints:
        assert joints[joint] == pytest.approx(robot.limits[joint][:2])
    srdf = ElementTree.fromstring(srdf_text(arm))
    links = {link.attrib["name"] for link in urdf.findall("link")}
    named = {joint.attrib["name"] for joint in urdf.findall("joint")}
    assert {pair.attrib[key] for pair in srdf.findall("disable_collisions") for key in ("link1", "link2")} <= links
    assert {joint.attrib["name"] for joint in [*srdf.findall("group/joint"), *srdf.findall("group_state/joint")]} <= named
    chain = srdf.find(f"group[@name='{arm.group}']/chain")
    assert chain is not None and {chain.attrib["base_link"], chain.attrib["tip_link"]} <= links


@pytest.mark.parametrize(("name", "mode"), [case for case in CASES if case[1] != "none"])
def test_its_controllers_command_what_its_description_offers(name: str, mode: str) -> None:
    urdf, arm = built(name, mode), load_arm(name)
    offered = {joint.attrib["name"]: {item.attrib["name"] for item in joint.findall("command_interface")} for joint in urdf.findall("ros2_control/joint")}
    assert {joint for joint, interfaces in offered.items() if "position" in interfaces} >= {*arm.joints, arm.gripper.joint}
    told = yaml.safe_load((resource_path("config/ros2_control") / f"{name}.yaml").read_text())
    assert told["/**/arm_controller"]["ros__parameters"]["joints"] == list(arm.joints)
    assert told["/**/gripper_controller"]["ros__parameters"]["joint"] == arm.gripper.joint


@pytest.mark.parametrize("name", list_arms())
def test_every_arm_has_the_same_set_of_files_for_moveit(name: str) -> None:
    files = {path.name for path in (resource_path("config/moveit") / name).iterdir()}
    assert files == {"joint_limits.yaml", "kinematics.yaml", "moveit_controllers.yaml", "moveit_cpp.yaml", "ompl_planning.yaml"}
