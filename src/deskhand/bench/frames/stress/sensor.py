"""What another sensor, or other light, does to a frame: the sensor of sim/reality, in the ranges of cameras before calibration, on top of the frame's own."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.bench.frames.labelled import LabelledFrame
from deskhand.sim.reality.color import balance, noisy
from deskhand.sim.reality.depth import bend_field, fly, lost_in_blotches, smooth_noise
from deskhand.sim.sensor import DepthSensor

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
    """Noise of up to 1.2 times that of a Kinect on top of the frame's own, shared by neighbours over 2 to 6 pixels, and depth in steps."""
    size = random.uniform(0.4, 1.2) * NOISE
    field = smooth_noise(_shape(frame), random.uniform(2, 6), random)
    depth = frame.depth * (1 + size * field * frame.depth)
    step = STEP * random.uniform(0.3, 1.0) * depth**2
    return replace(frame, depth=(np.rint(depth / step) * step).astype(np.float32))


def bend(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Depth scaled by up to 2 %, and planes bent by some millimetres over the picture."""
    depth = frame.depth * random.uniform(0.98, 1.02)
    return replace(frame, depth=(depth * (1 + BEND * bend_field(_shape(frame), random) * depth)).astype(np.float32))


def holes(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Blotchy holes where the picture is dark or shines, and a pixel or two lost along edges of depth."""
    light = frame.color.astype(np.float32).mean(axis=2)
    poor = (light < random.uniform(30, 70)) | (light > 245)
    lost = lost_in_blotches(smooth_noise(_shape(frame), random.uniform(4, 14), random), np.where(poor, random.uniform(0.15, 0.5), 0.0).astype(np.float32))
    lost |= cv2.dilate(edges(frame.depth).astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool) & (random.random(frame.depth.shape) < 0.7)
    return replace(frame, depth=np.where(lost, np.nan, frame.depth).astype(np.float32))


def flying(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Pixels at edges of depth that are somewhere between both sides."""
    measured = frame.depth.copy()
    fly(np.where(np.isfinite(frame.depth), frame.depth, np.float32(0)), measured, random.uniform(0.2, 0.6), DepthSensor(), random)
    return replace(frame, depth=np.where(np.isfinite(frame.depth), measured, np.nan).astype(np.float32))


def registration(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Colour shifted against depth by up to 3 pixels; labels stay with the depth."""
    shift = random.uniform(-3, 3, size=2)
    size = frame.intrinsics.width, frame.intrinsics.height
    color = cv2.warpAffine(frame.color, np.array([[1, 0, shift[0]], [0, 1, shift[1]]]), size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return replace(frame, color=color)


def light(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """White balance, exposure by a factor of 0.4 to 1.7, contrast, a slope of light over the picture, and noise of the colours."""
    height, width = frame.depth.shape
    gains = balance(np.radians(random.uniform(-8, 8))) * np.exp(random.uniform(np.log(0.4), np.log(1.7)))
    slope = random.uniform(-0.3, 0.3, 2)
    plane = 1 + slope[0] * (np.linspace(-0.5, 0.5, width))[None] + slope[1] * np.linspace(-0.5, 0.5, height)[:, None]
    color = 255 * (frame.color / 255.0) ** random.uniform(0.8, 1.25) * gains * plane[..., None]
    return replace(frame, color=noisy(np.clip(np.rint(color), 0, 255).astype(np.uint8), random))


def edges(depth: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Where depth (H, W) jumps to the pixel at the right or below."""
    filled = np.where(np.isfinite(depth), depth, np.float32(9)).astype(np.float32)
    found = np.zeros(depth.shape, bool)
    found[:, :-1] |= np.abs(np.diff(filled, axis=1)) > JUMP
    found[:-1] |= np.abs(np.diff(filled, axis=0)) > JUMP
    return found


def _shape(frame: LabelledFrame) -> tuple[int, int]:
    return frame.intrinsics.height, frame.intrinsics.width
