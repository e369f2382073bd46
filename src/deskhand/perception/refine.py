"""The last step of a box: its sides moved until the picture that it would give is the one that is seen (analysis by synthesis).

Every pixel around a thing says something of it: those of its own that it must be there, at this depth; those where something further away is seen
that it is not; those where something nearer is seen, or nothing, say nothing, and there such a size counts as things usually have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.segmentation import Segment
from deskhand.perception.sides import Prior
from deskhand.perception.solid import Solid, standing_pose
from deskhand.perception.view import Floats, Mask, View

_AROUND = 10  # [px] beside a thing that are compared
_PIXELS = 500  # at most, evenly left out
_WORST = 0.006  # [m] that a pixel counts as at most
_BEHIND = 0.004  # [m] something further away by this is seen where the box would be
_STEPS = (0.004, 0.002, 0.001)  # [m] by which a side is moved
_TURN = 12.0  # [rad/m] by how much the box is turned with a step
_ROUNDS = 14
_PRIOR = 6.0  # [px] that e times as usual a size counts as
_SMALLEST = 0.004  # [m]
_MOVES = np.array([[-1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, -1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, -1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, -1, 0], [0, 0, 0, 1, 0]])
_MOVES = np.concatenate([_MOVES, [[0, 0, 0, 0, -1], [0, 0, 0, 0, 1]]]).astype(float)


@dataclass(frozen=True)
class _Pixels:
    """Around a thing: rays (N, 3) per depth 1, depth (N,) (NaN: none), which are its own, and how many pixels each stands for."""

    rays: Floats
    depth: Floats
    own: Mask
    weight: float


def refined(view: View, item: Segment, solid: Solid, prior: Prior) -> Solid:
    """An upright box with its sides where they explain the picture best."""
    if solid.shape != "box" or abs(solid.pose[2, 2]) < 0.999:
        return solid
    pixels = _pixels(view, item)
    middle, yaw = solid.pose[:2, 3].copy(), float(np.arctan2(solid.pose[1, 0], solid.pose[0, 0]))
    heights = solid.pose[2, 3] - solid.size[2] / 2, solid.pose[2, 3] + solid.size[2] / 2
    best = np.array([-solid.size[0] / 2, solid.size[0] / 2, -solid.size[1] / 2, solid.size[1] / 2, yaw])
    eye = view.eye.copy()
    eye[:2] -= middle
    least = float(_costs(best[None], heights, eye, pixels, prior)[0])
    level = 0
    for _ in range(_ROUNDS):
        moves = _MOVES * _STEPS[level]
        moves[:, 4] *= _TURN
        trials = best + moves
        costs = _costs(trials, heights, eye, pixels, prior)
        better = int(np.argmin(costs))
        if costs[better] < least - 0.5:
            best, least = trials[better], float(costs[better])
        elif level + 1 < len(_STEPS):
            level += 1
        else:
            break
    return _box(best, middle, heights, solid)


def _pixels(view: View, item: Segment) -> _Pixels:
    height, width = view.valid.shape
    v, u = np.divmod(item.pixels, width)
    top, bottom = max(0, int(v.min()) - _AROUND), min(height, int(v.max()) + _AROUND + 1)
    left, right = max(0, int(u.min()) - _AROUND), min(width, int(u.max()) + _AROUND + 1)
    every = max(1, round(float(np.sqrt((bottom - top) * (right - left) / _PIXELS))))
    own = np.zeros((bottom - top, right - left), bool)
    own[v - top, u - left] = True
    rows, columns = np.arange(top, bottom, every), np.arange(left, right, every)
    k, turn = view.frame.intrinsics, view.frame.world_T_camera[:3, :3]
    x, y = np.meshgrid((columns - k.cx) / k.fx, (rows - k.cy) / k.fy)
    rays = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(-1, 3) @ turn.T
    depth = view.frame.depth[top:bottom:every, left:right:every].reshape(-1)
    own = own[::every, ::every].reshape(-1)
    robot = view.robot[top:bottom:every, left:right:every].reshape(-1)
    said = np.isfinite(depth) & ~robot
    return _Pixels(rays[said].astype(np.float32), depth[said], own[said], float(every**2))


def _costs(boxes: Array, heights: tuple[float, float], eye: Array, pixels: _Pixels, prior: Prior) -> Array:
    """How badly boxes (K, 5: low and high x, low and high y, yaw) explain the pixels and how unusual they are, [px] (K,)."""
    c, s = np.cos(boxes[:, 4:5]), np.sin(boxes[:, 4:5])
    x, y, z = pixels.rays.T
    along = (c * x + s * y, c * y - s * x)
    begin = (c * eye[0] + s * eye[1], c * eye[1] - s * eye[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (heights[0] - eye[2]) / z, (heights[1] - eye[2]) / z
        enter, leave = np.minimum(first, second)[None], np.maximum(first, second)[None]
        for axis in (0, 1):
            slope = 1.0 / along[axis]
            first, second = (boxes[:, 2 * axis, None] - begin[axis]) * slope, (boxes[:, 2 * axis + 1, None] - begin[axis]) * slope
            enter, leave = np.maximum(enter, np.minimum(first, second)), np.minimum(leave, np.maximum(first, second))
    hit = enter < leave
    off = pixels.depth - enter
    worst = np.where(pixels.own, np.where(hit, np.minimum(np.abs(off), _WORST), _WORST), np.where(hit & (off > _BEHIND), _WORST, 0.0))
    sizes = np.column_stack([boxes[:, 1] - boxes[:, 0], boxes[:, 3] - boxes[:, 2], np.full(len(boxes), heights[1] - heights[0])])
    unusual = -np.log(np.maximum(prior("box", np.maximum(sizes, 1e-4)), 1e-3))
    result = pixels.weight * worst.sum(axis=1) / _WORST + _PRIOR * unusual
    result[(sizes[:, :2] < _SMALLEST).any(axis=1)] = np.inf
    return np.asarray(result)


def _box(sides: Array, middle: Array, heights: tuple[float, float], solid: Solid) -> Solid:
    c, s = np.cos(sides[4]), np.sin(sides[4])
    x, y = (sides[0] + sides[1]) / 2, (sides[2] + sides[3]) / 2
    pose = standing_pose(middle[0] + c * x - s * y, middle[1] + s * x + c * y, (heights[0] + heights[1]) / 2, float(sides[4]))
    return replace(solid, pose=pose, size=np.array([sides[1] - sides[0], sides[3] - sides[2], heights[1] - heights[0]]))
