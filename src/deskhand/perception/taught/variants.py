"""Variants of one view: turned in the picture, and as other light, distances, noise and masks would show it."""

from __future__ import annotations

import cv2
import numpy as np

from deskhand.perception.taught.descriptor import Image, Mask
from deskhand.perception.taught.settings import VARIANTS


def reduced(color: Image, mask: Mask) -> tuple[Image, Mask]:
    """The object's box, no larger than :attr:`VariantSettings.largest`."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    color, mask = color[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1], mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = min(1.0, VARIANTS.largest / max(mask.shape))
    return scaled(color, mask, scale) if scale < 1 else (color, mask)


def scaled(color: Image, mask: Mask, scale: float) -> tuple[Image, Mask]:
    """Both with ``scale`` times the pixels each way; the background does not bleed in."""
    size = max(3, round(mask.shape[1] * scale)), max(3, round(mask.shape[0] * scale))
    share = cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    part = cv2.resize(color.astype(np.float32) * mask[..., None], size, interpolation=cv2.INTER_AREA)
    kept = share > 0.4
    if not kept.any():
        return color, mask
    return (part / np.maximum(share[..., None], 0.05)).clip(0, 255).astype(np.uint8), kept


def warped(color: Image, mask: Mask, matrix: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[Image, Mask]:
    """Both under a linear map (2, 2) about their middle, on a canvas that holds them."""
    height, width = mask.shape
    corners = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2 @ matrix.T
    size = np.ceil(np.ptp(corners, axis=0)).astype(int) + 2
    shift = size / 2 - matrix @ np.array([width, height]) / 2
    full = np.column_stack([matrix, shift])
    target = int(size[0]), int(size[1])
    share = cv2.warpAffine(mask.astype(np.float32), full, target)
    part = cv2.warpAffine(color.astype(np.float32) * mask[..., None], full, target)
    kept = share > 0.5
    if not kept.any():
        return color, mask
    return (part / np.maximum(share[..., None], 0.05)).clip(0, 255).astype(np.uint8), kept


def turned(color: Image, mask: Mask, turn: int) -> tuple[Image, Mask]:
    """Both turned by ``turn`` of :attr:`VariantSettings.turns` in the picture."""
    if turn % VARIANTS.turns == 0:
        return color, mask
    angle = 2 * np.pi * turn / VARIANTS.turns
    return warped(color, mask, np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]))


def disturbed(color: Image, mask: Mask, random: np.random.Generator) -> tuple[Image, Mask]:
    """As another look may show it: a little turned and foreshortened, smaller, blurred, in other light, its mask off at the edge, a side hidden."""
    angle, shear, squeeze = random.normal(0, 0.15), random.normal(0, 0.1), np.exp(random.normal(0, 0.1, 2))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    color, mask = warped(color, mask, turn @ np.array([[1, shear], [0, 1]]) @ np.diag(squeeze))
    pixels = np.exp(random.uniform(np.log(400), np.log(4000)))
    color, mask = scaled(color, mask, min(1.0, float(np.sqrt(pixels / mask.sum()))))
    if random.random() < 0.3:
        color = cv2.GaussianBlur(color, (3, 3), 0).reshape(color.shape)
    kernel = np.ones((3, 3), np.uint8)
    grown = (cv2.erode if random.random() < 0.7 else cv2.dilate)(mask.astype(np.uint8), kernel).astype(bool)
    mask = grown if random.random() < 0.5 and grown.any() else mask
    if random.random() < 0.3:
        mask = _partly_hidden(mask, random)
    gains = np.exp(random.normal(0, 0.35) + random.normal(0, 0.08, 3))
    noise = random.normal(0, 3.0, color.shape)
    return np.clip(color * gains + noise, 0, 255).astype(np.uint8), mask


def _partly_hidden(mask: Mask, random: np.random.Generator) -> Mask:
    """Up to a quarter of the object cut away from one side."""
    share, side = random.uniform(0.05, 0.25), int(random.integers(4))
    rows, columns = np.nonzero(mask)
    along = (rows, -rows, columns, -columns)[side]
    cut = mask.copy()
    gone = along < np.quantile(along, share)
    if gone.all():
        return mask
    cut[rows[gone], columns[gone]] = False
    return np.asarray(cut)
