"""Torques with which gravity pulls at an arm's joints, from the masses of its URDF (``<inertial>``)."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array

GRAVITY = 9.81  # [m/s^2]
SAMPLES = 400  # postures among which the greatest torques are looked for
LEAST = 0.05  # of the arm's greatest torque: what a joint that gravity hardly pulls at is taken to bear at most


class GravityLoad:
    """What the joints of ``model.arm`` bear; nothing is held. Works for revolute joints; the fingers stand at 0.

    Attributes:
        greatest: (n,) [N m] the greatest torque on each joint in any of the arm's postures, at least :data:`LEAST` of that on any.
    """

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._chain = [model.joints[name] for name in model.arm.joints]
        self._masses = _masses(model.urdf)
        self._below = [_carried(model, joint.child) & set(self._masses) for joint in self._chain]
        limits = np.array([model.limits[name][:2] for name in model.arm.joints])
        postures = np.random.default_rng(0).uniform(limits[:, 0], limits[:, 1], (SAMPLES, len(limits)))
        most = np.abs([self.torques(posture) for posture in postures]).max(axis=0)
        self.greatest: Array = np.maximum(most, LEAST * max(float(most.max()), 1e-6))

    def torques(self, positions: Array) -> Array:
        """(n,) [N m] with which gravity turns each joint, positive towards greater angles, at ``positions`` (n,) [rad]."""
        poses = self._model.forward(self._model.arm_joints(positions))
        found = np.zeros(len(self._chain))
        centers = {link: poses[link] @ np.append(center, 1.0) for link, (_, center) in self._masses.items()}
        for index, joint in enumerate(self._chain):
            frame = poses[joint.child]
            axis, origin = frame[:3, :3] @ joint.axis, frame[:3, 3]
            for link in self._below[index]:
                arm = centers[link][:3] - origin
                found[index] += float(axis @ np.cross(arm, [0.0, 0.0, -GRAVITY * self._masses[link][0]]))
        return found

    def shares(self, positions: Array) -> Array:
        """(n,) the torques as shares of the greatest, -1 to 1."""
        return np.clip(self.torques(positions) / self.greatest, -1.0, 1.0)


def _masses(urdf: str) -> dict[str, tuple[float, Array]]:
    """Mass [kg] and centre of mass (3,) [m] in the link's frame of every link that has one."""
    found = {}
    for link in ElementTree.fromstring(urdf).findall("link"):
        mass = link.find("inertial/mass")
        if mass is not None:
            origin = link.find("inertial/origin")
            xyz = origin.attrib.get("xyz", "0 0 0") if origin is not None else "0 0 0"
            found[link.attrib["name"]] = float(mass.attrib["value"]), np.array([float(value) for value in xyz.split()])
    return found


def _carried(model: RobotModel, link: str) -> set[str]:
    """A link and all that hangs on it."""
    carried = {link}
    for joint in model.joints.values():  # parents before children
        if joint.parent in carried:
            carried.add(joint.child)
    return carried
