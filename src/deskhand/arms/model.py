"""Kinematics and shapes of an arm, read from its URDF: forward kinematics, collision primitives, joint limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.description import srdf_text, urdf_text
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, identity, pose_from_xyz_rpy
from deskhand.types import Shape
from deskhand.types.meshes import load_mesh

MOVING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Joint:
    """One joint of the tree; ``mimic`` is (joint, multiplier, offset) or None."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    lower: float
    upper: float
    velocity: float
    effort: float
    mimic: tuple[str, float, float] | None = None

    def motion(self, position: float) -> Array:
        """parent_T_child at ``position`` [rad or m]."""
        if self.kind == "fixed":
            return self.origin
        moved = np.eye(4)
        if self.kind == "prismatic":
            moved[:3, 3] = self.axis * position
        else:
            moved[:3, :3] = self._turn(np.cos(position), np.sin(position))
        return np.asarray(self.origin @ moved)

    def motions(self, positions: Array) -> Array:
        """parent_T_child (N, 4, 4) at ``positions`` (N,) [rad or m]."""
        moved = np.tile(np.eye(4), (len(positions), 1, 1))
        if self.kind == "prismatic":
            moved[:, :3, 3] = positions[:, None] * self.axis
        elif self.kind != "fixed":
            moved[:, :3, :3] = self._turn(np.cos(positions)[:, None, None], np.sin(positions)[:, None, None])
        return np.asarray(self.origin @ moved)

    def _turn(self, c: Array, s: Array) -> Array:
        """Rotation (..., 3, 3) about the axis by angles of these cosines and sines (..., 1, 1), or numbers (Rodrigues)."""
        x, y, z = self.axis
        return np.asarray(c * np.eye(3) + s * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) + (1 - c) * np.outer(self.axis, self.axis))


