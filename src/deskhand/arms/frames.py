"""Transforms of an arm's links from its URDF and its joint positions: what robot_state_publisher publishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from deskhand.arms.model import Joint, joints_of_urdf
from deskhand.errors import DeskhandError
from deskhand.geometry import Array


@dataclass(frozen=True)
class LinkTransform:
    """``pose`` is parent_T_child (4, 4) [m]."""

    parent: str
    child: str
    pose: Array


class LinkTransforms:
    """The links of one URDF. ``joints``: by name, parents before children."""

    def __init__(self, urdf: str) -> None:
        """Read the joints of ``urdf`` (text).

        Raises:
            DeskhandError: ``config_error`` when it cannot be read or has no joint.
        """
        try:
            self.joints: dict[str, Joint] = joints_of_urdf(ElementTree.fromstring(urdf))
        except (ElementTree.ParseError, KeyError, ValueError) as error:
            hint = "Pass the expanded URDF text in the parameter robot_description, as deskhand up and the launch files do."
            raise DeskhandError("config_error", f"robot_description is not a URDF: {error!r}.", hint=hint) from error
        if not self.joints:
            raise DeskhandError("config_error", "robot_description has no joint.")

    def fixed(self) -> list[LinkTransform]:
        """Those that never change."""
        return [LinkTransform(joint.parent, joint.child, joint.origin) for joint in self.joints.values() if joint.kind == "fixed"]

    def moving(self, positions: Mapping[str, float]) -> list[LinkTransform]:
        """Those of the joints in ``positions`` [rad or m], and of joints that mimic one of them; joints that nobody has told of are left out."""
        found = []
        for joint in self.joints.values():
            position = positions.get(joint.name)
            if position is None and joint.mimic is not None and joint.mimic[0] in positions:
                source, multiplier, offset = joint.mimic
                position = multiplier * positions[source] + offset
            if joint.kind != "fixed" and position is not None:
                found.append(LinkTransform(joint.parent, joint.child, joint.motion(position)))
        return found
