"""Straight lines of the tcp: dense inverse kinematics, each point from the one before, checked for jumps, limits and contacts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deskhand.geometry import Array, rotation_about, rotation_angle
from deskhand.motion.search import PathSearch, Query
from deskhand.safety.envelope import leaving

STEP = 0.002  # [m] between points of a line
TURN = 0.02  # [rad]
JUMP = 0.12  # [rad] of a joint between two points: the arm would swing over to another posture
CORNER = 0.05  # [rad]; sharper corners are taken at rest
TOUCH = 5e-4  # [m] of contact that counts


@dataclass(frozen=True)
class CartesianPath:
    """``legs``: joints (K, n) of the parts between stops; ``fraction`` of the length [0, 1]; ``reason`` why it ends early, or empty."""

    legs: tuple[Array, ...]
    fraction: float
    reason: str


def interpolate(start: Array, end: Array) -> Array:
    """Poses (K, 4, 4) from ``start`` (left out) to ``end``: straight in position, constant turning rate."""
    distance, angle = float(np.linalg.norm(end[:3, 3] - start[:3, 3])), rotation_angle(start, end)
    count = max(1, int(np.ceil(max(distance / STEP, angle / TURN))))
    relative = start[:3, :3].T @ end[:3, :3]
    axis = _axis(relative, angle)
    poses, share = np.tile(np.eye(4), (count, 1, 1)), np.linspace(0, 1, count + 1)[1:]
    poses[:, :3, :3] = start[:3, :3] @ rotation_about(axis, angle * share)
    poses[:, :3, 3] = (1 - share)[:, None] * start[:3, 3] + share[:, None] * end[:3, 3]
    poses[-1] = end
    return poses


def follow(search: PathSearch, query: Query, start: Array, waypoints: tuple[Array, ...]) -> CartesianPath:
    """The joints of the polyline from the tcp's pose at ``start`` (n,) through ``waypoints``, as far as it can be followed."""
    corners = [search.tcp(start, query), *waypoints]
    points, stops, targets, reason = [start], [0], [corners[0]], ""
    total = sum(len(interpolate(a, b)) for a, b in pairwise(corners))
    for index, (begin, end) in enumerate(pairwise(corners)):
        if index and _bends(corners[index - 1], begin, end):
            stops.append(len(points) - 1)
        for pose in interpolate(begin, end):
            joints = search.backend.refine_ik(pose, points[-1], query.others)
            reason = _break(search, joints, points[-1], pose)
            if reason or joints is None:
                break
            points.append(joints)
            targets.append(pose)
        if reason:
            break
    path = np.array(points)
    bad = leaving(search.contacts(path, query, cutoff=-TOUCH))
    if bad:
        first = min(bad, key=lambda item: item.state)
        reason = f"{first.a} would touch {first.b} at {_position(targets[first.state])}"
        path = path[: max(first.state - 1, 1)]
    ends = [stop for stop in stops if stop < len(path) - 1]
    legs = [path[a : b + 1] for a, b in zip(ends, [*ends[1:], len(path) - 1], strict=True)] if len(path) > 1 else [path]
    return CartesianPath(tuple(legs), (len(path) - 1) / total if total else 1.0, reason)


def deviation(positions: Array, corners: Array) -> float:
    """Largest distance [m] of ``positions`` (T, 3) from the polyline through ``corners`` (K, 3)."""
    best = np.full(len(positions), np.inf)
    for a, b in pairwise(corners):
        along = b - a
        length = float(along @ along)
        t = np.clip((positions - a) @ along / length, 0, 1) if length > 1e-12 else np.zeros(len(positions))
        best = np.minimum(best, np.linalg.norm(positions - a - t[:, None] * along, axis=1))
    return float(best.max())


def _axis(rotation: Array, angle: float) -> Array:
    if angle < 1e-9:
        return np.array([0.0, 0, 1])
    if angle < np.pi - 1e-4:
        return np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    # Half a turn: R = 2 a a^T - 1, so the largest column of R + 1 is along the axis.
    columns = rotation + np.eye(3)
    return np.asarray(columns[:, int(np.argmax(np.diag(columns)))])


def _bends(before: Array, corner: Array, after: Array) -> bool:
    first, second = corner[:3, 3] - before[:3, 3], after[:3, 3] - corner[:3, 3]
    a, b = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    if a < 1e-6 or b < 1e-6:
        return True
    return float(np.arccos(np.clip(first @ second / a / b, -1, 1))) > CORNER


def _break(search: PathSearch, joints: Array | None, before: Array, pose: Array) -> str:
    if joints is None:
        return f"the arm cannot reach {_position(pose)} from there"
    jump = np.abs(joints - before)
    if jump.max() > JUMP:
        return f"{search.arm.joints[int(jump.argmax())]} would swing by {jump.max():.2f} rad at {_position(pose)}"
    return ""


def _position(pose: Array) -> str:
    return "({:.3f}, {:.3f}, {:.3f})".format(*pose[:3, 3])
