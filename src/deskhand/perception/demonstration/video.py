"""A demonstration as one file: a zip of pictures in colour (8 bits) and depth (16 bits, millimetres, 0 for nothing), and what camera took them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import CameraIntrinsics, Frame, JointState

SUFFIX = ".zip"
ABOUT = "demonstration.json"
VERSION = 1
MOST = 600  # frames
MOST_BYTES = 8 * 2**20  # of a picture in the file: more than a noisy one of 2 megapixels has


@dataclass(frozen=True)
class Video:
    """Frames of one camera that stands still, in order; ``joints``: where the arm was in all of them, None where none is in the picture."""

    frames: tuple[Frame, ...]
    joints: JointState | None = None


def write_video(file: Path, frames: Iterable[Frame], joints: JointState | None = None) -> int:
    """Write a video; the frames are taken one after the other. Answers how many.

    Raises:
        DeskhandError: ``invalid_input`` for no frames, frames of several cameras, or more than ``MOST``.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    stamps: list[float] = []
    first: Frame | None = None
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for number, frame in enumerate(frames):
            first = first or frame
            if frame.intrinsics != first.intrinsics or number >= MOST:
                raise DeskhandError("invalid_input", f"a demonstration has at most {MOST} frames, all of one camera.")
            depth = np.nan_to_num(np.round(frame.depth * 1000)).astype(np.uint16)
            for name, picture in (("color", frame.color[..., ::-1]), ("depth", depth)):
                archive.writestr(f"{number:04d}_{name}.png", cv2.imencode(".png", picture)[1].tobytes())
            stamps.append(float(frame.stamp))
        if first is None:
            raise DeskhandError("invalid_input", "a demonstration needs frames.")
        archive.writestr(ABOUT, json.dumps(_about(first, stamps, joints)))
    return len(stamps)


def read_video(data: bytes, name: str) -> Video:
    """The video in the content of a file; ``name`` is for messages.

    Raises:
        DeskhandError: ``invalid_input`` when it is none.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            about = json.loads(_content(archive, ABOUT))
            if about["version"] != VERSION or not 1 <= len(about["stamps"]) <= MOST:
                raise ValueError(f"version {about['version']} with {len(about['stamps'])} frames")
            camera = CameraIntrinsics(**about["camera"])
            pose = np.asarray(about["world_T_camera"], dtype=float).reshape(4, 4)
            frames = []
            for number, stamp in enumerate(about["stamps"]):
                color = _picture(archive, f"{number:04d}_color.png", (camera.height, camera.width, 3), np.uint8)
                depth = _picture(archive, f"{number:04d}_depth.png", (camera.height, camera.width), np.uint16).astype(np.float32) / np.float32(1000)
                depth[depth == 0] = np.nan
                frames.append(Frame(np.ascontiguousarray(color[..., ::-1]), depth, camera, pose, float(stamp)))
            return Video(tuple(frames), _joints(about["joints"], frames[0].stamp))
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise DeskhandError("invalid_input", f"{name} is no demonstration: {error}.", hint="Record one with `deskhand record-demonstration`.") from error


def _about(frame: Frame, stamps: list[float], joints: JointState | None) -> dict[str, Any]:
    k = frame.intrinsics
    return {
        "version": VERSION,
        "camera": {"width": k.width, "height": k.height, "fx": k.fx, "fy": k.fy, "cx": k.cx, "cy": k.cy, "frame_id": k.frame_id},
        "world_T_camera": np.asarray(frame.world_T_camera, dtype=float).tolist(),
        "joints": None if joints is None else dict(zip(joints.names, map(float, joints.positions), strict=True)),
        "stamps": stamps,
    }


def _joints(data: dict[str, float] | None, stamp: float) -> JointState | None:
    if data is None:
        return None
    zeros: Array = np.zeros(len(data))
    return JointState(tuple(data), np.array(list(map(float, data.values()))), zeros, zeros, stamp)


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    """Of a member, no more than a picture may have."""
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise ValueError(f"{name} is larger than {MOST_BYTES} bytes")
    return archive.read(name)


def _picture(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], kind: type) -> npt.NDArray[Any]:
    image = cv2.imdecode(np.frombuffer(_content(archive, name), np.uint8), cv2.IMREAD_UNCHANGED)
    if image is None or image.shape != shape or image.dtype != kind:
        raise ValueError(f"{name} is no picture of {' x '.join(map(str, shape))}")
    picture: npt.NDArray[Any] = image
    return picture
