"""What is compared of two pictures of objects: where which colours are, how much of each there is, and how edges run.

Colours are logarithms of red, green and blue, so that another light or another white balance shifts all of them alike (von Kries).
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Image = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

SIDE = 32  # [px] to which the object's picture is brought
DARK = 12.0  # added to 0..255 before the logarithm: what is darker is noise
CELLS = 6  # of the layout of colours, each way
EDGE_CELLS, DIRECTIONS = 4, 8  # of the histograms of edges
BINS, REACH = 8, 1.4  # of the histogram of colours, each way, and the chromaticity where it ends


def normalised(color: Image, mask: Mask) -> tuple[Floats, Floats]:
    """Log colours (SIDE, SIDE, 3), the object's mean where it is not, and its share of each pixel (SIDE, SIDE), of the box around the mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    own = mask[part].astype(np.float32)
    logs = np.log(color[part].astype(np.float32) + DARK) * own[..., None]
    way = cv2.INTER_AREA if max(own.shape) > SIDE else cv2.INTER_LINEAR
    share = cv2.resize(own, (SIDE, SIDE), interpolation=way)
    small = cv2.resize(logs, (SIDE, SIDE), interpolation=way)
    total = max(float(share.sum()), 1e-6)
    mean = small.reshape(-1, 3).sum(axis=0) / total
    filled = np.where(share[..., None] > 0.3, small / np.maximum(share[..., None], 1e-3), mean)
    return filled.astype(np.float32), share


def describe(color: Image, mask: Mask) -> Floats:
    """The descriptor (D,) of an object's picture (H, W, 3) with its mask (H, W)."""
    logs, share = normalised(color, mask)
    light = logs.mean(axis=-1)
    planes = np.stack([light, logs[..., 0] - logs[..., 1], (logs[..., 0] + logs[..., 1]) / 2 - logs[..., 2]], axis=-1)
    weight = np.where(share > 0.3, share, 0).astype(np.float32)
    return np.concatenate([_layout(planes, weight), 2 * _amounts(planes, weight), 1.5 * _edges(light, weight), _outline(mask, share)]).astype(np.float32)


def _layout(planes: Floats, weight: Floats) -> Floats:
    """Mean colours over a grid, (3 CELLS^2,)."""
    summed = cv2.resize(planes * weight[..., None], (CELLS, CELLS), interpolation=cv2.INTER_AREA)
    share = cv2.resize(weight, (CELLS, CELLS), interpolation=cv2.INTER_AREA)[..., None]
    mean = (planes * weight[..., None]).reshape(-1, 3).sum(axis=0) / max(float(weight.sum()), 1e-6)
    grid = (summed + 0.1 * mean) / (share + 0.1)
    return np.asarray((grid * np.array([0.5, 1.0, 1.0], np.float32)).reshape(-1))


def _amounts(planes: Floats, weight: Floats) -> Floats:
    """How much of the object has which chromaticity (BINS^2,) and which lightness beside its own mean (BINS,), square roots of shares."""
    kept = weight.reshape(-1) > 0
    values, share = planes.reshape(-1, 3)[kept], weight.reshape(-1)[kept]
    share = share / max(float(share.sum()), 1e-6)
    place = np.clip((values[:, 1:] / REACH + 1) / 2 * (BINS - 1), 0, BINS - 1.001)
    low, part = place.astype(int), place - place.astype(int)
    counts = np.zeros(BINS * BINS)
    for i in (0, 1):
        for j in (0, 1):
            factor = np.abs(1 - i - part[:, 0]) * np.abs(1 - j - part[:, 1])
            counts += np.bincount((low[:, 0] + i) * BINS + low[:, 1] + j, share * factor, BINS * BINS)
    relative = np.clip((values[:, 0] - float((values[:, 0] * share).sum())) / 1.2 * (BINS - 1) / 2 + (BINS - 1) / 2, 0, BINS - 1)
    light = np.bincount(relative.round().astype(int), share, BINS)
    return np.asarray(np.sqrt(np.concatenate([counts, light])), dtype=np.float32)


def _edges(light: Floats, weight: Floats) -> Floats:
    """Histograms of the directions of edges over a grid (EDGE_CELLS^2 DIRECTIONS,), square roots of shares of all of them."""
    dx, dy = cv2.Sobel(light, cv2.CV_32F, 1, 0), cv2.Sobel(light, cv2.CV_32F, 0, 1)
    inner = cv2.erode((weight > 0.9).astype(np.uint8), np.ones((3, 3), np.uint8)).astype(np.float32)
    strength = np.hypot(dx, dy) * inner
    angle = (np.arctan2(dy, dx) % np.pi) / np.pi * DIRECTIONS
    low = np.floor(angle).astype(int)
    part = (angle - low).astype(np.float32)
    planes = np.zeros((SIDE, SIDE, DIRECTIONS), np.float32)
    v, u = np.mgrid[0:SIDE, 0:SIDE]
    planes[v, u, low % DIRECTIONS] += strength * (1 - part)
    planes[v, u, (low + 1) % DIRECTIONS] += strength * part
    cells = cv2.resize(planes, (EDGE_CELLS, EDGE_CELLS), interpolation=cv2.INTER_AREA).reshape(-1)
    return np.asarray(np.sqrt(cells / max(float(cells.sum()), 1e-3)))


def _outline(mask: Mask, share: Floats) -> Floats:
    """The shape of the box around the object, and how much of it is filled (2,)."""
    height, width = np.ptp(np.flatnonzero(mask.any(axis=1))) + 1, np.ptp(np.flatnonzero(mask.any(axis=0))) + 1
    return np.array([np.log(height / width), 2 * float(share.mean())], np.float32)
