"""Poses of all links at many states at once, and how far a step of the joints can move any point of the arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.safety.bodies import pieces_of


def link_poses(model: RobotModel, names: Sequence[str], positions: Array, others: Mapping[str, float] | None = None, link: str = "") -> dict[str, Array]:
    """world_T_link (T, 4, 4) of every link for ``positions`` (T, n) of the joints ``names``; ``others`` stand still, the rest at 0.

    With ``link``, of that one and those it hangs on only.
    """
    count = len(positions)
    wanted = _chain(model, link) if link else model.joints
    columns = {name: positions[:, i] for i, name in enumerate(names)}
    fixed = dict(others or {})

    def values(name: str) -> Array:
        return columns[name] if name in columns else np.full(count, float(fixed.get(name, 0.0)))

    poses = {model.root: np.broadcast_to(np.eye(4), (count, 4, 4))}
    for joint in (model.joints[name] for name in wanted):
        if joint.kind == "fixed":
            poses[joint.child] = poses[joint.parent] @ joint.origin
            continue
        if joint.mimic is None:
            value = values(joint.name)
        else:
            source, multiplier, offset = joint.mimic
            value = multiplier * values(source) + offset
        poses[joint.child] = poses[joint.parent] @ (joint.origin @ _motions(joint.kind, joint.axis, value))
    return poses


def _chain(model: RobotModel, link: str) -> list[str]:
    """Names of the joints from the root to ``link``."""
    above = {joint.child: joint for joint in model.joints.values()}
    names: list[str] = []
    while link in above:
        names.append(above[link].name)
        link = above[link].parent
    return names[::-1]


def _motions(kind: str, axis: Array, values: Array) -> Array:
    moved: Array = np.tile(np.eye(4), (len(values), 1, 1))
    if kind == "prismatic":
        moved[:, :3, 3] = values[:, None] * axis
        return moved
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    c, s = np.cos(values)[:, None, None], np.sin(values)[:, None, None]
    moved[:, :3, :3] = c * np.eye(3) + s * skew + (1 - c) * np.outer(axis, axis)
    return moved


def lever_arms(model: RobotModel) -> dict[str, float]:
    """[m] (m/rad, or 1 for sliding joints): no point of the arm that the joint moves is ever farther from its axis than this.

    The sum of |step| * lever over the joints bounds how far any point moves in a step.
    """
    below: dict[str, float] = {}
    for joint in reversed(list(model.joints.values())):
        shapes = model.shapes.get(joint.child, ())
        pieces = pieces_of(shapes)
        own = float((np.linalg.norm(pieces.centers, axis=1) + pieces.bounds).max()) if len(pieces) else 0.0
        slides = max(abs(joint.lower), abs(joint.upper)) if joint.kind == "prismatic" else 0.0
        below[joint.child] = max(own, below.get(joint.child, 0.0))
        reach = below[joint.child] + float(np.linalg.norm(joint.origin[:3, 3])) + slides
        below[joint.parent] = max(below.get(joint.parent, 0.0), reach)
    return {joint.name: 1.0 if joint.kind == "prismatic" else below[joint.child] for joint in model.joints.values() if joint.kind != "fixed"}
