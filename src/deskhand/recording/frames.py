"""The camera of a recording: aligned frames with their intrinsics, from an MCAP file or from a folder of pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import yaml

from deskhand.errors import DeskhandError
from deskhand.recording.pictures import depth_from_png, from_jpeg, millimetres
from deskhand.recording.reader import Recording, mcap_in
from deskhand.types import CameraIntrinsics, Image
from deskhand.types.yaml_file import read_yaml

COLOR, DEPTH, INFO = "camera/color/image_raw", "camera/aligned_depth_to_color/image_raw", "camera/color/camera_info"
"""Topics of a camera, relative to its namespace; see docs/cameras.md."""
TOGETHER = 0.02  # [s] between colour and depth of one exposure at most
CAMERA_FILE = "camera.yaml"


@dataclass(frozen=True)
class RecordedFrame:
    """``color`` (H, W, 3) uint8 RGB, ``depth`` (H, W) uint16 [mm], 0 for nothing, ``stamp`` [s]; ``name`` of its files in a folder, without suffix."""

    color: Image
    depth: npt.NDArray[np.uint16]
    intrinsics: CameraIntrinsics
    stamp: float
    name: str = ""


def recorded_frames(path: Path) -> Iterator[RecordedFrame]:
    """The frames in their order.

    Raises:
        DeskhandError: ``invalid_input`` when it is neither a recording nor a folder with ``camera.yaml``.
    """
    path = Path(path)
    return _from_folder(path) if (path / CAMERA_FILE).is_file() else _from_mcap(Recording(mcap_in(path)))


def kind_of(topic: str) -> str:
    """Which of COLOR, DEPTH and INFO a recorded topic is, in whatever namespace and compressed or not; empty for none."""
    plain = topic.removesuffix("/compressed").removesuffix("/compressedDepth")
    return next((kind for kind in (COLOR, DEPTH, INFO) if plain.endswith(kind)), "")


def _from_mcap(recording: Recording) -> Iterator[RecordedFrame]:
    info: CameraIntrinsics | None = None
    waiting: dict[str, tuple[float, Any]] = {}
    for record in recording.in_time():
        kind = kind_of(record.topic)
        if kind == INFO:
            info = intrinsics_of(record.message)
        elif kind:
            waiting[kind] = (stamp_of(record.message), record)
            if info is None or len(waiting) < 2 or abs(waiting[COLOR][0] - waiting[DEPTH][0]) > TOGETHER:
                continue
            stamp = waiting[COLOR][0]
            yield RecordedFrame(color_of(waiting[COLOR][1].message), depth_of(waiting[DEPTH][1].message), info, stamp)
            waiting = {}


def stamp_of(message: Any) -> float:
    """Time [s] of a message with a header."""
    return float(message.header.stamp.sec) + float(message.header.stamp.nanosec) * 1e-9


def intrinsics_of(message: Any) -> CameraIntrinsics:
    """Of a recorded sensor_msgs/CameraInfo."""
    return CameraIntrinsics(message.width, message.height, message.k[0], message.k[4], message.k[2], message.k[5], message.header.frame_id)


def color_of(message: Any) -> Image:
    """(H, W, 3) RGB of a recorded Image (rgb8, bgr8) or CompressedImage. Raises ``invalid_input`` for other encodings."""
    if hasattr(message, "format"):
        return from_jpeg(message.data)
    if message.encoding not in ("rgb8", "bgr8"):
        raise DeskhandError("invalid_input", f"the recorded picture has encoding {message.encoding!r}; valid: rgb8, bgr8.")
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)[:, : 3 * message.width]
    picture = rows.reshape(message.height, message.width, 3)
    return picture if message.encoding == "rgb8" else np.ascontiguousarray(picture[..., ::-1])


def depth_of(message: Any) -> npt.NDArray[np.uint16]:
    """(H, W) uint16 [mm] of a recorded Image (16UC1, 32FC1) or compressed depth. Raises ``invalid_input`` for other encodings."""
    if hasattr(message, "format"):
        return depth_from_png(message.data)
    kinds = {"16UC1": np.uint16, "mono16": np.uint16, "32FC1": np.float32}
    if message.encoding not in kinds:
        raise DeskhandError("invalid_input", f"the recorded depth has encoding {message.encoding!r}; valid: {', '.join(kinds)}.")
    kind = np.dtype(kinds[message.encoding])
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)[:, : kind.itemsize * message.width]
    depth = np.ascontiguousarray(rows).view(kind)
    return depth if kind == np.uint16 else millimetres(depth)


# ---------------------------------------------------------------- a folder of pictures


def _from_folder(folder: Path) -> Iterator[RecordedFrame]:
    intrinsics = _camera(folder / CAMERA_FILE)
    for depth_file in sorted((folder / "depth").glob("*.png"), key=lambda file: int(file.stem)):
        colors = [file for file in (folder / "color").glob(f"{depth_file.stem}.*") if file.suffix in (".png", ".jpg", ".jpeg")]
        color = cv2.imread(str(colors[0]), cv2.IMREAD_COLOR) if colors else None
        depth = cv2.imread(str(depth_file), cv2.IMREAD_UNCHANGED)
        if color is None or depth is None or depth.dtype != np.uint16 or depth.shape != color.shape[:2]:
            raise DeskhandError("invalid_input", f"{depth_file} and color/{depth_file.stem} must be a 16-bit depth and a colour picture of the same size.")
        yield RecordedFrame(np.ascontiguousarray(color[..., ::-1]), np.asarray(depth, np.uint16), intrinsics, int(depth_file.stem) * 1e-9, depth_file.stem)


def _camera(file: Path) -> CameraIntrinsics:
    try:
        data = read_yaml(file)
        fx, fy, cx, cy = (float(data[name]) for name in ("fx", "fy", "cx", "cy"))
        return CameraIntrinsics(int(data["width"]), int(data["height"]), fx, fy, cx, cy)
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise DeskhandError("invalid_input", f"{file} must say width, height, fx, fy, cx, cy: {error!r}.") from error
