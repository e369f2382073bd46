"""Standing boxes and cylinders of which the top is hidden or cut: from the sides that face the camera.

Of a box these are one or two upright faces at a right angle, of a cylinder an arc. How far an object goes on behind what stands before it is bounded
by where the camera sees through, and estimated between the bounds from what is known of such objects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.fit.settings import SIDE_VIEW
from deskhand.perception.fit.solid import Solid
from deskhand.perception.fit.upright_fit import upright
from deskhand.perception.footprint import fit_circle
from deskhand.perception.frame_settings import VISIBILITY
from deskhand.perception.quantiles import median, quantile
from deskhand.perception.view import View
from deskhand.perception.visibility import FREE, HIDDEN, SEEN, UNKNOWN, Taken, states


class Prior(Protocol):
    """How usual objects are."""

    def __call__(self, shape: str, sizes: Array, hidden: bool = False) -> Array:
        """Of ``sizes`` (N, 3) [m] how usual each is (N,); ``hidden``: one side is not seen, and the others are compared."""
        ...


def from_sides(view: View, points: Array, top: float, support: float, known: str = "") -> list[Solid]:
    """Box and cylinder, as far as ``points`` (N, 3) allow them; but for the shape that is ``known`` already."""
    side = points[points[:, 2] < top - 0.004]
    if len(side) < 25:
        return []
    ground = side[:, :2]
    found = [fit(view, points, ground, top, support) for shape, fit in (("cylinder", _arc), ("box", _corner)) if shape != known]
    return [item for item in found if item is not None]


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
    ends = np.partition(along, (round(SIDE_VIEW.trim * last), round((1 - SIDE_VIEW.trim) * last)), axis=1)
    low, high = ends[:, [round(SIDE_VIEW.trim * last)]], ends[:, [round((1 - SIDE_VIEW.trim) * last)]]
    nearest = np.minimum(np.abs(along - low), np.abs(high - along)).reshape(len(yaws), 2, -1).min(axis=1)
    return np.asarray((1.0 / np.maximum(nearest, SIDE_VIEW.edge)).sum(axis=1))


def completions(view: View, solid: Solid, prior: Prior, taken: Taken) -> list[Solid]:
    """A standing box with what is hidden of it: each side is moved out until the camera sees through where it would be, or another object is there.

    The size is then estimated between what is seen and that bound, in one way or, where objects of two sizes are about as usual, in two, the likelier one
    first; ``guessed`` names the axes.
    """
    sides = [(axis, sign) for axis in (0, 1) for sign in (-1.0, 1.0)]
    beyond = np.zeros((2, 2))
    # Most sides are seen to go no further: one step tells.
    for k, end in enumerate(_ends(view, solid, sides, np.array([SIDE_VIEW.step]), taken)):
        if end:
            steps = np.arange(SIDE_VIEW.step, SIDE_VIEW.largest - solid.size[sides[k][0]], SIDE_VIEW.step)
            last = _ends(view, solid, sides[k : k + 1], steps, taken)[0] if len(steps) else 0
            beyond[sides[k][0], k % 2] = steps[last - 1] if last > 0 else 0.0
    guessed = tuple(axis for axis in (0, 1) if beyond[axis].sum() > 0.003)
    if not guessed:
        return [solid]
    room = [float(beyond[axis].sum()) if axis in guessed else 0.0 for axis in (0, 1)]
    found = []
    for size in _usual(solid.size, room, prior):
        pose = solid.pose.copy()
        for axis in guessed:
            extra = size[axis] - solid.size[axis]
            pose[:2, 3] += pose[:2, axis] * extra / 2 * (beyond[axis, 1] - beyond[axis, 0]) / beyond[axis].sum()
        found.append(replace(solid, size=size, pose=pose, guessed=guessed))
    return found


def _ends(view: View, solid: Solid, sides: list[tuple[int, float]], steps: Array, taken: Taken) -> list[int]:
    """For each side (axis, sign), after how many of ``steps`` [m] beyond it the box ends: before that it is hidden, or some of it seen, all the way."""
    half = solid.size / 2
    toward = (view.eye - solid.pose[:3, 3]) @ solid.pose[:3, :3]
    away = VISIBILITY.grazing * float(np.linalg.norm(toward))
    across, heights = np.linspace(-0.8, 0.8, 4), np.linspace(-0.5, 0.8, 4) * half[2]
    points = np.empty((len(sides), 3, len(steps), 4, 3))
    for k, (axis, sign) in enumerate(sides):
        other = 1 - axis
        points[k, ..., axis] = (sign * (half[axis] + steps))[:, None]
        points[k, ..., other] = across * half[other]
        points[k, 0, ..., 2], points[k, 1, ..., 2] = half[2], 0.0
        points[k, 2, ..., other], points[k, 2, ..., 2] = np.sign(toward[other]) * half[other], heights
    world = points.reshape(-1, 3) @ solid.pose[:3, :3].T + solid.pose[:3, 3]
    shape = points.shape[:-1]
    found = states(view, world, SIDE_VIEW.hides).reshape(shape)
    filled = taken(world.reshape(*shape, 3)[:, 1].reshape(-1, 3)).reshape(len(sides), len(steps), 4).mean(axis=-1) > 0.4
    said = (found[:, 0] != UNKNOWN).sum(axis=-1)
    hidden, seen = (found[:, 0] == HIDDEN).sum(axis=-1), (found[:, 0] == SEEN).sum(axis=-1)
    free = (hidden + seen <= 0.5 * said) | (hidden < seen) | filled  # something round on it leaves corners of its top to be seen
    for k, (axis, _) in enumerate(sides):
        if abs(toward[1 - axis]) > half[1 - axis] + away:  # the face beside is turned to the camera
            free[k] |= (found[k, 2] == FREE).mean(axis=-1) > 0.4
    return [int(np.argmax(row)) if row.any() else len(steps) for row in free]


def _usual(size: Array, room: list[float], prior: Prior) -> list[Array]:
    """The one or two sizes (3,) [m] between what is seen of it and ``room`` [m] more along x and y that most usual objects are near to."""
    steps = [np.arange(size[axis], size[axis] + room[axis] + 0.003, SIDE_VIEW.grain) for axis in (0, 1)]
    grid = np.stack(np.meshgrid(*steps, [size[2]], indexing="ij"), axis=-1)
    weights = prior("box", grid.reshape(-1, 3), hidden=True).reshape(len(steps[0]), len(steps[1]))
    near = cv2.blur(weights, (SIDE_VIEW.near, SIDE_VIEW.near), borderType=cv2.BORDER_CONSTANT)
    peaks = near >= 0.999 * cv2.dilate(near, np.ones((3, 3), np.uint8))
    likely, places = near.max() * SIDE_VIEW.as_usual, np.stack(np.meshgrid(*map(np.arange, near.shape), indexing="ij"), axis=-1)
    found: list[Array] = []
    while len(found) < SIDE_VIEW.guesses and near.max() >= max(likely, 1e-9):
        best = np.argwhere(near >= 0.97 * near.max())
        middle = best[np.argmin(np.abs(best - best.mean(axis=0)).sum(axis=1))]
        found.append(np.array([steps[0][middle[0]], steps[1][middle[1]], size[2]]))
        near[~peaks | (np.abs(places - middle).max(axis=-1) * SIDE_VIEW.grain < SIDE_VIEW.otherwise)] = 0.0
    return found or [size]
