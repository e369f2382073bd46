"""Colour and depth as one image file: a PNG of 16 bits and four channels, the fourth the depth in millimetres, 0 where the sensor saw nothing."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.types import Frame

_SCALE = 257  # 8 bits to 16


def save_picture(frame: Frame, path: Path | str) -> None:
    """Write what the camera saw.

    Raises:
        DeskhandError: ``invalid_input`` when the file cannot be written.
    """
    depth = np.nan_to_num(np.round(frame.depth * 1000)).astype(np.uint16)
    bgr = frame.color[..., ::-1].astype(np.uint16) * _SCALE
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(path), np.dstack([bgr, depth])):
        raise DeskhandError("invalid_input", f"the picture {path} cannot be written.")


def load_picture(path: Path | str, like: Frame) -> Frame:
    """What a picture shows, taken to be from where the camera of ``like`` stands.

    Raises:
        DeskhandError: ``invalid_input`` when it is no such picture.
    """
    if not Path(path).is_file():
        raise DeskhandError("invalid_input", f"there is no picture {path}.")
    return picture_from(Path(path).read_bytes(), path, like)


def picture_from(data: bytes, path: Path | str, like: Frame) -> Frame:
    """The same from the content of a file; ``path`` is for messages."""
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED) if data else None
    if image is None or image.dtype != np.uint16 or image.ndim != 3 or image.shape[2] != 4:
        raise DeskhandError("invalid_input", f"{path} is no picture with depth: a PNG of 16 bits with four channels, the fourth the depth in millimetres.")
    if image.shape[:2] != like.depth.shape:
        size = f"{image.shape[1]} x {image.shape[0]}, the camera's {like.depth.shape[1]} x {like.depth.shape[0]}"
        raise DeskhandError("invalid_input", f"{path} is not from this camera: its size is {size}.")
    depth = image[..., 3].astype(np.float32) / 1000
    depth[depth == 0] = np.nan
    color = np.ascontiguousarray((image[..., 2::-1] // _SCALE).astype(np.uint8))
    return Frame(color, depth, like.intrinsics, like.world_T_camera, like.stamp)
