"""Cells of space over a desk that become occupied or free from picture to picture."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.monitor.sample import Floats, ThinnedPicture

FEW = 3  # points in a cell from which it is occupied
AGAIN = 2  # pictures in a row that must say the same
Grid = npt.NDArray[np.bool_]


class CellMonitor:
    """A grid of cells of ``edge`` [m] between the corners ``low`` and ``high`` (3,) [m, levelled world]; the robot is left out.

    Attributes:
        occupied: which cells are (nx, ny, nz), as far as two pictures in a row said so.
    """

    def __init__(self, low: Array, high: Array, edge: float) -> None:
        self.low, self.edge = np.asarray(low, float), edge
        self.shape = tuple(int(n) for n in np.maximum(1, np.ceil((np.asarray(high, float) - self.low) / edge - 1e-9)))
        self.occupied: Grid = np.zeros(self.shape, bool)
        self._streak = np.zeros(self.shape, np.int8)

    def update(self, now: ThinnedPicture, eye: Array) -> tuple[Array, Array]:
        """Take a picture from ``eye`` (3,); centres (N, 3) [m] of the cells that have become occupied, and of those that have become free."""
        full, free = self._seen(now, eye)
        other = (full & ~self.occupied) | (free & self.occupied)
        self._streak = np.where(other, self._streak + 1, 0).astype(np.int8)
        sure = self._streak >= AGAIN
        came, went = sure & ~self.occupied, sure & self.occupied
        self.occupied ^= sure
        self._streak[sure] = 0
        return self.centers(came), self.centers(went)

    def centers(self, cells: Grid) -> Array:
        """Centres (N, 3) [m] of cells."""
        return np.asarray(self.low + (np.argwhere(cells) + 0.5) * self.edge, float)

    def _seen(self, now: ThinnedPicture, eye: Array) -> tuple[Grid, Grid]:
        """Cells that a surface is seen in, and those that the camera looks through."""
        seen = np.isfinite(now.depth) & ~now.robot
        count = self._count(now.points[seen])
        full = count >= FEW
        free = np.zeros(self.shape, bool)
        if self.occupied.any():  # only what is occupied can become free
            centers = self.centers(self.occupied)
            free[self.occupied] = self._looked_through(now, eye, centers)
        return full, free & (count == 0)

    def _count(self, points: Floats) -> npt.NDArray[np.int64]:
        cells = np.floor((points - self.low) / self.edge).astype(np.int64)
        inside = ((cells >= 0) & (cells < self.shape)).all(axis=1)
        flat = np.ravel_multi_index(tuple(cells[inside].T), self.shape)
        return np.bincount(flat, minlength=int(np.prod(self.shape))).reshape(self.shape)

    def _looked_through(self, now: ThinnedPicture, eye: Array, centers: Array) -> npt.NDArray[np.bool_]:
        """Of cells (N, 3), those behind which most of the surfaces are that are seen in their directions."""
        rays = now.points - eye.astype(np.float32)
        with np.errstate(invalid="ignore"):
            far = np.linalg.norm(rays, axis=-1)
            ways = rays / far[..., None]
        result = np.zeros(len(centers), bool)
        for index, center in enumerate(centers):
            away = float(np.linalg.norm(center - eye))
            with np.errstate(invalid="ignore"):
                beam = (ways @ ((center - eye) / away).astype(np.float32) > np.cos(0.5 * self.edge / away)) & ~now.robot
            result[index] = bool(beam.sum() >= FEW and (far[beam] > away + 0.6 * self.edge).mean() > 0.7)
        return result
