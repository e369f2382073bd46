"""Torques with which gravity pulls at an arm's joints, from the masses of its URDF (``<inertial>``)."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.model import Joint, RobotModel
from deskhand.geometry import Array, inverse

GRAVITY = 9.81  # [m/s^2]
SAMPLES = 400  # postures among which the greatest torques are looked for
LEAST = 0.05  # of the arm's greatest torque: what a joint that gravity hardly pulls at is taken to bear at most


@dataclass(frozen=True)
class _Link:
    """What one joint of the arm carries itself, up to the next joints.

    Attributes:
        parent: index of the joint that carries this one, -1 for none.
        before: (4, 4) from the parent's frame to that of the link that carries this joint.
        joint: itself.
        mass: [kg].
        moment: (3,) [kg m] mass times centre of mass, in the joint's frame.
    """

    parent: int
    before: Array
    joint: Joint
    mass: float
    moment: Array


class GravityLoad:
    """What the joints of ``model.arm`` bear; nothing is held. Works for revolute joints; the fingers stand at 0.

    Attributes:
        greatest: (n,) [N m] the greatest torque on each joint in any of the arm's postures, at least :data:`LEAST` of that on any.
    """

    def __init__(self, model: RobotModel) -> None:
        self._chain = _chain(model)
        limits = np.array([model.limits[name][:2] for name in model.arm.joints])
        postures = np.random.default_rng(0).uniform(limits[:, 0], limits[:, 1], (SAMPLES, len(limits)))
        most = np.abs(self._torques(postures)).max(axis=0)
        self.greatest: Array = np.maximum(most, LEAST * max(float(most.max()), 1e-6))

    def torques(self, positions: Array) -> Array:
        """(n,) [N m] with which gravity turns each joint, positive towards greater angles, at ``positions`` (n,) [rad]."""
        return np.asarray(self._torques(np.asarray(positions, dtype=float)[None])[0])

    def _torques(self, positions: Array) -> Array:
        """The same (N, n) of joint vectors (N, n)."""
        poses: list[Array] = []
        for index, link in enumerate(self._chain):
            before = link.before if link.parent < 0 else poses[link.parent] @ link.before
            poses.append(before @ link.joint.motions(positions[:, index]))
        # what hangs on a joint is the sum of what its links and those below carry, so that each is added to its parent, the last first
        masses = [link.mass for link in self._chain]
        moments = [pose[:, :2, :3] @ link.moment + link.mass * pose[:, :2, 3] for pose, link in zip(poses, self._chain, strict=True)]  # (N, 2) [kg m]
        for index in range(len(self._chain) - 1, -1, -1):
            if (parent := self._chain[index].parent) >= 0:
                masses[parent] += masses[index]
                moments[parent] = moments[parent] + moments[index]
        found = np.empty_like(positions)
        for index, (link, pose) in enumerate(zip(self._chain, poses, strict=True)):
            axis, arm = pose[:, :2, :3] @ link.joint.axis, moments[index] - masses[index] * pose[:, :2, 3]
            found[:, index] = GRAVITY * (axis[:, 1] * arm[:, 0] - axis[:, 0] * arm[:, 1])
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


def _chain(model: RobotModel) -> list[_Link]:
    """Of each joint of the arm."""
    still = model.forward({})  # within what a joint carries itself nothing moves
    arm = [model.joints[name] for name in model.arm.joints]
    children = [joint.child for joint in arm]
    above = {joint.child: joint.parent for joint in model.joints.values()}

    def carrier(link: str) -> int:
        while link in above and link not in children:
            link = above[link]
        return children.index(link) if link in children else -1

    mass, moment = np.zeros(len(arm)), np.zeros((len(arm), 3))
    for name, (weight, center) in _masses(model.urdf).items():
        if (index := carrier(name)) >= 0:
            mass[index] += weight
            moment[index] += weight * (inverse(still[children[index]]) @ still[name] @ np.append(center, 1.0))[:3]
    links = []
    for index, joint in enumerate(arm):
        parent = carrier(joint.parent)
        before = still[joint.parent] if parent < 0 else inverse(still[children[parent]]) @ still[joint.parent]
        links.append(_Link(parent, before, joint, float(mass[index]), moment[index]))
    return links
