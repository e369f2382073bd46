"""The low-frequency error of the depth over the picture, as the table shows it, taken out again.

What is seen of the table should be a plane. Where it bends, the sensor errs, and errs alike for what stands there: the error of a triangulating sensor is one
of disparity, smooth over the picture, and grows with the square of the distance (Smisek, Jancosek, Pajdla: 3D with Kinect, 2011). In inverse depth planes are
linear in the picture, so what a polynomial fits beyond that is the sensor's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.quantiles import quantile, spread
from deskhand.types import Frame

POWERS = tuple((i, j) for i in range(4) for j in range(4 - i))
"""Of the place across and down the picture, in each term of the polynomial."""


@dataclass(frozen=True)
class BendSettings:
    """How the bend is found.

    Attributes:
        stride: pixels of the picture from one sample to the next.
        bands: points farther than this from what was fitted before are no table [m], once for each round.
        least: with fewer samples nothing is told.
        share: at least this share of the picture's width and height must be covered by table, between the 2nd and the 98th hundredth of it.
        smallest: a bend that is larger than this on a fiftieth of the table at most [m] is left alone: it may as well be noise.
        largest: a field that is anywhere larger than this [m] at 1 m is no bend of a sensor.
    """

    stride: int = 9
    bands: tuple[float, ...] = (0.010, 0.006, 0.004, 0.004)
    least: int = 800
    share: float = 0.5
    smallest: float = 0.001
    largest: float = 0.012


def unbent(frame: Frame, settings: BendSettings | None = None) -> Frame:
    """A levelled frame (the table is the plane z = 0), its depth corrected by the bend of the table; the frame itself where there is none to speak of."""
    used = settings or BendSettings()
    field = bend_of_table(frame, used)
    if field is None:
        return frame
    return replace(frame, depth=np.asarray(frame.depth - field * frame.depth * frame.depth, dtype=np.float32))


def bend_of_table(frame: Frame, settings: BendSettings) -> npt.NDArray[np.float32] | None:
    """Error of the depth (H, W) [1/m] over its square; None where the table is flat or too little of it is seen."""
    k = frame.intrinsics
    depth = frame.depth[:: settings.stride, :: settings.stride].astype(float)
    v, u = np.mgrid[0 : k.height : settings.stride, 0 : k.width : settings.stride]
    rise = _rise(frame, u, v)
    height = depth * rise + frame.world_T_camera[2, 3]
    with np.errstate(invalid="ignore"):
        table = np.isfinite(depth) & (np.abs(height) < settings.bands[0]) & (rise < -0.1)
    u, v, depth, height, rise = (values[table] for values in (u, v, depth, height, rise))
    if len(u) < settings.least or not _spread_out(u, k.width, settings) or not _spread_out(v, k.height, settings):
        return None
    error = height / rise / depth**2  # of a point that should be at height 0
    terms = _terms(u / k.width - 0.5, v / k.height - 0.5)
    kept, weights = np.ones(len(u), bool), np.zeros(terms.shape[1])
    for band in settings.bands:
        kept = np.abs((error - terms @ weights) * depth**2 * rise) < band
        if kept.sum() < settings.least:
            return None
        own = terms[kept]
        weights = np.linalg.solve(own.T @ own, own.T @ error[kept])
    found = terms @ weights
    if quantile(np.abs(found * depth**2 * rise)[kept], 0.98) < settings.smallest:
        return None
    across, down = np.arange(k.width) / k.width - 0.5, np.arange(k.height)[:, None] / k.height - 0.5
    low, high = found[kept].min(), found[kept].max()  # no further than the table goes: polynomials run away beyond
    if max(abs(low), abs(high)) > settings.largest:
        return None
    field = _field(across, down, weights)
    return np.clip(field, np.float32(low), np.float32(high), out=field)


def _rise(frame: Frame, u: Array, v: Array) -> Array:
    """Height [m] that a point gains for each metre of depth, at pixels."""
    k, up = frame.intrinsics, frame.world_T_camera[2]
    return np.asarray(up[0] * (u - k.cx) / k.fx + up[1] * (v - k.cy) / k.fy + up[2])


def _spread_out(places: Array, side: int, settings: BendSettings) -> bool:
    low, high = spread(places, 0.02, 0.98)
    return bool(high - low > settings.share * side)


def _terms(x: Array, y: Array) -> Array:
    """Polynomials (N, 10) up to the third order at places of the picture, -0.5..0.5."""
    return np.column_stack([x**i * y**j for i, j in POWERS])


def _field(across: Array, down: Array, weights: Array) -> npt.NDArray[np.float32]:
    """The same over the whole picture (H, W), row by column."""
    table = np.zeros((4, 4))
    for weight, (i, j) in zip(weights, POWERS, strict=True):
        table[j, i] = weight
    powers = np.arange(4)
    return np.asarray((down**powers).astype(np.float32) @ (table @ across ** powers[:, None]).astype(np.float32))
