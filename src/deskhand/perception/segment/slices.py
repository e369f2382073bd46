"""Upright round objects slice by slice: from which height a segment is round, when what is below is not."""

from __future__ import annotations

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.footprint import fit_circle
from deskhand.perception.quantiles import quantile
from deskhand.perception.rows import lengths
from deskhand.perception.segment.pixel_settings import SLICES


def round_from(points: Array, top: float) -> float | None:
    """Height [m] from which points (N, 3) up to ``top`` [m] lie on one round wall while those below do not; None when it is round all the way, or nowhere."""
    number = np.floor(points[:, 2] / SLICES.slice).astype(int)
    errors, radii = np.full((2, max(0, int(top / SLICES.slice))), np.nan)
    for k in range(len(errors)):
        part = points[number == k, :2]
        if len(part) >= SLICES.enough:
            _, radii[k], errors[k] = fit_circle(part)
    if not np.isfinite(radii).any():
        return None
    errors[radii > SLICES.flat * np.nanmedian(radii)] = np.inf  # a face that is turned to the camera is on a circle, too
    uneven = np.flatnonzero(errors > SLICES.not_round)
    uneven = uneven[uneven < SLICES.highest * len(errors)]
    if len(uneven) < 2:
        return None
    first = int(uneven[-1]) + 1
    below, above = errors[:first][~np.isnan(errors[:first])], errors[first:][~np.isnan(errors[first:])]
    if float((below > SLICES.not_round).mean()) < SLICES.bad or len(above) < 3 or above[:3].max() > SLICES.round:
        return None
    centre, radius, _ = fit_circle(points[(number >= first) & (number < first + 3), :2])
    off = (np.abs(lengths(points[:, :2] - centre) - radius) > SLICES.off) & (number < first)
    return quantile(points[off, 2], SLICES.upper) if off.sum() >= SLICES.seen else None
