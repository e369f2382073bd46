"""What another camera, or another place of it, does to a frame: exact for depth and labels, which are never mixed."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.bench.frames.labelled import LabelledFrame
from deskhand.types import CameraIntrinsics

Random = np.random.Generator
_HOLE = np.float32(0)


def mirror(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """Left and right exchanged."""
    k = frame.intrinsics
    labels = None if frame.labels is None else np.ascontiguousarray(frame.labels[:, ::-1])
    color, depth = np.ascontiguousarray(frame.color[:, ::-1]), np.ascontiguousarray(frame.depth[:, ::-1])
    return replace(frame, color=color, depth=depth, labels=labels, intrinsics=replace(k, cx=k.width - 1 - k.cx))


def roll(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """The camera turned about its optical axis by up to 25 degrees: as much as a hand or a wrist camera is."""
    k = frame.intrinsics
    turn = cv2.getRotationMatrix2D((k.cx, k.cy), float(random.uniform(-25, 25)), 1.0)
    return _warped(frame, turn, k)


def resolution(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """As many pixels as 0.5 to 1.4 times the focal length give: 320 x 240 to about 900 x 670 of a frame of VGA."""
    scale = float(np.exp(random.uniform(np.log(0.5), np.log(1.4))))
    k = frame.intrinsics
    width, height = round(k.width * scale), round(k.height * scale)
    other = CameraIntrinsics(width, height, k.fx * scale, k.fy * scale, (k.cx + 0.5) * scale - 0.5, (k.cy + 0.5) * scale - 0.5, k.frame_id)
    return _warped(frame, np.array([[scale, 0, 0.5 * scale - 0.5], [0, scale, 0.5 * scale - 0.5]]), other)


def crop(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """A window of 0.6 to 0.9 of the width and height, about a labelled object: objects reach over its edges."""
    k = frame.intrinsics
    share = random.uniform(0.6, 0.9)
    width, height = int(share * k.width), int(share * k.height)
    places = np.argwhere(frame.labels > 1) if frame.labels is not None else np.zeros((0, 2), int)
    v, u = places[random.integers(len(places))] if len(places) else (k.height // 2, k.width // 2)
    top, left = int(np.clip(v - height // 2, 0, k.height - height)), int(np.clip(u - width // 2, 0, k.width - width))
    window = slice(top, top + height), slice(left, left + width)
    labels = None if frame.labels is None else np.ascontiguousarray(frame.labels[window])
    other = replace(k, width=width, height=height, cx=k.cx - left, cy=k.cy - top)
    return replace(frame, color=np.ascontiguousarray(frame.color[window]), depth=np.ascontiguousarray(frame.depth[window]), labels=labels, intrinsics=other)


def distance(frame: LabelledFrame, random: Random) -> LabelledFrame:
    """The scene 0.7 to 1.15 times as large and as far away: the picture stays the same."""
    return replace(frame, depth=(frame.depth * np.float32(random.uniform(0.7, 1.15))).astype(np.float32))


def _warped(frame: LabelledFrame, turn: npt.NDArray[np.float64], intrinsics: CameraIntrinsics) -> LabelledFrame:
    """The pictures through an affine map (2, 3) of pixels; depth and labels by their nearest pixel."""
    size = intrinsics.width, intrinsics.height
    shrinks = intrinsics.width < frame.intrinsics.width
    color = cv2.warpAffine(frame.color if not shrinks else cv2.blur(frame.color, (2, 2)), turn, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    depth = cv2.warpAffine(np.nan_to_num(frame.depth), turn, size, flags=cv2.INTER_NEAREST, borderValue=0.0)
    depth = np.where(depth > _HOLE, depth, np.nan).astype(np.float32)
    labels = None
    if frame.labels is not None:
        labels = cv2.warpAffine(frame.labels.astype(np.float32), turn, size, flags=cv2.INTER_NEAREST, borderValue=0.0).astype(np.int32)
    return replace(frame, color=color, depth=depth, labels=labels, intrinsics=intrinsics)
