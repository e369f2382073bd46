"""What of a space has been seen, what hides the rest, and how much of it another view would show: over the desk, or around one object."""

from __future__ import annotations

from copy import copy

import numpy as np
import numpy.typing as npt

from deskhand.arms.config import ArmConfig
from deskhand.geometry import Array
from deskhand.perception.track.coverage_settings import COVERAGE
from deskhand.types import CameraIntrinsics, Frame, SceneObject

Mask = npt.NDArray[np.bool_]
_STANDING = 0.95  # cosine between a cylinder's axis and up from which on it stands


class Space:
    """Cells of a box in the world: each seen to be free or filled, or not seen yet.

    Attributes:
        cell: edge [m] of a cell.
        seen: (X, Y, Z) whether a picture has shown the cell.
        filled: (X, Y, Z) whether something is in it that hides what is behind.
        wanted: (X, Y, Z) whether anybody wants to know.
    """

    def __init__(self, low: Array, high: Array, cell: float, sure: float, reach: tuple[float, float] = (0.0, np.inf)) -> None:
        """From ``low`` to ``high`` (3,) [m].

        Args:
            low: lower corner.
            high: upper corner; the last cells may reach beyond it.
            cell: edge of a cell [m].
            sure: how far beyond a cell's middle a picture must reach to show it free [m]; negative: so far before it is enough.
            reach: distances [m] from the camera within which another view would tell something.
        """
        self.cell, self._low, self._sure, self._reach = cell, np.asarray(low, dtype=float), sure, reach
        count = np.maximum(1, np.ceil((np.asarray(high) - low) / cell).astype(int))
        self._middles = self._low + (np.stack(np.meshgrid(*map(np.arange, count), indexing="ij"), axis=-1) + 0.5) * cell
        self.seen: Mask = np.zeros(count, bool)
        self.filled: Mask = np.zeros(count, bool)
        self.wanted: Mask = np.ones(count, bool)

    def around(self, place: Array, radius: float) -> None:
        """Only cells within ``radius`` [m] of (x, y) are wanted from here on."""
        self.wanted &= np.linalg.norm(self._middles[..., :2] - np.asarray(place)[:2], axis=-1) < radius

    def near(self, place: Array, radius: float) -> Space:
        """The same space, of which only cells within ``radius`` [m] of (x, y) are wanted; what is seen and filled is shared."""
        other = copy(self)
        other.wanted = self.wanted.copy()
        other.around(place, radius)
        return other

    def between(self, low: Array, high: Array) -> None:
        """Only cells whose middles lie between two corners (3,) [m] are wanted from here on."""
        self.wanted &= ((self._middles >= low) & (self._middles <= high)).all(axis=-1)

    def solid(self, item: SceneObject) -> None:
        """What lies inside an object hides what is behind it, and half a cell from its sides nobody wants to know it: no picture shows it. Left out are
        containers and shapes other than boxes and standing cylinders.
        """
        if item.is_container or not (item.shape == "box" or (item.shape == "cylinder" and item.pose[2, 2] > _STANDING)):
            return
        apart, half = np.abs((self._middles - item.position) @ item.pose[:3, :3]), np.asarray(item.size, dtype=float) / 2
        for mask, size in ((self.filled, half), (self.wanted, half - self.cell / 2)):
            share = apart / np.maximum(size, 1e-6)
            across = np.linalg.norm(share[..., :2], axis=-1) if item.shape == "cylinder" else share[..., :2].max(axis=-1)
            mask[(across < 1) & (share[..., 2] < 1)] = mask is self.filled

    @property
    def unknown(self) -> float:
        """Share of what is wanted that no picture has shown."""
        return float((self.wanted & ~self.seen).sum() / max(1, self.wanted.sum()))

    @property
    def unknown_volume(self) -> float:
        """The same in [m3]."""
        return float((self.wanted & ~self.seen).sum()) * self.cell**3

    def look(self, frame: Frame, cloud: npt.NDArray[np.float32] | Array) -> None:
        """Take in a picture, and the points (N, 3) of what stands there in it, without the robot's own."""
        index = np.floor((np.asarray(cloud, dtype=float) - self._low) / self.cell).astype(int)
        inside = ((index >= 0) & (index < self.filled.shape)).all(axis=1)
        self.filled[tuple(index[inside].T)] = True
        self.seen |= self.filled
        left = np.nonzero(~self.seen)
        points = self._middles[left]
        # What is just above the desk is free though the picture does not reach beyond it.
        sure = np.where(points[:, 2] < self.cell, -abs(self._sure), self._sure)
        free, _ = shown(frame, points, sure)
        self.seen[tuple(axis[free] for axis in left)] = True

    def gain(self, world_T_camera: Array, intrinsics: CameraIntrinsics, empty: float = 1.0) -> float:
        """Share of what is wanted that a picture from there would show for the first time.

        Args:
            world_T_camera: the camera there.
            intrinsics: of it.
            empty: probability that a cell which nobody has seen hides nothing. Less than 1: what is expected of the picture, which so prefers views that meet
                the unseen from more than one side ("occlusion aware" volumetric information, Isler et al. 2016).
        """
        points = self._middles[self.wanted & ~self.seen]
        pixels, far = _project(world_T_camera, intrinsics, points)
        points = points[_inside(pixels, intrinsics) & (far > self._reach[0]) & (far < self._reach[1])]
        return float(self._clear(points, world_T_camera[:3, 3], empty).sum() / max(1, self.wanted.sum()))

    def _clear(self, points: Array, eye: Array, empty: float) -> Array:
        """Probability (N,) that nothing stands between points (N, 3) and ``eye`` (3,): never where a filled cell does."""
        way = eye - points
        length = np.linalg.norm(way, axis=1)
        way = way / np.maximum(length, 1e-9)[:, None]
        clear = np.ones(len(points))
        passed = empty**COVERAGE.step
        for far in np.arange(COVERAGE.begin, float(np.linalg.norm(self.filled.shape)), COVERAGE.step) * self.cell:
            index = np.floor((points + far * way - self._low) / self.cell).astype(int)
            within = ((index >= 0) & (index < self.filled.shape)).all(axis=1) & (far < length)
            if not within.any():
                break
            cells = tuple(index[within].T)
            clear[within] *= np.where(self.filled[cells], 0.0, np.where(self.seen[cells], 1.0, passed))
        return clear


