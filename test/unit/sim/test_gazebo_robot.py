"""The arm's URDF for Gazebo: what the world adds, that controllers and joints fit, frames by REP 103."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from deskhand.arms.config import list_arms, load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import pose_from_xyz_rpy, rotation_angle
from deskhand.recording.frames import COLOR, DEPTH, INFO
from deskhand.sim.camera import intrinsics_of, mounted
from deskhand.sim.gazebo.files import bridge_yaml
from deskhand.sim.gazebo.robot import CAMERA_TOPIC, contact_topic, finger_links, robot_urdf
from deskhand.sim.spec import CameraSpec, WorldSpec


def origin(element: ElementTree.Element | None) -> np.ndarray:
    assert element is not None
    return pose_from_xyz_rpy([float(part) for part in element.attrib["xyz"].split()], [float(part) for part in element.attrib["rpy"].split()])


def sensor_of(root: ElementTree.Element) -> ElementTree.Element:
    (sensor,) = (item for item in root.iter("sensor") if item.attrib["type"] == "rgbd_camera")
    return sensor


@pytest.mark.parametrize("arm", list_arms())
def test_controllers_joints_and_plugin_fit_together(arm: str) -> None:
    root = ElementTree.fromstring(robot_urdf(WorldSpec((), arm=arm)))
    config = load_arm(arm)
    system = root.find("ros2_control")
    assert system is not None and system.findtext("hardware/plugin") == "gz_ros2_control/GazeboSimSystem"
    in_urdf = {joint.attrib["name"] for joint in root.findall("joint")}
    of_system = {joint.attrib["name"]: joint for joint in system.findall("joint")}
    assert set(of_system) == {*config.joints, *RobotModel.load(config).fingers} and set(of_system) <= in_urdf
    starts = [float(of_system[name].findtext("state_interface[@name='position']/param") or "nan") for name in config.joints]
    assert starts == pytest.approx(config.named_poses["home"])
    (plugin,) = (item for item in root.iter("plugin") if item.attrib.get("name") == "gz_ros2_control::GazeboSimROS2ControlPlugin")
    parameters = yaml.safe_load(Path(str(plugin.findtext("parameters")).strip()).read_text())
    assert parameters["/**/arm_controller"]["ros__parameters"]["joints"] == list(config.joints)
    assert parameters["/**/gripper_controller"]["ros__parameters"]["joint"] == config.gripper.joint
    assert plugin.find("ros") is None
    assert "<namespace>/left</namespace>" in robot_urdf(WorldSpec((), arm=arm), "left")


def test_the_camera_looks_along_z_of_its_optical_frame() -> None:
    camera = CameraSpec()
    root = ElementTree.fromstring(robot_urdf(WorldSpec((), camera=camera)))
    mount = root.find(f"joint[@name='{camera.frame_id}_mount']")
    assert mount is not None
    world_T_optical = origin(mount.find("origin"))
    assert world_T_optical[:3, 3] == pytest.approx(camera.world_T_camera[:3, 3])
    assert rotation_angle(world_T_optical, camera.world_T_camera) < 1e-6
    sensor = sensor_of(root)
    values = [float(part) for part in str(sensor.findtext("pose")).split()]
    turned = pose_from_xyz_rpy(values[:3], values[3:])
    # a camera of Gazebo looks along its x axis, with y left and z up; in the optical frame that is forward, -right, -down
    assert turned[:3, :3] == pytest.approx(np.array([[0, -1, 0], [0, 0, -1], [1, 0, 0]]), abs=1e-9)
    assert sensor.findtext("gz_frame_id") == camera.frame_id and sensor.findtext("topic") == CAMERA_TOPIC
    k = intrinsics_of(camera)
    fovx = float(str(sensor.findtext("camera/horizontal_fov")))
    assert k.width / 2 / np.tan(fovx / 2) == pytest.approx(k.fx)
    assert (sensor.findtext("camera/image/width"), sensor.findtext("camera/image/height")) == ("640", "480")


def test_a_camera_on_the_arm_is_carried_by_its_link() -> None:
    camera = mounted("wrist")
    root = ElementTree.fromstring(robot_urdf(WorldSpec((), camera=camera)))
    mount = root.find(f"joint[@name='{camera.frame_id}_mount']")
    assert mount is not None
    parent, child = mount.find("parent"), mount.find("child")
    assert parent is not None and parent.attrib["link"] == "tcp" and child is not None and child.attrib["link"] == camera.frame_id
    with pytest.raises(DeskhandError, match="no link 'nose'"):
        robot_urdf(WorldSpec((), camera=replace(camera, link="nose")))


@pytest.mark.parametrize("arm", list_arms())
def test_every_collision_of_a_finger_is_felt(arm: str) -> None:
    root = ElementTree.fromstring(robot_urdf(WorldSpec((), arm=arm)))
    for name in finger_links(load_arm(arm)):
        link, extra = root.find(f"link[@name='{name}']"), root.find(f"gazebo[@reference='{name}']")
        assert link is not None and extra is not None
        assert len(extra.findall("sensor/contact/collision")) == len(link.findall("collision")) > 0
        assert extra.findtext("sensor/contact/topic") == contact_topic(name)


def test_the_bridge_carries_clock_and_pictures_and_no_pose() -> None:
    entries = {entry["ros_topic_name"]: entry for entry in yaml.safe_load(bridge_yaml())}
    assert set(entries) == {"/clock", COLOR, DEPTH, INFO}
    assert all(entry["direction"] == "GZ_TO_ROS" for entry in entries.values())
    assert {entry["gz_type_name"] for entry in entries.values()} == {"gz.msgs.Clock", "gz.msgs.Image", "gz.msgs.CameraInfo"}
    assert entries[DEPTH]["gz_topic_name"] == f"/{CAMERA_TOPIC}/depth_image"


@pytest.mark.parametrize("arm", list_arms())
def test_fingers_stay_far_from_the_limits_of_their_joints_and_the_one_that_follows_is_the_stronger(arm: str) -> None:
    root = ElementTree.fromstring(robot_urdf(WorldSpec((), arm=arm)))
    gripper = load_arm(arm).gripper
    limits = []
    for link in finger_links(load_arm(arm)):
        if link == gripper.fixed_link:
            continue
        (limit,) = (joint.find("limit") for joint in root.findall("joint") if joint.find("child").attrib["link"] == link)  # type: ignore[union-attr]
        assert limit is not None
        for position in (0.0, gripper.position_of(gripper.width_min), gripper.position_of(gripper.width_max)):
            assert float(limit.attrib["lower"]) + 0.01 < position < float(limit.attrib["upper"]) - 0.01
        limits.append(limit)
    driven, *followers = limits
    for follower in followers:
        assert float(follower.attrib["effort"]) > 2 * float(driven.attrib["effort"])