class RobotModel:
    """An arm as its URDF describes it.

    Attributes:
        arm: the configuration it belongs to.
        urdf, srdf: texts, expanded.
        joints: all joints by name, parents before children.
        links: names, the root (``world``) first.
        shapes: collision primitives by link, in the link's frame; links without any are left out.
        limits: (lower, upper, velocity, effort) of the joints that move.
        fingers: joints of the gripper, the driven one first; the others follow it (URDF ``mimic``).
        finger_links: the links that take hold: those of ``fingers``, and the jaw that does not move, if there is one.
    """

    def __init__(self, arm: ArmConfig, urdf: str, srdf: str) -> None:
        self.arm, self.urdf, self.srdf = arm, urdf, srdf
        root = ElementTree.fromstring(urdf)
        self.joints = joints_of_urdf(root)
        children = {joint.child for joint in self.joints.values()}
        names = [link.attrib["name"] for link in root.findall("link")]
        self.root = next(name for name in names if name not in children)
        self.links = (self.root, *(joint.child for joint in self.joints.values()))
        self.shapes = {link.attrib["name"]: shapes for link in root.findall("link") if (shapes := tuple(map(shape_of_element, link.findall("collision"))))}
        self.limits = {joint.name: (joint.lower, joint.upper, joint.velocity, joint.effort) for joint in self.joints.values() if joint.kind in MOVING}
        driven = arm.gripper.joint
        self.fingers = (driven, *(joint.name for joint in self.joints.values() if joint.mimic is not None and joint.mimic[0] == driven))
        fixed = arm.gripper.fixed_link
        if fixed and fixed not in self.links:
            raise KeyError(f"gripper.fixed_link {fixed!r} is no link of the URDF")
        self.finger_links = (*(self.joints[name].child for name in self.fingers), *((fixed,) if fixed else ()))

    @classmethod
    def load(cls, arm: ArmConfig | str) -> RobotModel:
        """The model of an arm, by its configuration or its name.

        Raises:
            DeskhandError: ``config_error`` when its files are missing or broken.
        """
        arm = load_arm(arm) if isinstance(arm, str) else arm
        if id(arm) not in _LOADED:  # expanding xacro takes a while, and every part of the stack asks
            _LOADED[id(arm)] = cls._read(arm)
        return _LOADED[id(arm)]

    @classmethod
    def mechanical(cls, arm: ArmConfig) -> RobotModel:
        """The same, its limits where the joints end, not those that leave room for their play: for a simulation, and for who judges.

        Raises:
            DeskhandError: as :meth:`load`.
        """
        return cls._read(arm, play=False) if any(servo.backlash for servo in arm.driver.servos.values()) else cls.load(arm)

    @classmethod
    def _read(cls, arm: ArmConfig, play: bool = True) -> RobotModel:
        try:
            return cls(arm, urdf_text(arm, play=play), srdf_text(arm))
        except (ElementTree.ParseError, KeyError, StopIteration) as error:
            raise DeskhandError("config_error", f"the URDF of {arm.name} is broken: {error!r}.") from error

    def forward(self, joints: Mapping[str, float]) -> dict[str, Array]:
        """world_T_link (4, 4) of every link; joints that are not given stand at 0, mimic joints follow theirs."""
        poses = {self.root: identity()}
        for joint in self.joints.values():
            if joint.mimic is not None:
                source, multiplier, offset = joint.mimic
                position = multiplier * float(joints.get(source, 0.0)) + offset
            else:
                position = float(joints.get(joint.name, 0.0))
            poses[joint.child] = poses[joint.parent] @ joint.motion(position)
        return poses

    def forward_all(self, positions: Array, links: Iterable[str]) -> dict[str, Array]:
        """world_T_link (N, 4, 4) of ``links`` and of all that carries them, at joint vectors (N, n) in the order of the arm's configuration; others at 0."""
        above = {joint.child: joint for joint in self.joints.values()}
        needed: set[str] = set()
        for link in links:
            while link in above and link not in needed:
                needed.add(link)
                link = above[link].parent
        columns = {name: positions[:, index] for index, name in enumerate(self.arm.joints)}
        still = np.zeros(len(positions))
        poses = {self.root: np.tile(identity(), (len(positions), 1, 1))}
        for joint in self.joints.values():  # parents before children
            if joint.child not in needed:
                continue
            source, multiplier, offset = joint.mimic or (joint.name, 1.0, 0.0)
            if joint.kind == "fixed" or (source not in columns and offset == 0.0):
                poses[joint.child] = poses[joint.parent] @ joint.origin
            else:
                poses[joint.child] = poses[joint.parent] @ joint.motions(multiplier * columns.get(source, still) + offset)
        return poses

    def moves(self, link: str) -> bool:
        """Whether the arm's joints move this link; False for what is none of its links."""
        above = {joint.child: joint for joint in self.joints.values()}
        while link in above:
            if above[link].kind != "fixed":
                return True
            link = above[link].parent
        return False

    def tcp_pose(self, joints: Mapping[str, float]) -> Array:
        """world_T_tcp (4, 4)."""
        return self.forward(joints)[self.arm.tcp]

    def arm_joints(self, positions: Iterable[float]) -> dict[str, float]:
        """Names to a joint vector in the order of the arm's configuration."""
        return dict(zip(self.arm.joints, map(float, positions), strict=True))

    def allowed_collisions(self) -> frozenset[frozenset[str]]:
        """Pairs of links that the SRDF says need no check."""
        root = ElementTree.fromstring(self.srdf)
        return frozenset(frozenset((pair.attrib["link1"], pair.attrib["link2"])) for pair in root.findall("disable_collisions"))


_LOADED: dict[int, RobotModel] = {}  # by id of the configuration, which the model keeps alive


def joints_of_urdf(root: ElementTree.Element) -> dict[str, Joint]:
    """All joints of a URDF by name, parents before children.

    Raises:
        KeyError: when a joint lacks a part, or does not hang on the root.
    """
    return _ordered([_joint(element) for element in root.findall("joint")])


