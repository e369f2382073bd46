"""Standing boxes and cylinders of which the top is hidden or cut: from the sides that face the camera.

Of a box these are one or two upright faces at a right angle, of a cylinder an arc. How far a thing goes on behind what stands before it is bounded
by where the camera sees through, and estimated between the bounds from what is known of such things.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.footprint import fit_circle
from deskhand.perception.probes import FREE, GRAZING, HIDDEN, UNKNOWN, States, Taken, states
from deskhand.perception.quantiles import median, quantile
from deskhand.perception.solid import Solid
from deskhand.perception.standing import upright
from deskhand.perception.view import View

Prior = Callable[[str, Array], Array]
"""Shape and sizes (N, 3) [m] to how usual each is (N,)."""

_EDGE = 0.0015  # [m] closer than this is on the edge
_LARGEST = 0.12  # [m] that a hidden side is taken to be
_STEP = 0.004
_HIDES = 0.003  # [m] something nearer by this stands before it
_GRAIN, _NEAR = 0.002, 5  # [m] of sizes that are compared, and how many of them are near each other
_TRIM = 0.02


def from_sides(view: View, points: Array, top: float, support: float) -> list[Solid]:
    """Box and cylinder, as far as ``points`` (N, 3) allow them."""
    side = points[points[:, 2] < top - 0.004]
    if len(side) < 25:
        return []
    ground = side[:, :2]
    return [item for item in (_arc(view, points, ground, top, support), _corner(view, points, ground, top, support)) if item is not None]


def _arc(view: View, points: Array, ground: Array, top: float, support: float) -> Solid | None:
    centre, radius, _ = fit_circle(ground)
    behind = (centre - ground.mean(axis=0)) @ (ground.mean(axis=0) - view.eye[:2]) > 0
    if not 0.012 < radius < 0.06 or not behind:
        return None
    angles = np.arctan2(*(ground - centre).T[::-1])
    if np.ptp(np.unwrap(np.sort(angles))) < 1.2:
        return None
    return upright(points, centre, np.array([2 * radius, 2 * radius]), 0.0, top, support, "cylinder", 0.0)


def _corner(view: View, points: Array, ground: Array, top: float, support: float) -> Solid:
    """A box as large as what is seen of it."""
    yaw = corner_yaw(ground)
    c, s = np.cos(yaw), np.sin(yaw)
    rotation = np.array([[c, -s], [s, c]])
    local, everything = ground @ rotation, points[:, :2] @ rotation
    signs = np.where((view.eye[:2] - ground.mean(axis=0)) @ rotation > 0, 1.0, -1.0)
    near, far = np.zeros(2), np.zeros(2)
    for axis in (0, 1):
        along = signs[axis] * local[:, axis]
        edge = quantile(along, 0.96)
        face = along[np.abs(along - edge) < 0.003]
        near[axis] = median(face) if len(face) >= 20 and len(face) > 0.15 * len(along) else quantile(along, 0.985)
        far[axis] = quantile(signs[axis] * everything[:, axis], 0.015)
    size = np.maximum(near - far, 0.004)
    return upright(points, rotation @ (signs * (near - size / 2)), size, yaw, top, support, "box", 0.0)


def corner_yaw(ground: Array) -> float:
    """Yaw [rad] of the rectangle on whose edges points (N, 2) lie: the one that most points are close to (Zhang et al., IV 2017, "closeness")."""
    points = ground[:: 1 + len(ground) // 220]
    coarse = np.radians(np.arange(0.0, 90.0, 3.0))
    best = coarse[int(np.argmax(_closeness(points, coarse)))]
    fine = best + np.radians(np.arange(-3.0, 3.1, 0.5))
    return float(fine[int(np.argmax(_closeness(points, fine)))])


def _closeness(points: Array, yaws: Array) -> Array:
    axes = np.stack([np.cos(yaws), np.sin(yaws), -np.sin(yaws), np.cos(yaws)], axis=1).reshape(-1, 2)
    along = axes @ points.T
    last = along.shape[1] - 1
    ends = np.partition(along, (round(_TRIM * last), round((1 - _TRIM) * last)), axis=1)
    low, high = ends[:, [round(_TRIM * last)]], ends[:, [round((1 - _TRIM) * last)]]
    nearest = np.minimum(np.abs(along - low), np.abs(high - along)).reshape(len(yaws), 2, -1).min(axis=1)
    return np.asarray((1.0 / np.maximum(nearest, _EDGE)).sum(axis=1))


def completed(view: View, solid: Solid, prior: Prior, taken: Taken) -> Solid:
    """A standing box with what is hidden of it: each side is moved out until the camera sees through where it would be, or another thing is there.

    The size is then estimated between what is seen and that bound; ``guessed`` names the axes.
    """
    beyond = np.array([[_beyond(view, solid, axis, sign, taken) for sign in (-1.0, 1.0)] for axis in (0, 1)])
    guessed = tuple(axis for axis in (0, 1) if beyond[axis].sum() > 0.003)
    if not guessed:
        return solid
    room = [float(beyond[axis].sum()) if axis in guessed else 0.0 for axis in (0, 1)]
    size, pose = _usual(solid.size, room, prior), solid.pose.copy()
    for axis in guessed:
        extra = size[axis] - solid.size[axis]
        pose[:2, 3] += pose[:2, axis] * extra / 2 * (beyond[axis, 1] - beyond[axis, 0]) / beyond[axis].sum()
    return replace(solid, size=size, pose=pose, guessed=guessed)


def _beyond(view: View, solid: Solid, axis: int, sign: float, taken: Taken) -> float:
    """How much further [m] than it is seen a box may reach to one side, hidden all the way."""
    steps = np.arange(_STEP, _LARGEST - solid.size[axis], _STEP)
    for some in (steps[:1], steps):  # most sides are seen to go no further: one step tells
        last = _hidden_steps(view, solid, axis, sign, some, taken)
        if last < len(some) or not len(some):
            break
    return float(steps[last - 1]) if last > 0 else 0.0


def _hidden_steps(view: View, solid: Solid, axis: int, sign: float, steps: Array, taken: Taken) -> int:
    """How many of ``steps`` [m] beyond a side are hidden, from the first on."""
    if not len(steps):
        return 0
    half, other = solid.size / 2, 1 - axis
    toward = (view.eye - solid.pose[:3, 3]) @ solid.pose[:3, :3]
    across, heights = np.linspace(-0.8, 0.8, 4) * half[other], np.linspace(-0.5, 0.8, 4) * half[2]
    top = np.full((len(steps), 4, 3), half[2])
    top[..., axis], top[..., other] = (sign * (half[axis] + steps))[:, None], across
    above = _states(view, solid, top)
    said = (above != UNKNOWN).sum(axis=1)
    free = (said > 0) & ((above == HIDDEN).sum(axis=1) <= 0.5 * said) | (said == 0)
    if abs(toward[other]) > half[other] + GRAZING * np.linalg.norm(toward):  # the face beside is turned to the camera
        beside = top.copy()
        beside[..., other], beside[..., 2] = np.sign(toward[other]) * half[other], heights
        free |= (_states(view, solid, beside) == FREE).mean(axis=1) > 0.4
    slabs = (top * [1.0, 1.0, 0.0]).reshape(-1, 3) @ solid.pose[:3, :3].T + solid.pose[:3, 3]
    free |= taken(slabs).reshape(len(steps), 4).mean(axis=1) > 0.4
    return int(np.argmax(free)) if free.any() else len(steps)


def _states(view: View, solid: Solid, local: Array) -> States:
    """States (N, M) of points (N, M, 3) in the axes of a solid."""
    return states(view, local.reshape(-1, 3) @ solid.pose[:3, :3].T + solid.pose[:3, 3], _HIDES).reshape(local.shape[:2])


def _usual(size: Array, room: list[float], prior: Prior) -> Array:
    """The size (3,) [m] between what is seen of it and ``room`` [m] more along x and y that most usual things are near to."""
    steps = [np.arange(size[axis], size[axis] + room[axis] + 0.003, _GRAIN) for axis in (0, 1)]
    grid = np.stack(np.meshgrid(*steps, [size[2]], indexing="ij"), axis=-1)
    weights = prior("box", grid.reshape(-1, 3)).reshape(len(steps[0]), len(steps[1]))
    near = cv2.blur(weights, (_NEAR, _NEAR), borderType=cv2.BORDER_CONSTANT)
    best = np.argwhere(near >= 0.97 * near.max())
    middle = best[np.argmin(np.abs(best - best.mean(axis=0)).sum(axis=1))]
    return np.array([steps[0][middle[0]], steps[1][middle[1]], size[2]])
