"""Frames of a folder with their labels, as the methods are given them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from deskhand.bench.frames.measure import TABLE
from deskhand.bench.frames.plane import Labels
from deskhand.errors import DeskhandError
from deskhand.recording.frames import RecordedFrame, recorded_frames
from deskhand.types import CameraIntrinsics, Depth, Image

FOLDER = "seg"


@dataclass(frozen=True)
class LabelledFrame:
    """``color`` (H, W, 3) uint8 RGB, ``depth`` (H, W) float32 [m], NaN for nothing, ``labels`` (H, W), None where nobody labelled the frame."""

    name: str
    color: Image
    depth: Depth
    intrinsics: CameraIntrinsics
    labels: Labels | None
    stamp: float = 0.0


def labelled_frames(folder: Path) -> Iterator[LabelledFrame]:
    """The frames of a folder or a recording; labels are looked for in ``folder/seg``.

    Raises:
        DeskhandError: ``invalid_input`` when it is none, or labels do not fit their frame.
    """
    for recorded in recorded_frames(folder):
        depth = np.where(recorded.depth == 0, np.nan, recorded.depth.astype(np.float32) / 1000).astype(np.float32)
        yield LabelledFrame(recorded.name, recorded.color, depth, recorded.intrinsics, _labels(folder, recorded, depth), recorded.stamp)


def _labels(folder: Path, recorded: RecordedFrame, depth: Depth) -> Labels | None:
    """Numbers (H, W) of table and objects. Where no table is labelled, all that has a depth and no label is table."""
    file = next(_files(folder / FOLDER, recorded.name), None) if recorded.name else None
    if file is None:
        return None
    picture = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    if picture is None or picture.shape[:2] != depth.shape:
        raise DeskhandError("invalid_input", f"{file} must be a picture of labels as large as the depth {depth.shape[1]} x {depth.shape[0]}.")
    labels: Labels = np.asarray(picture[..., 0] if picture.ndim == 3 else picture).astype(np.int32)
    if not (labels == TABLE).any():
        labels[(labels == 0) & np.isfinite(depth)] = TABLE
    return labels


def _files(folder: Path, stem: str) -> Iterator[Path]:
    return (folder / f"{stem}{suffix}" for suffix in (".png", ".tif", ".tiff", ".bmp") if (folder / f"{stem}{suffix}").is_file())
