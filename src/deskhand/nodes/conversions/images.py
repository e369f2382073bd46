"""Images and the intrinsics of cameras."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sensor_msgs.msg import CameraInfo, Image

from deskhand import types
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.nodes.conversions.geometry import header, time_from_msg


def image_to_msg(image: npt.NDArray[Any], stamp: float, frame_id: str, encoding: str = "") -> Image:
    """(H, W, 3) uint8 RGB or (H, W) float32 [m] -> Image (``rgb8``, ``32FC1`` unless ``encoding`` says otherwise)."""
    data = np.ascontiguousarray(image)
    encoding = encoding or {np.dtype(np.uint8): "rgb8", np.dtype(np.float32): "32FC1", np.dtype(np.uint16): "16UC1"}[data.dtype]
    message = Image(header=header(stamp, frame_id), height=data.shape[0], width=data.shape[1], encoding=encoding, step=data.strides[0])
    message.data.frombytes(data.data.cast("B"))  # one copy; assigning bytes makes two
    return message


def image_from_msg(message: Image) -> npt.NDArray[Any]:
    """Image -> (H, W, 3) uint8 RGB, or (H, W) float32 depth [m] with NaN for nothing (REP 118)."""
    kinds: dict[str, tuple[Any, int]] = {"rgb8": (np.uint8, 3), "bgr8": (np.uint8, 3), "rgba8": (np.uint8, 4), "bgra8": (np.uint8, 4)}
    kinds |= {"32FC1": (np.float32, 1), "16UC1": (np.uint16, 1), "mono16": (np.uint16, 1)}
    if message.encoding not in kinds:
        raise DeskhandError("invalid_input", f"image encoding {message.encoding!r} is not supported; valid: {', '.join(kinds)}.")
    dtype, channels = kinds[message.encoding]
    width = np.dtype(dtype).itemsize * channels * message.width
    raw = np.frombuffer(message.data, np.uint8)
    if message.step < width or raw.size < message.step * message.height:
        raise DeskhandError("invalid_input", f"image data of {raw.size} bytes is too short for {message.width}x{message.height} {message.encoding}.")
    raw = raw[: message.step * message.height].reshape(message.height, message.step)[:, :width]
    array = np.ascontiguousarray(raw).view(np.dtype(dtype).newbyteorder(">" if message.is_bigendian else "<"))
    if channels > 1:
        array = array.reshape(message.height, message.width, channels)[..., :3]
        return np.ascontiguousarray(array[..., ::-1] if message.encoding.startswith("bgr") else array)
    if array.dtype.itemsize == 2:
        return np.where(array == 0, np.nan, array * 0.001).astype(np.float32)
    depth: npt.NDArray[np.float32] = array.astype(np.float32)
    depth[~(depth > 0)] = np.nan
    return depth


def camera_info_to_msg(intrinsics: types.CameraIntrinsics, stamp: float) -> CameraInfo:
    """Intrinsics of a rectified camera -> CameraInfo."""
    k = intrinsics
    return CameraInfo(
        header=header(stamp, k.frame_id),
        height=k.height,
        width=k.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[k.fx, 0.0, k.cx, 0.0, k.fy, k.cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[k.fx, 0.0, k.cx, 0.0, 0.0, k.fy, k.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def camera_info_from_msg(message: CameraInfo) -> types.CameraIntrinsics:
    """CameraInfo -> intrinsics. Raises ``invalid_input`` when the camera is not calibrated (K is zero)."""
    if not message.k[0] > 0 or not message.k[4] > 0:
        raise DeskhandError("invalid_input", "camera_info carries no calibration (K is zero).", hint="Calibrate the camera or check its driver.")
    return types.CameraIntrinsics(message.width, message.height, message.k[0], message.k[4], message.k[2], message.k[5], message.header.frame_id)


def frame_from_msg(color: Image, depth: Image, info: CameraInfo, world_T_camera: Array) -> types.Frame:
    """Aligned pictures of one exposure -> Frame."""
    if (color.width, color.height) != (depth.width, depth.height):
        raise DeskhandError("invalid_input", f"colour is {color.width}x{color.height} but depth {depth.width}x{depth.height}: align depth to colour.")
    return types.Frame(image_from_msg(color), image_from_msg(depth), camera_info_from_msg(info), world_T_camera, time_from_msg(color.header.stamp))
