"""Writes ``episode.mcap``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from deskhand.arms.frames import LinkTransform
from deskhand.geometry import Array
from deskhand.recording.episode import messages
from deskhand.recording.episode.plain import header, scene_to_ros, transform_to_ros
from deskhand.recording.mcap_file import McapFile
from deskhand.recording.pictures import to_jpeg
from deskhand.recording.qos import USUAL
from deskhand.types import CameraIntrinsics, Image, JointState, SafetyStatus, Scene

FILE = "episode.mcap"


class EpisodeWriter:
    """Writes messages into ``folder/episode.mcap``; safe to call from several threads.

    ``stamp`` is always ROS time [s]; it is the time of the message in the file, so that a simulated episode plays in simulated time.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._file = McapFile(self.folder / FILE)

    def open(self) -> None:
        """Create the folder and begin the file.

        Raises:
            DeskhandError: ``config_error`` when the folder cannot be written.
        """
        self._file.open()

    @property
    def problem(self) -> str:
        """Why nothing is written any more; empty while all is well."""
        return self._file.problem

    def close(self) -> None:
        """Write the index and close; safe to call again."""
        self._file.close()

    def __enter__(self) -> EpisodeWriter:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def write(self, topic: str, datatype: str, message: Any, stamp: float) -> None:
        """One message of a type in messages.DEFINITIONS, as nested dictionaries or a ROS message; nothing once closed."""
        self._file.write(topic, datatype, messages.DEFINITIONS[datatype], message, stamp, (messages.QOS.get(topic, USUAL),), topic in messages.SAMPLES)

    def json(self, topic: str, data: Mapping[str, Any], stamp: float) -> None:
        """JSON in a std_msgs/String."""
        self.write(topic, messages.STRING, {"data": json.dumps(data, default=_plain)}, stamp)

    def event(self, record: Mapping[str, Any], stamp: float) -> None:
        """A tool call's start or end, or a phase of one."""
        self.json(messages.EVENTS, {"sim_time": stamp, **record}, float(record.get("sim_time", stamp)))

    def event_text(self, text: str, stamp: float) -> None:
        """An event as it came over ROS; what is not JSON is kept as it is."""
        try:
            record = json.loads(text)
        except ValueError:
            record = {"event": "unreadable", "text": text}
        self.event(record if isinstance(record, dict) else {"event": "unreadable", "text": text}, stamp)

    def scene(self, scene: Scene) -> None:
        """What one look gave, without the points."""
        self.write(messages.SCENE, messages.SCENE_OBJECTS, scene_to_ros(scene), scene.stamp)

    def safety(self, status: SafetyStatus, stamp: float) -> None:
        """Whether the robot is stopped, and why."""
        message = {"header": header(stamp, ""), "stopped": status.stopped, "code": status.code, "reason": status.reason}
        self.write(messages.SAFETY, messages.SAFETY_STATUS, message, stamp)

    def transforms(self, links: Iterable[LinkTransform], stamp: float, fixed: bool = False) -> None:
        """Where links are on their parents; ``fixed``: for good."""
        items = [transform_to_ros(link.parent, link.child, link.pose, stamp) for link in links]
        if items:
            self.write(messages.TF_STATIC if fixed else messages.TF_MOVING, messages.TF, {"transforms": items}, stamp)

    def picture(self, image: Image, stamp: float, frame_id: str = "camera_color_optical_frame", topic: str = messages.ANNOTATED) -> None:
        """(H, W, 3) RGB, stored as JPEG."""
        message = {"header": header(stamp, frame_id), "format": "jpeg", "data": to_jpeg(image)}
        self.write(topic, messages.COMPRESSED_IMAGE, message, stamp)

    def joints(self, state: JointState) -> None:
        """Measured joints."""
        message = {
            "header": header(state.stamp, ""),
            "name": list(state.names),
            "position": np.asarray(state.positions, float).tolist(),
            "velocity": np.asarray(state.velocities, float).tolist(),
            "effort": np.asarray(state.efforts, float).tolist(),
        }
        self.write(messages.JOINTS, messages.JOINT_STATE, message, state.stamp)

    def camera(self, intrinsics: CameraIntrinsics, world_T_camera: Array, stamp: float) -> None:
        """Where a fixed camera is and what it sees; once."""
        self.camera_info(intrinsics, stamp)
        self.transforms([LinkTransform("world", intrinsics.frame_id, world_T_camera)], stamp, fixed=True)

    def camera_info(self, intrinsics: CameraIntrinsics, stamp: float) -> None:
        """What the camera sees, as a sensor_msgs/CameraInfo."""
        k = intrinsics
        info = {
            "header": header(stamp, k.frame_id),
            "height": k.height,
            "width": k.width,
            "distortion_model": "plumb_bob",
            "d": [0.0] * 5,
            "k": [k.fx, 0.0, k.cx, 0.0, k.fy, k.cy, 0.0, 0.0, 1.0],
            "r": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            "p": [k.fx, 0.0, k.cx, 0.0, 0.0, k.fy, k.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
            "binning_x": 0,
            "binning_y": 0,
            "roi": {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False},
        }
        self.write(messages.CAMERA, messages.CAMERA_INFO, info, stamp)


def _plain(value: Any) -> Any:
    """Numpy numbers and arrays as JSON can say them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
