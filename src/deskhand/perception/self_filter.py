"""Which points are the robot itself: those within its collision shapes, grown a little."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.perception.frame_settings import SELF_FILTER
from deskhand.perception.rows import between, highest, lowest, squares
from deskhand.types import JointState, Shape


def joint_map(joints: JointState | Mapping[str, float]) -> dict[str, float]:
    """Joint names to positions."""
    if isinstance(joints, JointState):
        return dict(zip(joints.names, map(float, joints.positions), strict=True))
    return dict(joints)


def robot_points(points: npt.NDArray[np.float32], model: RobotModel, links: Mapping[str, Array], padding: float) -> npt.NDArray[np.bool_]:
    """Which of ``points`` (N, 3) lie in the robot's shapes; ``links`` is world_T_link as from RobotModel.forward."""
    hit = np.zeros(len(points), bool)
    if not len(points):
        return hit
    placed, centres, reaches = [], [], []
    for link, shapes in model.shapes.items():
        grow = SELF_FILTER.finger_padding if "finger" in link else padding
        for shape in shapes:
            world_T_shape = (links[link] @ shape.pose).astype(np.float32)
            low, high = _bounds(shape)
            placed.append((shape, world_T_shape[:3, :3], low, high, grow))
            centres.append(world_T_shape[:3, 3])
            reaches.append(float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high)))) + grow)
    if not placed:
        return hit
    # Most of what is seen is nowhere near the robot.
    middle, around = np.array(centres), np.array(reaches, np.float32)[:, None]
    near = np.flatnonzero(between(points, lowest(middle - around), highest(middle + around)))
    some = points[near]
    squared, own = np.einsum("ij,ij->i", some, some), np.zeros(len(near), bool)
    for (shape, rotation, low, high, grow), centre, reach in zip(placed, centres, reaches, strict=True):
        close = np.flatnonzero(~own & (squared - some @ (2 * centre) < reach**2 - centre @ centre))
        if len(close):
            own[close] = _inside(((some[close] - centre) @ rotation).astype(np.float32), shape, low, high, grow)
    hit[near[own]] = True
    return hit


def _bounds(shape: Shape) -> tuple[Array, Array]:
    """Lower and upper corner (3,) in the shape's frame."""
    if shape.kind in {"mesh", "points"}:
        return shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    if shape.kind == "box":
        half = np.asarray(shape.size) / 2
    elif shape.kind == "cylinder":
        half = np.array([shape.size[0], shape.size[0], shape.size[1] / 2])
    else:
        half = np.full(3, shape.size[0])
    return -half, half


def _inside(local: npt.NDArray[np.float32], shape: Shape, low: Array, high: Array, grow: float) -> npt.NDArray[np.bool_]:
    if shape.kind == "sphere":
        return np.asarray(squares(local) < (shape.size[0] + grow) ** 2)
    inside = between(local, low - grow, high + grow)
    if shape.kind == "cylinder":
        inside &= squares(local[:, :2]) < (shape.size[0] + grow) ** 2
    return np.asarray(inside)
