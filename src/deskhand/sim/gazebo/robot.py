"""The arm for Gazebo: its URDF with gz_ros2_control, and what the world adds to it: the camera, and fingers that report what they touch."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.description import urdf_text
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rpy_from_rotation
from deskhand.sim.builder import PAD_FRICTION
from deskhand.sim.spec import CameraSpec, WorldSpec

CAMERA_TOPIC = "deskhand/camera"
CAMERA_RATE = 10  # [Hz] of simulated time
FINGER_SLACK = 0.02
"""[m] that fingers may go beyond their range in Gazebo: DART holds a joint fast that is driven while it stands at its limit, or beyond it."""
COUPLED = 5.0
"""Times as strong as the driven finger is the one that follows it, as if a gear coupled them: it stays where its fellow is, whatever pushes."""
OPTICAL_T_GAZEBO = make_transform([[0, -1, 0], [0, 0, -1], [1, 0, 0]])
"""A camera of Gazebo looks along x, with z up; an optical frame has z forward, x right (REP 103)."""


def contact_topic(link: str) -> str:
    """Topic of Gazebo on which the contacts of a finger come."""
    return f"/deskhand/contact/{link}"


def robot_urdf(world: WorldSpec, namespace: str = "") -> str:
    """URDF of the world's arm with its controllers, the world's camera as a link named by its ``frame_id``, and contact sensors in the fingers.

    Raises:
        DeskhandError: ``config_error`` for the arm, or when it has no link that the camera is mounted on.
    """
    arm = load_arm(world.arm)
    root = ElementTree.fromstring(urdf_text(arm, "gazebo", {"namespace": namespace}))
    links = {link.attrib["name"]: link for link in root.findall("link")}
    for finger in finger_links(arm):
        _feeling(root, links[finger])
        if finger == arm.gripper.fixed_link:
            _kept(root, finger)
        else:
            _slackened(root, finger, FINGER_SLACK / arm.gripper.lever)
    for limit in root.iterfind("joint[mimic]/limit"):
        limit.set("effort", repr(COUPLED * float(limit.attrib["effort"])))
    _camera(root, world.camera, set(links))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def finger_links(arm: ArmConfig) -> tuple[str, ...]:
    """The links of the fingers, the driven one first."""
    return RobotModel.load(arm).finger_links


def _kept(root: ElementTree.Element, link: str) -> None:
    """A fixed joint's link stays a link of its own, so that it reports its own contacts."""
    joint = _joint_to(root, link).attrib["name"]
    ElementTree.SubElement(ElementTree.SubElement(root, "gazebo", reference=joint), "preserveFixedJoint").text = "true"


def _joint_to(root: ElementTree.Element, link: str) -> ElementTree.Element:
    return next(joint for joint in root.findall("joint") if joint.find("child").attrib["link"] == link)  # type: ignore[union-attr]


def _slackened(root: ElementTree.Element, link: str, slack: float) -> None:
    """The range of a finger's joint, wider by ``slack`` [m or rad] at both ends, and around 0, where Gazebo starts a joint that nobody commands.

    Commands stay within the true one.
    """
    limit = _joint_to(root, link).find("limit")
    assert limit is not None
    limit.set("lower", repr(min(0.0, float(limit.attrib["lower"])) - slack))
    limit.set("upper", repr(max(0.0, float(limit.attrib["upper"])) + slack))


def _feeling(root: ElementTree.Element, link: ElementTree.Element) -> None:
    """A rubber surface that reports contacts."""
    name = link.attrib["name"]
    extra = ElementTree.SubElement(root, "gazebo", reference=name)
    for axis in ("mu1", "mu2"):
        ElementTree.SubElement(extra, axis).text = str(PAD_FRICTION)
    sensor = ElementTree.SubElement(extra, "sensor", name=f"{name}_contact", type="contact")
    ElementTree.SubElement(sensor, "always_on").text = "true"
    ElementTree.SubElement(sensor, "update_rate").text = "50"
    contact = ElementTree.SubElement(sensor, "contact")
    for number in range(len(link.findall("collision"))):  # as Gazebo's URDF reader names them
        ElementTree.SubElement(contact, "collision").text = f"{name}_collision" + (f"_{number}" if number else "")
    ElementTree.SubElement(contact, "topic").text = contact_topic(name)


def _camera(root: ElementTree.Element, camera: CameraSpec, links: set[str]) -> None:
    parent = camera.link or "world"
    if parent not in links:
        raise DeskhandError("config_error", f"the arm has no link {parent!r} to carry a camera; it has {', '.join(sorted(links))}.")
    frame = camera.frame_id
    link = ElementTree.SubElement(root, "link", name=frame)
    inertial = ElementTree.SubElement(link, "inertial")  # a link without mass would be dropped
    ElementTree.SubElement(inertial, "mass", value="0.001")
    ElementTree.SubElement(inertial, "inertia", ixx="1e-7", iyy="1e-7", izz="1e-7", ixy="0", ixz="0", iyz="0")
    joint = ElementTree.SubElement(root, "joint", name=f"{frame}_mount", type="fixed")
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=frame)
    pose = camera.world_T_camera
    ElementTree.SubElement(joint, "origin", xyz=_numbers(pose[:3, 3]), rpy=_numbers(rpy_from_rotation(pose)))
    ElementTree.SubElement(ElementTree.SubElement(root, "gazebo", reference=f"{frame}_mount"), "preserveFixedJoint").text = "true"
    _sensor(ElementTree.SubElement(root, "gazebo", reference=frame), camera)


def _sensor(extra: ElementTree.Element, camera: CameraSpec) -> None:
    sensor = ElementTree.SubElement(extra, "sensor", name="rgbd", type="rgbd_camera")
    fovx = 2 * math.atan(math.tan(camera.fovy / 2) * camera.width / camera.height)
    tree = {
        "pose": _numbers([0, 0, 0, *rpy_from_rotation(OPTICAL_T_GAZEBO)]),
        "topic": CAMERA_TOPIC,
        "gz_frame_id": camera.frame_id,
        "update_rate": CAMERA_RATE,
        "always_on": "true",
        "camera": {
            "horizontal_fov": repr(fovx),
            "image": {"width": camera.width, "height": camera.height, "format": "R8G8B8"},
            "clip": {"near": 0.02, "far": 10},
        },
    }
    _fill(sensor, tree)


def _fill(parent: ElementTree.Element, tree: dict[str, object]) -> None:
    for name, value in tree.items():
        element = ElementTree.SubElement(parent, name)
        if isinstance(value, dict):
            _fill(element, value)
        else:
            element.text = str(value)


def _numbers(values: object) -> str:
    return " ".join(repr(float(value)) for value in np.asarray(values, dtype=float))
