"""The last step of a solid: its sides are moved until the picture that it would give is the one that is seen (analysis by synthesis).

Every pixel around an object says something of it: those of its own that it must be there, at this depth; those where something further away is seen
that it is not; those where something nearer is seen, or nothing, say nothing, and there such a size counts as objects usually have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.geometry import Array, make_transform
from deskhand.perception.fit.settings import REFINEMENT
from deskhand.perception.fit.side_view_fit import Prior
from deskhand.perception.fit.solid import Solid, standing_pose
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.view import Floats, Mask, View

_FAR = np.array([0.5, 1.0, 2.0])  # steps down the slope
_PLACES = np.arange(-15, 16) * 0.002  # [m] from where a side that is not seen is taken to be
_NEVER = 1e9
_BOUNDS = ([0, 2, 5], [1, 3, 6])  # of the numbers of a box: where it begins along each axis, and where it ends
# What can be moved of each shape: sides and yaw, centre and radius; then the lowest and the highest point.
_SCALES = {
    "box": np.array([1.0, 1.0, 1.0, 1.0, REFINEMENT.turn, 1.0, 1.0]),
    "cylinder": np.array([1.0, 1.0, 1.0, 1.0, 1.0]),
    "sphere": np.array([1.0, 1.0, 1.0, 0.0, 0.0]),
}
# The sides of a solid as sums of these numbers.
_SIZES = {shape: np.zeros((len(scales), 3)) for shape, scales in _SCALES.items()}
_SIZES["box"][[1, 3, 6], [0, 1, 2]], _SIZES["box"][[0, 2, 5], [0, 1, 2]] = 1.0, -1.0
_SIZES["cylinder"][2, :2], _SIZES["cylinder"][[4, 3], 2] = 2.0, [1.0, -1.0]
_SIZES["sphere"][2] = 2.0


@dataclass(frozen=True)
class Pixels:
    """Around an object: rays (3, N) per depth 1, depth (N,), how many are its own, which come first, what each is worth, and how many pixels it stands for."""

    rays: Floats
    depth: Floats
    own: int
    worth: Floats
    weight: float


def may_refine(solid: Solid) -> bool:
    """True for solids that stand upright, and balls."""
    return solid.shape in _SCALES and not solid.lying and abs(solid.pose[2, 2]) > REFINEMENT.upright


@np.errstate(divide="ignore", invalid="ignore")
def refined(view: View, pixels: Pixels, solid: Solid, prior: Prior, free: tuple[bool, bool], rough: bool = False) -> tuple[Solid, float]:
    """A solid with its sides where they explain ``pixels`` best, and how badly it does so [px].

    ``free``: whether bottom and top may move, too; ``rough``: large steps are enough.
    """
    middle = np.array([*solid.pose[:2, 3], 0.0])
    eye = (view.eye - middle).astype(np.float32)
    best = _numbers(solid)
    scales = _SCALES[solid.shape].copy()
    if solid.shape != "sphere":
        scales[-2:] *= free
    moves = np.concatenate([sign * np.diag(scales)[scales > 0] for sign in (-1.0, 1.0)])
    count = len(moves) // 2
    least = float(_costs(solid.shape, best[None], eye, pixels, prior)[0])
    level = 0
    for _ in range(REFINEMENT.rounds):
        costs = _costs(solid.shape, best + REFINEMENT.steps[level] * moves, eye, pixels, prior)
        lower = np.minimum(costs[:count], costs[count:])
        which = np.flatnonzero(least - lower > REFINEMENT.gain)
        # Sides and yaw depend on each other: all are moved at once, too, those that gain and down the slope.
        clipped = np.clip(costs, 0, _NEVER / 1e3)
        slope = clipped[:count] - clipped[count:]
        down = (slope / max(1e-9, float(np.abs(slope).max()))) @ moves[count:]
        together = moves[np.where(costs[which] < costs[which + count], which, which + count)].sum(axis=0)
        trials = best + REFINEMENT.steps[level] * np.concatenate([moves[[int(np.argmin(costs))]], together[None], _FAR[:, None] * down])
        found = np.append(costs.min(), _costs(solid.shape, trials[1:], eye, pixels, prior))
        if least - found.min() > REFINEMENT.gain:
            best, least = trials[int(np.argmin(found))], float(found.min())
        elif level + 1 < (REFINEMENT.rough if rough else len(REFINEMENT.steps)):
            level += 1
        else:
            break
    for axis in solid.guessed:
        best = _in_the_middle(best, axis, eye, pixels, prior)
    return _solid(solid, best, middle), least


def _in_the_middle(numbers: Array, axis: int, eye: Floats, pixels: Pixels, prior: Prior) -> Array:
    """The numbers of a box of which a side along ``axis`` is not seen, with that side amid all the places where it would explain the picture about as well."""
    found = []
    for side in (2 * axis, 2 * axis + 1):
        moves = np.zeros((len(_PLACES), len(numbers)))
        moves[:, side] = _PLACES
        costs = _costs("box", numbers + moves, eye, pixels, prior)
        found.append((float(np.minimum(costs, _NEVER / 1e3).mean()), moves, costs))
    _, moves, costs = min(found, key=lambda each: each[0])
    here = len(_PLACES) // 2
    worse = costs > costs[here] + REFINEMENT.as_well
    before, after = np.flatnonzero(worse[:here]), np.flatnonzero(worse[here:])
    near = slice(int(before[-1]) + 1 if len(before) else 0, here + int(after[0]) if len(after) else len(_PLACES))
    weights = np.exp(-(costs[near] - costs[near].min()) / (REFINEMENT.as_well / 2))
    return np.asarray(numbers + weights @ moves[near] / weights.sum())


@np.errstate(divide="ignore", invalid="ignore")
def explains_badly(view: View, pixels: Pixels, solid: Solid) -> float:
    """How many pixels [px] a solid as it is leaves unexplained."""
    eye = view.eye - [*solid.pose[:2, 3], 0.0]
    return float(_wrong(solid.shape, _numbers(solid)[None], eye.astype(np.float32), pixels)[0])


def unusual(prior: Prior, solid: Solid) -> float:
    """What the size of a solid adds to what it leaves unexplained [px]."""
    return _unusual(prior, solid.shape, solid.size[None]).item()


def _unusual(prior: Prior, shape: str, sizes: Array) -> Array:
    return np.asarray(-REFINEMENT.prior * np.log(np.maximum(prior(shape, np.maximum(sizes, 1e-4)), 1e-3)))


def pixels_around(view: View, item: Segment) -> Pixels:
    """What the picture says of an object."""
    height, width = view.valid.shape
    v, u = np.divmod(item.pixels, width)
    top, bottom = max(0, int(v.min()) - REFINEMENT.around), min(height, int(v.max()) + REFINEMENT.around + 1)
    left, right = max(0, int(u.min()) - REFINEMENT.around), min(width, int(u.max()) + REFINEMENT.around + 1)
    every = max(1, round(float(np.sqrt((bottom - top) * (right - left) / REFINEMENT.pixels))))
    own = np.zeros((bottom - top, right - left), bool)
    own[v - top, u - left] = True
    rows, columns = np.arange(top, bottom, every), np.arange(left, right, every)
    k, turn = view.frame.intrinsics, view.frame.world_T_camera[:3, :3]
    x, y = np.meshgrid((columns - k.cx) / k.fx, (rows - k.cy) / k.fy)
    depth = view.frame.depth[top:bottom:every, left:right:every]
    said = np.isfinite(depth) & ~view.robot[top:bottom:every, left:right:every]
    mine = own[::every, ::every][said]
    order = np.argsort(~mine, kind="stable")
    rays = turn @ np.stack([x[said], y[said], np.ones(int(said.sum()))])[:, order]
    worth = np.where(view.filled[top:bottom:every, left:right:every][said][order], np.float32(REFINEMENT.inferred), np.float32(1.0))
    return Pixels(rays.astype(np.float32), depth[said][order], int(mine.sum()), worth, float(every**2))


def _numbers(solid: Solid) -> Array:
    """What can be moved of a solid, its middle at the origin of x and y."""
    x, y, z = solid.size / 2
    low, high = solid.pose[2, 3] - z, solid.pose[2, 3] + z
    if solid.shape == "box":
        return np.array([-x, x, -y, y, np.arctan2(solid.pose[1, 0], solid.pose[0, 0]), low, high])
    return np.array([0.0, 0.0, x, low, high])


def _solid(solid: Solid, numbers: Array, middle: Array) -> Solid:
    low, high = numbers[-2:]
    if solid.shape == "box":
        x0, x1, y0, y1, yaw = map(float, numbers[:5])
        c, s, x, y = np.cos(yaw), np.sin(yaw), (x0 + x1) / 2, (y0 + y1) / 2
        pose = standing_pose(middle[0] + c * x - s * y, middle[1] + s * x + c * y, (low + high) / 2, yaw)
        return replace(solid, pose=pose, size=np.array([x1 - x0, y1 - y0, high - low]))
    x, y, radius = map(float, numbers[:3])
    if solid.shape == "sphere":
        return replace(solid, pose=make_transform(None, [middle[0] + x, middle[1] + y, low + radius]), size=np.full(3, 2 * radius))
    pose = standing_pose(middle[0] + x, middle[1] + y, (low + high) / 2, 0.0)
    return replace(solid, pose=pose, size=np.array([2 * radius, 2 * radius, high - low]))


def _costs(shape: str, trials: Array, eye: Floats, pixels: Pixels, prior: Prior) -> Array:
    """How badly solids, one a row of ``trials`` (K, n), explain the pixels and how unusual they are, [px] (K,)."""
    sizes = trials @ _SIZES[shape]
    result = _wrong(shape, trials, eye, pixels) + _unusual(prior, shape, sizes)
    if sizes.min() < REFINEMENT.smallest:
        result[(sizes < REFINEMENT.smallest).any(axis=1)] = _NEVER
    return result


def _wrong(shape: str, trials: Array, eye: Floats, pixels: Pixels) -> Array:
    """Pixels [px] (K,) that solids leave unexplained."""
    enter, hit = {"box": _box, "cylinder": _cylinder, "sphere": _sphere}[shape](trials.astype(np.float32), eye, pixels.rays)
    np.copyto(enter, np.float32(np.inf), where=~hit)
    behind = pixels.depth - enter
    own = np.abs(behind[:, : pixels.own])
    np.minimum(own, np.float32(REFINEMENT.worst), out=own)
    beside = (behind[:, pixels.own :] > np.float32(REFINEMENT.behind)).astype(np.float32) @ pixels.worth[pixels.own :]
    return np.asarray(pixels.weight * (own @ pixels.worth[: pixels.own] / REFINEMENT.worst + beside))


def _box(numbers: Floats, eye: Floats, rays: Floats) -> tuple[Floats, Mask]:
    """Depth (K, N) at which rays enter, and whether they do."""
    turn = np.zeros((3, len(numbers), 3), np.float32)
    turn[0, :, 0] = turn[1, :, 1] = np.cos(numbers[:, 4])
    turn[0, :, 1] = np.sin(numbers[:, 4])
    turn[1, :, 0] = -turn[0, :, 1]
    turn[2, :, 2] = 1.0
    every = turn.reshape(-1, 3)
    begin = (every @ eye).reshape(3, -1)
    slope = 1.0 / (every @ rays).reshape(3, len(numbers), -1)
    first, second = ((numbers.T[bounds] - begin)[..., None] * slope for bounds in _BOUNDS)
    enter = np.minimum(first, second).max(axis=0)
    leave = np.maximum(first, second, out=first).min(axis=0)
    return enter, enter < leave


def _between(numbers: Floats, eye: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Depths (K, N) at which rays are between the lowest and the highest point."""
    slope = 1.0 / z
    first, second = (numbers[:, -2, None] - eye[2]) * slope, (numbers[:, -1, None] - eye[2]) * slope
    return np.minimum(first, second), np.maximum(first, second)


def _cylinder(numbers: Floats, eye: Floats, rays: Floats) -> tuple[Floats, Mask]:
    x, y, z = rays
    begin = eye[:2] - numbers[:, :2]
    square = x * x + y * y
    half = begin[:, :1] * x + begin[:, 1:] * y
    root = half**2 - square * ((begin**2).sum(axis=1) - numbers[:, 2] ** 2)[:, None]
    far = np.sqrt(np.maximum(root, 0.0))
    low, high = _between(numbers, eye, z)
    enter, leave = np.maximum(low, (-half - far) / square), np.minimum(high, (far - half) / square)
    return enter, (root > 0) & (enter < leave)


def _sphere(numbers: Floats, eye: Floats, rays: Floats) -> tuple[Floats, Mask]:
    centre = np.column_stack([numbers[:, :2], numbers[:, 3] + numbers[:, 2]])
    begin = eye - centre
    square = (rays * rays).sum(axis=0)
    half = begin @ rays
    root = half**2 - square * ((begin**2).sum(axis=1) - numbers[:, 2] ** 2)[:, None]
    return (-half - np.sqrt(np.maximum(root, 0.0))) / square, root > 0
