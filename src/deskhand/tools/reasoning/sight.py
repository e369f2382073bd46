"""What a camera sees, does not see, and would see from elsewhere: voxels around a target, and lines of sight over the desk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, inverse, look_at, transform_points
from deskhand.types import Frame, SceneObject

Bools = npt.NDArray[np.bool_]
BEHIND = 0.008  # [m] that a point must lie behind what the camera sees there to count as hidden
BEHIND_MOST = 60000  # voxels
NEAREST = 1.5  # voxels from the target that a line of sight may begin in


@dataclass(frozen=True)
class Space:
    """A box of voxels around a target: ``origin`` (3,) [m] of its low corner, ``edge`` [m]; ``full`` and ``unknown`` (X, Y, Z)."""

    origin: Array
    edge: float
    full: Bools
    unknown: Bools

    def centres(self, which: Bools) -> Array:
        """Centres (N, 3) [m] of voxels."""
        return np.asarray(self.origin + (np.argwhere(which) + 0.5) * self.edge)

    def at(self, points: Array, which: Bools) -> Bools:
        """Whether points (N, 3) lie in such voxels; outside of the box none does."""
        index = np.floor((points - self.origin) / self.edge).astype(int)
        inside = np.all((index >= 0) & (index < which.shape), axis=1)
        result = np.zeros(len(points), dtype=bool)
        result[inside] = which[tuple(index[inside].T)]
        return result


def space_around(frame: Frame, low: Array, high: Array, edge: float = 0.006) -> Space:
    """What a frame says of the box from ``low`` to ``high`` (3,) [m]: surfaces, and what lies behind them or out of the picture."""
    shape = np.maximum(1, np.ceil((high - low) / edge)).astype(int)
    while np.prod(shape) > BEHIND_MOST:
        edge *= 1.25
        shape = np.maximum(1, np.ceil((high - low) / edge)).astype(int)
    every = np.ones(shape, dtype=bool)
    space = Space(np.asarray(low, dtype=float), edge, np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool))
    behind, _ = hidden(frame, space.centres(every))
    space.unknown.reshape(-1)[:] = behind
    points = frame.points().reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1) & np.all((points > low) & (points < high), axis=1)]
    index = np.minimum(np.floor((points - low) / edge).astype(int), shape - 1)
    space.full[tuple(index.T)] = True
    space.unknown[space.full] = False
    return space


def hidden(frame: Frame, points: Array, margin: float = BEHIND) -> tuple[Bools, Bools]:
    """Whether points (N, 3) [m] lie behind what the camera sees, or where it sees nothing; and whether they are in the picture at all."""
    pixels = frame.project(points)
    height, width = frame.depth.shape
    inside = np.isfinite(pixels).all(axis=1) & (pixels > -0.5).all(axis=1) & (pixels[:, 0] < width - 0.5) & (pixels[:, 1] < height - 0.5)
    seen = np.zeros(len(points), dtype=bool)
    column, row = np.round(pixels[inside]).astype(int).T
    far = transform_points(inverse(frame.world_T_camera), points[inside])[:, 2]
    seen[inside] = frame.depth[row, column] >= far - margin  # NaN: nothing was measured there
    return ~seen, inside


def clear_line(space: Space, eye: Array, points: Array) -> Bools:
    """Whether nothing that was seen stands between ``eye`` (3,) and points (N, 3), within the box."""
    clear = np.ones(len(points), dtype=bool)
    way = eye - points
    length = np.linalg.norm(way, axis=1, keepdims=True)
    most = float(np.linalg.norm(np.array(space.full.shape) * space.edge))
    for far in np.arange(NEAREST * space.edge, most, 0.7 * space.edge):
        at = points + way / length * far
        clear &= ~(space.at(at, space.full) & (far < length[:, 0]))
    return clear


def views_around(centre: Array, distances: tuple[float, ...], eye: Array) -> list[Array]:
    """world_T_camera (4, 4) of views from above and from the sides at ``centre``; the one from where the camera is now first."""
    poses = [look_at(eye, centre)] if np.linalg.norm(np.cross(centre - eye, [0, 0, 1])) > 1e-6 else []
    for distance in distances:
        for tilt in np.deg2rad((25, 45, 65, 85)):
            for turn in np.deg2rad(np.arange(0, 360, 30)):
                way = np.array([np.cos(turn) * np.cos(tilt), np.sin(turn) * np.cos(tilt), np.sin(tilt)])
                poses.append(look_at(centre + distance * way, centre))
    return poses


def hides(item: SceneObject, eye: Array, points: Array) -> Bools:
    """Whether the box of ``item`` stands between ``eye`` and points (N, 3): slabs in its own frame."""
    to_item = inverse(item.pose)
    start, ends = transform_points(to_item, eye[None])[0], transform_points(to_item, points)
    way = ends - start
    half = np.asarray(item.size, dtype=float) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (-half - start) / way, (half - start) / way
    enter, leave = np.nanmax(np.minimum(first, second), axis=1), np.nanmin(np.maximum(first, second), axis=1)
    return np.asarray((enter < leave) & (enter < 0.999) & (leave > 0))
