"""What another sensor, or other light, does to a frame."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.bench.frames.labelled import LabelledFrame

Random = np.random.Generator
NOISE = 1.5e-3
"""[1/m] standard deviation of a structured-light depth over its square (K. Khoshelham, S. O. Elberink, Accuracy and Resolution of Kinect Depth Data, 2012)."""
STEP = 2.85e-3
"""[1/m] of the same: between neighbouring values (J. Smisek et al., 3D with Kinect, 2011)."""
BEND = 2.0e-3
"""[1/m] low-frequency error of a depth over its square, as large as that of Kinects before calibration (Khoshelham and Elberink)."""
JUMP = 0.015
"""[m] from pixel to pixel: more is an edge of something."""


def noise(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Noise of up to 1.2 times that of a Kinect on top of the frame's own, correlated over up to 3 pixels, and depth in steps."""
    size, grain = random.uniform(0.4, 1.2) * NOISE, random.uniform(0.5, 1.5)
    field = _field(random, frame.depth.shape, grain)
    depth = frame.depth * (1 + size * field * frame.depth)
    step = STEP * random.uniform(0.3, 1.0) * depth**2
    return replace(frame, depth=(np.rint(depth / step) * step).astype(np.float32))


def bend(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Depth scaled by up to 2 %, and planes bent by some millimetres over a fifth of the picture."""
    width = frame.intrinsics.width
    field = _field(random, frame.depth.shape, random.uniform(0.1, 0.25) * width)
    depth = frame.depth * random.uniform(0.98, 1.02)
    return replace(frame, depth=(depth * (1 + 0.7 * BEND * field * depth)).astype(np.float32))


def holes(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Blotchy holes where the picture is dark or shines, and a pixel or two lost along edges of depth."""
    light = frame.color.astype(np.float32).mean(axis=2)
    blotch = _field(random, frame.depth.shape, random.uniform(1.5, 5.0))
    dark = np.clip((random.uniform(30, 70) - light) / 20, 0, 1)
    shines = np.clip((light - 245) / 8, 0, 1)
    lost = blotch > np.where(np.maximum(dark, shines) > 0, random.uniform(0.0, 1.0), 3.5)
    lost |= cv2.dilate(edges(frame.depth).astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool) & (_field(random, frame.depth.shape, 1.0) > -0.5)
    return replace(frame, depth=np.where(lost, np.nan, frame.depth).astype(np.float32))


def flying(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Pixels at edges of depth that are somewhere between both sides."""
    filled = np.where(np.isfinite(frame.depth), frame.depth, 0).astype(np.float32)
    blurred, known = cv2.blur(filled, (3, 3)), cv2.blur(np.isfinite(frame.depth).astype(np.float32), (3, 3))
    mean = blurred / np.maximum(known, 1e-6)
    near = cv2.dilate(edges(frame.depth).astype(np.uint8), np.ones((2, 2), np.uint8)).astype(bool)
    chosen = near & np.isfinite(frame.depth) & (random.random(frame.depth.shape) < random.uniform(0.2, 0.6))
    share = random.random(frame.depth.shape).astype(np.float32)
    return replace(frame, depth=np.where(chosen, share * frame.depth + (1 - share) * mean, frame.depth).astype(np.float32))


def registration(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Colour shifted against depth by up to 3 pixels; labels stay with the depth."""
    shift = random.uniform(-3, 3, size=2)
    size = frame.intrinsics.width, frame.intrinsics.height
    color = cv2.warpAffine(frame.color, np.array([[1, 0, shift[0]], [0, 1, shift[1]]]), size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return replace(frame, color=color)


def light(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """White balance, exposure by a factor of 0.4 to 1.7, contrast, a slope of light over the picture, and noise of the colours."""
    height, width = frame.depth.shape
    gains = np.exp(random.normal(0, 0.12, 3)) * np.exp(random.uniform(np.log(0.4), np.log(1.7)))
    slope = random.uniform(-0.3, 0.3, 2)
    plane = 1 + slope[0] * (np.linspace(-0.5, 0.5, width))[None] + slope[1] * np.linspace(-0.5, 0.5, height)[:, None]
    color = 255 * (frame.color / 255.0) ** random.uniform(0.8, 1.25) * gains * plane[..., None]
    color = color + random.normal(0, random.uniform(0, 6), color.shape)
    return replace(frame, color=np.clip(np.rint(color), 0, 255).astype(np.uint8))


def edges(depth: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Where depth (H, W) jumps to the pixel at the right or below."""
    filled = np.where(np.isfinite(depth), depth, np.float32(9)).astype(np.float32)
    found = np.zeros(depth.shape, bool)
    found[:, :-1] |= np.abs(np.diff(filled, axis=1)) > JUMP
    found[:-1] |= np.abs(np.diff(filled, axis=0)) > JUMP
    return found


def _field(random: Random, shape: tuple[int, ...], grain: float) -> npt.NDArray[np.float32]:
    """Smooth random field (H, W) of mean 0 and standard deviation 1, correlated over ``grain`` [px]."""
    coarse = max(1.0, grain / 3)
    small = random.standard_normal((int(shape[0] / coarse) + 3, int(shape[1] / coarse) + 3)).astype(np.float32)
    small = cv2.GaussianBlur(small, (0, 0), grain / coarse)
    field = cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray((field - field.mean()) / max(float(field.std()), 1e-6), dtype=np.float32)
