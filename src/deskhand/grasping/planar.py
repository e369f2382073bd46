"""What an arm with five joints reaches, in closed form: its base turns it into a vertical plane, in which three joints bend; the last one rolls the gripper.

In that plane the way from the shoulder to the wrist is a triangle, with the elbow on either side of it (two-link inverse kinematics, as in
Craig, Introduction to Robotics, chapter 4); what is left to ask is whether the joints' limits let it. Inverse kinematics that searches would give an
unreachable pose up only after its whole time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.motion.roll import arm_axis, roll_joint

SLACK = 0.0005  # [rad] by which a joint may seem to be beyond its limits, and share by which the triangle may be too long: what inverse kinematics lets pass
STEP = 0.1  # [rad]

Start = Callable[[Array], "Array | None"]
"""Joints near those that bring the tcp to world_T_tcp (4, 4); None when nothing is known."""
Mask = npt.NDArray[np.bool_]


def is_planar(model: RobotModel) -> bool:
    """Whether the arm is one that :class:`PlanarReach` describes."""
    return len(model.arm.joints) == 5 and arm_axis(model) is not None and roll_joint(model) == 4


class PlanarReach:
    """The plane's coordinates are complex numbers: away from the base's axis, and i times the height [m]; angles turn from the first to the second."""

    def __init__(self, model: RobotModel) -> None:
        names = model.arm.joints
        self._base = model.arm.world_T_base[:2, 3]
        self._home = np.asarray(model.arm.named_poses.get("home", np.zeros(5)))
        self._limits = np.array([model.limits[name][:2] for name in names])
        still = np.clip(np.zeros(5), *self._limits.T)
        heading, pitch, at = self._seen(model, still)
        self._shoulder, self._upper, self._fore = at[0], at[1] - at[0], at[2] - at[1]
        self._behind = (at[2] - at[3]) * np.exp(-1j * pitch)  # from the tcp to the wrist, along and across the approach
        self._pitch, self._heading, self._still = pitch, heading, still
        self._senses = np.ones(5)
        for joint in range(4):
            turned = still.copy()
            turned[joint] += STEP if turned[joint] + STEP <= self._limits[joint, 1] else -STEP
            other, pitched, _ = self._seen(model, turned)
            change = other - heading if joint == 0 else pitched - pitch
            self._senses[joint] = np.sign(_wrapped(np.array([change]))[0] * (turned[joint] - still[joint]))

    def _seen(self, model: RobotModel, joints: Array) -> tuple[float, float, npt.NDArray[np.complex128]]:
        """Heading of the plane, pitch of the approach in it [rad], and shoulder, elbow, wrist and tcp in it."""
        links = model.forward(model.arm_joints(joints))
        points = np.stack([links[model.joints[name].child][:3, 3] for name in model.arm.joints[1:4]] + [links[model.arm.tcp][:3, 3]])
        turn = links[model.joints[model.arm.joints[0]].child][:2, :2]
        heading = float(np.arctan2(turn[1, 0], turn[0, 0]))
        out = np.array([np.cos(heading), np.sin(heading)])
        approach = links[model.arm.tcp][:3, 2]
        return heading, float(np.arctan2(approach[2], approach[:2] @ out)), (points[:, :2] - self._base) @ out + 1j * points[:, 2]

    def within(self, poses: Array) -> Mask:
        """Which of world_T_tcp (M, 4, 4) are reached, but for the roll."""
        return np.asarray(np.isfinite(self.joints(poses)).all(axis=1))

    def joints(self, poses: Array) -> Array:
        """Joints (M, 5), the nearest to the home pose, that bring the tcp to world_T_tcp (M, 4, 4) but for the roll; NaN for what is out of reach."""
        away = poses[:, :2, 3] - self._base
        towards = np.arctan2(away[:, 1], away[:, 0])
        ways = np.stack([self._facing(poses, towards + back, elbow) for back in (0.0, np.pi) for elbow in (-1.0, 1.0)])
        off = np.nan_to_num(np.linalg.norm(ways - self._home, axis=2), nan=np.inf)
        return np.asarray(ways[off.argmin(axis=0), np.arange(len(poses))])

    def _facing(self, poses: Array, heading: Array, elbow: float) -> Array:
        """As :meth:`joints` with the base turned to ``heading`` (M,) [rad] and the elbow bent to one side (1 or -1)."""
        out = np.column_stack([np.cos(heading), np.sin(heading)])
        tcp = np.einsum("mi,mi->m", poses[:, :2, 3] - self._base, out) + 1j * poses[:, 2, 3]
        pitch = np.arctan2(poses[:, 2, 2], np.einsum("mi,mi->m", poses[:, :2, 2], out))
        way = tcp + self._behind * np.exp(1j * pitch) - self._shoulder
        upper, fore = abs(self._upper), abs(self._fore)
        cosine = (np.abs(way) ** 2 - upper**2 - fore**2) / (2 * upper * fore)
        second = elbow * np.arccos(np.clip(cosine, -1.0, 1.0)) - np.angle(self._fore / self._upper)
        first = np.angle(way) - np.angle(self._upper + self._fore * np.exp(1j * second))
        turned = (heading - self._heading, first, second, pitch - self._pitch - first - second)
        joints = np.column_stack([*(self._within_limits(joint, angle) for joint, angle in enumerate(turned)), np.full(len(poses), self._home[4])])
        joints[np.abs(cosine) > 1.0 + SLACK] = np.nan
        return joints

    def _within_limits(self, joint: int, turned: Array) -> Array:
        """Joint angle (M,) that is ``turned`` (M,) [rad] from where it stood at first, whole turns aside; NaN when its limits do not let it."""
        low, high = self._limits[joint]
        middle = (low + high) / 2
        angle = middle + _wrapped(self._still[joint] + self._senses[joint] * turned - middle)
        beyond = np.maximum(low - angle, angle - high)
        return np.where(beyond <= SLACK, np.clip(angle, low, high), np.nan)


def start_of(model: RobotModel) -> Start:
    """Joints from which to look for those at a pose: near them where that is known, else (None) the measured ones."""
    if not is_planar(model):
        return lambda _: None
    planar = PlanarReach(model)

    def start(pose: Array) -> Array | None:
        joints = planar.joints(pose[None])[0]
        return joints if np.isfinite(joints).all() else None

    return start


def _wrapped(angle: Array) -> Array:
    """(-pi, pi]"""
    return np.asarray(np.angle(np.exp(1j * angle)))