class Coverage(Space):
    """The space over the part of the desk that the arm reaches; cells beyond its reach are not wanted."""

    def __init__(self, arm: ArmConfig) -> None:
        base, most = arm.world_T_base[:2, 3], arm.work_radius[1] + COVERAGE.beyond
        super().__init__(np.array([*(base - most), 0.0]), np.array([*(base + most), COVERAGE.height]), COVERAGE.cell, 0.5 * COVERAGE.cell, COVERAGE.reach)
        away = np.linalg.norm(self._middles[..., :2] - base, axis=-1)
        ahead = self._middles[..., 0] > base[0] - 0.05  # behind the arm there is nothing to grasp
        self.wanted &= (away > arm.work_radius[0] - COVERAGE.beyond) & (away < most) & ahead


def shown(frame: Frame, points: Array, sure: float | Array) -> tuple[Mask, Mask]:
    """Whether the camera sees points (N, 3) [m] or through them, ``sure`` [m] further at least; and whether they are in the picture at all."""
    pixels, far = _project(frame.world_T_camera, frame.intrinsics, points)
    inside = _inside(pixels, frame.intrinsics) & (far > 0)
    column, row = np.where(inside[:, None], pixels, 0).T
    with np.errstate(invalid="ignore"):  # NaN: nothing was measured there
        return np.asarray(inside & (frame.depth[row, column] >= far + sure)), inside


def _project(world_T_camera: Array, k: CameraIntrinsics, points: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """Pixels (N, 2) as (column, row), and distance along the optical axis (N,) [m]."""
    camera = (points - world_T_camera[:3, 3]) @ world_T_camera[:3, :3]
    z = np.maximum(camera[:, 2], 1e-6)
    return np.rint(np.column_stack([k.fx * camera[:, 0] / z + k.cx, k.fy * camera[:, 1] / z + k.cy])).astype(np.int64), camera[:, 2]


def _inside(pixels: npt.NDArray[np.int64], k: CameraIntrinsics) -> Mask:
    return np.asarray((pixels >= 0).all(axis=1) & (pixels < [k.width, k.height]).all(axis=1))
