"""Pictures made easier to read: contrast, light, noise, sharpness, white balance, fewer levels."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from deskhand.types import Image

TILE = 8  # tiles along each side for local contrast
WHITE = 240.0  # of 255, where the brightest part of the picture is put


def clahe(image: Image, strength: float) -> Image:
    """Contrast-limited adaptive histogram equalisation (Zuiderveld 1994) of the lightness; clip limit 1 to 8."""
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2Lab)
    lab[..., 0] = cv2.createCLAHE(1.0 + 7.0 * strength, (TILE, TILE)).apply(np.ascontiguousarray(lab[..., 0]))
    return np.asarray(cv2.cvtColor(lab, cv2.COLOR_Lab2RGB), np.uint8)


def exposure(image: Image, strength: float) -> Image:
    """Gamma that brings the mean lightness towards the middle."""
    mean = float(np.clip(image.mean() / 255, 0.01, 0.99))
    gamma = 1.0 + strength * (np.log(0.5) / np.log(mean) - 1.0)
    table = np.round(255 * (np.arange(256) / 255) ** gamma).astype(np.uint8)
    return np.asarray(cv2.LUT(image, table), np.uint8)


def denoise(image: Image, strength: float) -> Image:
    """Non-local means (Buades et al. 2005)."""
    level = float(3.0 + 12.0 * strength)
    return np.asarray(cv2.fastNlMeansDenoisingColored(image, None, level, level, 5, 15), np.uint8)


def sharpen(image: Image, strength: float) -> Image:
    """Unsharp mask of 2 px."""
    soft = cv2.GaussianBlur(image, (0, 0), 2.0)
    return np.asarray(cv2.addWeighted(image, 1.0 + 1.5 * strength, soft, -1.5 * strength, 0), np.uint8)


def white_balance(image: Image, strength: float) -> Image:
    """The shades-of-grey estimate of the light (Finlayson and Trezzi 2004, norm 6), divided out."""
    light = (image.astype(np.float64) ** 6).mean(axis=(0, 1)) ** (1 / 6)
    gain = 1.0 + strength * (light.mean() / np.maximum(light, 1.0) - 1.0)
    return np.asarray(np.clip(image * gain, 0, 255).round(), np.uint8)


def squeeze(image: Image, strength: float) -> Image:
    """Feature squeezing (Xu et al. 2018): fewer levels, 6 to 3 bits, after a median of 3 px; small perturbations are lost, also adversarial ones."""
    levels = 2 ** round(6 - 3 * strength) - 1
    table = np.round(np.round(np.arange(256) / 255 * levels) / levels * 255).astype(np.uint8)
    return np.asarray(cv2.LUT(cv2.medianBlur(image, 3), table), np.uint8)


FILTERS: dict[str, Callable[[Image, float], Image]] = {
    "clahe": clahe,
    "exposure": exposure,
    "denoise": denoise,
    "sharpen": sharpen,
    "white_balance": white_balance,
    "squeeze": squeeze,
}
"""Filters by name; each takes a picture (H, W, 3) and a strength 0..1."""
