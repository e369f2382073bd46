"""What the tests of the driver share."""

from __future__ import annotations

import itertools

import numpy as np

from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.rig import Rig
from deskhand.arms.model import RobotModel
from deskhand.types import Trajectory

MODEL = RobotModel.load("jetarm")
ARM = MODEL.arm
HOME, START = (np.array(ARM.named_poses[name]) for name in ("home", "start"))
OUT = START + np.array([0.6, 0.2, 0, 0, 0.5])
SERVOS = [ARM.driver.servos[joint] for joint in ARM.joints]
GRIPPER = ARM.driver.gripper
assert GRIPPER is not None


def started(kind: str = "hiwonder_rrc", faults: WireFaults | None = None) -> Rig:
    """With the arm taken."""
    rig = Rig(MODEL, kind, faults)
    assert rig.step()
    return rig


def smooth(points: list[np.ndarray], seconds: float, count: int = 25) -> Trajectory:
    """Through points, at rest at each, ``seconds`` from one to the next."""
    times, positions, velocities = [0.0], [points[0]], [np.zeros(len(ARM.joints))]
    for index, (start, end) in enumerate(itertools.pairwise(points)):
        for s in np.linspace(0, 1, count + 1)[1:]:
            times.append((index + s) * seconds)
            positions.append(start + (10 * s**3 - 15 * s**4 + 6 * s**5) * (end - start))
            velocities.append((30 * s**2 - 60 * s**3 + 30 * s**4) / seconds * (end - start))
    return Trajectory(ARM.joints, np.array(times), np.array(positions), np.array(velocities), np.zeros((0, len(ARM.joints))))
