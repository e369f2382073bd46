"""Upright round objects slice by slice: from which height a segment is round, when what is below is not."""

from __future__ import annotations

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.footprint import fit_circle
from deskhand.perception.quantiles import quantile

_SLICE, _ENOUGH = 0.006, 30  # [m] and [px]
_ROUND, _NOT_ROUND = 0.0009, 0.0012  # [m] rms off a circle at most, and at least
_FLAT = 1.6  # times the usual radius
_BAD = 0.75  # share of the slices below that are not round
_HIGHEST = 0.6  # of the height that it may begin at
_OFF, _SEEN = 0.0025, 20  # [m] off the wall of the round object, and how many points are
_UPPER = 0.97


def round_from(points: Array, top: float) -> float | None:
    """Height [m] from which points (N, 3) up to ``top`` [m] lie on one round wall while those below do not; None when it is round all the way, or nowhere."""
    number = np.floor(points[:, 2] / _SLICE).astype(int)
    errors, radii = np.full((2, max(0, int(top / _SLICE))), np.nan)
    for k in range(len(errors)):
        part = points[number == k, :2]
        if len(part) >= _ENOUGH:
            _, radii[k], errors[k] = fit_circle(part)
    if not np.isfinite(radii).any():
        return None
    errors[radii > _FLAT * np.nanmedian(radii)] = np.inf  # a face that is turned to the camera is on a circle, too
    uneven = np.flatnonzero(errors > _NOT_ROUND)
    uneven = uneven[uneven < _HIGHEST * len(errors)]
    if len(uneven) < 2:
        return None
    first = int(uneven[-1]) + 1
    below, above = errors[:first][~np.isnan(errors[:first])], errors[first:][~np.isnan(errors[first:])]
    if float((below > _NOT_ROUND).mean()) < _BAD or len(above) < 3 or above[:3].max() > _ROUND:
        return None
    centre, radius, _ = fit_circle(points[(number >= first) & (number < first + 3), :2])
    off = (np.abs(np.linalg.norm(points[:, :2] - centre, axis=1) - radius) > _OFF) & (number < first)
    return quantile(points[off, 2], _UPPER) if off.sum() >= _SEEN else None
