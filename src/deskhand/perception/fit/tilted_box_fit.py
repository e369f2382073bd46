"""Boxes that neither stand nor lie flat: what lies across other objects in a container, or leans against them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from deskhand.geometry import Array, make_transform
from deskhand.perception.fit.settings import TILTED_BOX
from deskhand.perception.fit.side_view_fit import Prior, corner_yaw
from deskhand.perception.fit.solid import Solid, rms, surface_distance
from deskhand.perception.footprint import filled_rectangle, fit_round
from deskhand.perception.quantiles import spread
from deskhand.perception.rows import cross, lengths


def tilted(points: Array, whole: Array, eye: Array, prior: Prior) -> Solid | None:
    """The box through ``points`` (N, 3) whichever way it is turned; ``whole`` (M, 3) tells how far it reaches.

    None when it stands, would go through the table at height 0, or may be a ball.
    Its axes are those of its largest face and of what is seen of the others; where no other face is seen it is as deep as such objects usually are.
    """
    normal = _largest_face(points, eye) if len(points) >= TILTED_BOX.side else None
    if normal is None:
        return None
    axes = _frame(normal)
    local = points @ axes
    level = float(np.median(local[np.abs(local[:, 2] - _mode(local[:, 2])) < TILTED_BOX.on_face, 2]))
    face, beside = np.abs(local[:, 2] - level) < TILTED_BOX.on_face, local[:, 2] < level - TILTED_BOX.beside
    if face.sum() < TILTED_BOX.least_face * len(points):
        return None
    yaw = corner_yaw(local[beside, :2]) if beside.sum() >= TILTED_BOX.side else filled_rectangle(local[face, :2]).yaw
    c, s = np.cos(yaw), np.sin(yaw)
    axes = axes @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    bounds = np.array([spread(column, TILTED_BOX.trim, 1 - TILTED_BOX.trim) for column in (whole @ axes).T])
    low, high = bounds.T
    rest = TILTED_BOX.trim / (1 - 2 * TILTED_BOX.trim) * (high - low)
    low, high = low - rest, high + rest
    deepest = float(np.partition(whole @ normal, TILTED_BOX.few)[TILTED_BOX.few])
    low[2], high[2] = min(level - TILTED_BOX.shallow, deepest), level
    rough = Solid("box", make_transform(axes, axes @ ((low + high) / 2)), high - low, 0.0)
    if np.abs(axes[2]).max() > TILTED_BOX.upright or rms(surface_distance(rough, points)) > TILTED_BOX.rough:
        return None
    axes, low, high = _polished(points[:: 1 + len(points) // TILTED_BOX.some], axes, low, high)
    size = high - low
    depths = np.arange(max(TILTED_BOX.least, size[2]), TILTED_BOX.most, 0.002)
    weights = prior("box", np.column_stack([np.tile(size[:2], (len(depths), 1)), depths]), hidden=True)
    if not len(depths) or weights.max() <= 0:
        return None
    guessed: tuple[int, ...] = ()
    # A face that is turned to the camera is mostly seen as deep as it is.
    if weights[0] < TILTED_BOX.likely * weights.max() or size[2] < TILTED_BOX.least:
        low[2], guessed = high[2] - float(depths[weights >= TILTED_BOX.most_likely * weights.max()].mean()), (2,)
    size = high - low
    order = _upright_last(axes, size)
    turn = axes[:, order]
    turn[:, 2] *= np.sign(turn[2, 2])
    turn[:, 1] = cross(turn[:, 2], turn[:, 0])
    middle = axes @ ((low + high) / 2)
    if turn[2, 2] > TILTED_BOX.tilt or middle[2] - np.abs(turn[2]) @ size[order] / 2 < -TILTED_BOX.below:
        return None
    solid = Solid("box", make_transform(turn, middle), size[order], 0.0, guessed=tuple(order.index(axis) for axis in guessed))
    solid = replace(solid, error=rms(surface_distance(solid, points)))
    return None if rms(fit_round(points, TILTED_BOX.good)[2]) < TILTED_BOX.round * solid.error else solid


def _polished(points: Array, axes: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """A box turned, and its sides moved, until points (N, 3) are nearest to its surface: its axes (3, 3), and its bounds along them (3,)."""
    local = points @ axes

    def distance(numbers: Array) -> Array:
        x, y, z = numbers[:3]
        turn = np.array([[1.0, -z, y], [z, 1.0, -x], [-y, x, 1.0]])
        box = Solid("box", make_transform(None, (numbers[3:6] + numbers[6:]) / 2), numbers[6:] - numbers[3:6], 0.0)
        return np.append(surface_distance(box, (local - middle) @ turn), TILTED_BOX.stays * (numbers - start))

    def slope(numbers: Array) -> Array:
        x, y, z = numbers[:3]
        seen = (local - middle) @ np.array([[1.0, -z, y], [z, 1.0, -x], [-y, x, 1.0]])
        side = seen > (numbers[3:6] + numbers[6:]) / 2
        gap = np.where(side, seen - numbers[6:], numbers[3:6] - seen)
        beyond = np.maximum(gap, 0.0)
        outside = np.linalg.norm(beyond, axis=1, keepdims=True)
        share = np.where(outside > 0, beyond / np.maximum(outside, 1e-12), np.eye(3)[gap.argmax(axis=1)])
        along = np.where(side, share, -share)
        turned = cross(along, local - middle)
        return np.vstack([np.column_stack([turned, np.where(side, 0.0, share), np.where(side, -share, 0.0)]), TILTED_BOX.stays * np.eye(9)])

    middle = (low + high) / 2
    start = np.concatenate([np.zeros(3), low - middle, high - middle])
    scale = np.repeat([0.05, 0.002], [3, 6])
    best = least_squares(distance, start, slope, loss="soft_l1", f_scale=TILTED_BOX.good, max_nfev=TILTED_BOX.rounds, x_scale=scale).x
    turn = Rotation.from_rotvec(best[:3]).as_matrix()
    shift = middle @ turn
    return axes @ turn, best[3:6] + shift, best[6:] + shift


def _largest_face(points: Array, eye: Array) -> Array | None:
    """Normal (3,) toward the camera of the plane that most points are on: by consensus (RANSAC, seeded), then least squares."""
    random = np.random.default_rng(0)
    corners = points[random.integers(0, len(points), (TILTED_BOX.trials, 3))]
    normals = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = lengths(normals)
    good = length > 1e-6
    if not good.any():
        return None
    normals = normals[good] / length[good, None]
    away = np.abs(points @ normals.T - (corners[good, 0] * normals).sum(axis=1))
    best = int(np.argmax((away < TILTED_BOX.on_face).sum(axis=0)))
    near = points[away[:, best] < TILTED_BOX.on_face]
    if len(near) < 3:
        return None
    middle = near.mean(axis=0)
    normal = np.linalg.svd(near - middle, full_matrices=False)[2][2]
    toward = float(normal @ (eye - middle))
    if abs(toward) < TILTED_BOX.grazing * float(np.linalg.norm(eye - middle)):
        return None
    return np.asarray(normal * np.sign(toward))


def _mode(values: Array) -> float:
    """The value that most others are near to."""
    counts, edges = np.histogram(values, bins=max(1, int(np.ptp(values) / (TILTED_BOX.on_face / 2)) + 1))
    number = int(np.argmax(counts))
    return float((edges[number] + edges[number + 1]) / 2)


def _frame(normal: Array) -> Array:
    """(3, 3): columns are two directions in the plane, and its ``normal``."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = cross(helper, normal)
    first /= np.linalg.norm(first)
    return np.column_stack([first, cross(normal, first), normal])


def _upright_last(axes: Array, size: Array) -> list[int]:
    """Order of the axes: the longer and the shorter of those that are nearer to level, then the one that is nearest to upright."""
    upright = int(np.argmax(np.abs(axes[2])))
    first, second = (axis for axis in range(3) if axis != upright)
    return [first, second, upright] if size[first] >= size[second] else [second, first, upright]
