"""Samples of an episode at a fixed rate, for learning: pictures, measured state and commanded action at the same stamps (``samples/samples.mcap``).

``episode.mcap`` is for looking at what happened and has pictures of looks alone; this is a file of its own, because it is a hundred times larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.recording.episode import messages
from deskhand.recording.episode.plain import header
from deskhand.recording.frames import stamp_of
from deskhand.recording.mcap_file import McapFile
from deskhand.recording.pictures import COLOR_FORMAT, DEPTH_FORMAT, depth_to_png, millimetres, png_of, to_jpeg
from deskhand.recording.reader import Recording
from deskhand.types import Frame

FILE = Path("samples") / "samples.mcap"
STATE, ACTION, TASK = "/samples/state", "/samples/action", "/samples/task"
METADATA = "samples"
GRIPPER = "gripper"
"""Name of the last number of states and actions: the distance of the pads [m]. The others are angles of the arm's joints [rad]."""


@dataclass(frozen=True)
class Sample:
    """One moment.

    Attributes:
        stamp: ROS time [s].
        state: (n + 1,) measured: the arm's joints [rad], the distance of the pads [m].
        action: (n + 1,) what was commanded then, in the same order and units: where the joints were told to be, and how wide the gripper was told to go.
        pictures: JPEG of each camera by its name.
        depths: the same of depth, PNG of 16 bits [mm], 0 where there is none.
        task: what the robot had been told.
    """

    stamp: float
    state: Array
    action: Array
    pictures: dict[str, bytes]
    depths: dict[str, bytes]
    task: str


class SampleWriter:
    """Writes samples into an episode's folder; ``names`` are those of the arm's joints, ``rate`` [Hz]."""

    def __init__(self, folder: Path, names: tuple[str, ...], rate: float) -> None:
        self._file = McapFile(Path(folder) / FILE, live=False)
        self._names, self._rate, self._task = (*names, GRIPPER), rate, ""

    def __enter__(self) -> SampleWriter:
        self._file.open()
        self._file.metadata(METADATA, {"rate": repr(self._rate), "names": " ".join(self._names)})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def add(self, stamp: float, state: Array, action: Array, frames: Mapping[str, Frame], task: str) -> None:
        """One moment; ``frames`` by the name of the camera."""
        if task != self._task:
            self._task = task
            self._write(TASK, messages.STRING, {"data": task}, stamp)
        for name, frame in frames.items():
            color, depth = _topics(name)
            picture = {"header": header(stamp, frame.intrinsics.frame_id), "format": COLOR_FORMAT, "data": to_jpeg(frame.color)}
            self._write(color, messages.COMPRESSED_IMAGE, picture, stamp)
            deep = {"header": header(stamp, frame.intrinsics.frame_id), "format": DEPTH_FORMAT, "data": depth_to_png(millimetres(frame.depth))}
            self._write(depth, messages.COMPRESSED_IMAGE, deep, stamp)
        for topic, values in ((ACTION, action), (STATE, state)):  # the state last: it says that the sample is whole
            joints: dict[str, Any] = {"header": header(stamp, ""), "name": list(self._names), "position": [float(value) for value in values]}
            self._write(topic, messages.JOINT_STATE, joints | {"velocity": [], "effort": []}, stamp)

    def _write(self, topic: str, datatype: str, message: Any, stamp: float) -> None:
        self._file.write(topic, datatype, messages.DEFINITIONS[datatype], message, stamp)


def _topics(camera: str) -> tuple[str, str]:
    return f"/{camera}/color/image_raw/compressed", f"/{camera}/aligned_depth_to_color/image_raw/compressedDepth"


class Samples:
    """What was written: ``rate`` [Hz], ``names`` of the numbers in states and actions; iterate for the samples.

    Raises:
        DeskhandError: ``invalid_input`` when the episode has none.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, path = Path(folder), Path(folder) / FILE
        if not path.is_file():
            hint = "Record them: deskhand trial … --record-rate 10, or --expert."
            raise DeskhandError("invalid_input", f"{folder} has no samples at a fixed rate ({FILE}).", hint=hint)
        self._recording = Recording(path)
        told = self._recording.metadata(METADATA)
        try:
            self.rate, self.names = float(told["rate"]), tuple(told["names"].split())
        except (KeyError, ValueError) as error:
            raise DeskhandError("invalid_input", f"{path} does not say at which rate it was recorded.") from error

    def __iter__(self) -> Iterator[Sample]:
        pictures: dict[str, bytes] = {}
        depths: dict[str, bytes] = {}
        action, task = np.zeros(0), ""
        for record in self._recording:
            message = record.message
            if record.topic == ACTION:
                action = np.asarray(message.position, float)
            elif record.topic == STATE:
                yield Sample(stamp_of(message), np.asarray(message.position, float), action, pictures, depths, task)
                pictures, depths = {}, {}
            elif record.topic == TASK:
                task = str(message.data)
            elif record.topic.endswith("/compressed"):
                pictures[record.topic.split("/")[1]] = bytes(message.data)
            elif record.topic.endswith("/compressedDepth"):
                depths[record.topic.split("/")[1]] = png_of(bytes(message.data))