def _ordered(joints: list[Joint]) -> dict[str, Joint]:
    """Parents before children."""
    children = {joint.child for joint in joints}
    reached = {joint.parent for joint in joints if joint.parent not in children}
    ordered: dict[str, Joint] = {}
    while len(ordered) < len(joints):
        fresh = [joint for joint in joints if joint.name not in ordered and joint.parent in reached]
        if not fresh:
            raise KeyError(f"joints {[joint.name for joint in joints if joint.name not in ordered]} do not hang on the root")
        for joint in fresh:
            ordered[joint.name] = joint
            reached.add(joint.child)
    return ordered


def _vector(text: str | None, default: str) -> list[float]:
    return [float(value) for value in (text or default).split()]


def _origin(element: ElementTree.Element) -> Array:
    origin = element.find("origin")
    attributes = origin.attrib if origin is not None else {}
    return pose_from_xyz_rpy(_vector(attributes.get("xyz"), "0 0 0"), _vector(attributes.get("rpy"), "0 0 0"))


def _child(element: ElementTree.Element, tag: str) -> ElementTree.Element:
    found = element.find(tag)
    if found is None:
        raise KeyError(f"<{element.tag} name={element.attrib.get('name')!r}> has no <{tag}>")
    return found


def _joint(element: ElementTree.Element) -> Joint:
    axis_element, limit, mimic = element.find("axis"), element.find("limit"), element.find("mimic")
    axis = np.array(_vector(axis_element.attrib.get("xyz") if axis_element is not None else None, "1 0 0"))
    bounds = limit.attrib if limit is not None else {}
    return Joint(
        name=element.attrib["name"],
        kind=element.attrib["type"],
        parent=_child(element, "parent").attrib["link"],
        child=_child(element, "child").attrib["link"],
        origin=_origin(element),
        axis=axis / np.linalg.norm(axis),
        lower=float(bounds.get("lower", "-inf")),
        upper=float(bounds.get("upper", "inf")),
        velocity=float(bounds.get("velocity", "inf")),
        effort=float(bounds.get("effort", "inf")),
        mimic=None if mimic is None else (mimic.attrib["joint"], float(mimic.attrib.get("multiplier", "1")), float(mimic.attrib.get("offset", "0"))),
    )


def pose_of_element(element: ElementTree.Element) -> Array:
    """Pose (4, 4) of a ``<collision>``, ``<visual>`` or ``<joint>`` in its parent's frame."""
    return _origin(element)


def shape_of_element(element: ElementTree.Element) -> Shape:
    """The shape of a ``<collision>`` or ``<visual>``, in the link's frame; meshes must be STL.

    Raises:
        DeskhandError: ``config_error`` when its mesh cannot be read.
        KeyError: when it has no shape that is known.
    """
    geometry = _child(element, "geometry")
    pose = _origin(element)
    if (box := geometry.find("box")) is not None:
        return Shape("box", tuple(_vector(box.attrib["size"], "")), pose)
    if (cylinder := geometry.find("cylinder")) is not None:
        return Shape("cylinder", (float(cylinder.attrib["radius"]), float(cylinder.attrib["length"])), pose)
    if (sphere := geometry.find("sphere")) is not None:
        return Shape("sphere", (float(sphere.attrib["radius"]),), pose)
    if (mesh := geometry.find("mesh")) is not None:
        return _mesh(Path(mesh.attrib["filename"].removeprefix("file://")), _vector(mesh.attrib.get("scale"), "1 1 1"), pose)
    raise KeyError("a geometry is none of box, cylinder, sphere, mesh")


def _mesh(path: Path, scale: list[float], pose: Array) -> Shape:
    if path.suffix.lower() != ".stl" or not path.is_file():
        raise DeskhandError("config_error", f"the mesh {path} is not a readable STL file.")
    vertices, faces = load_mesh(path)
    return Shape("mesh", (), pose, vertices * np.asarray(scale), faces)
