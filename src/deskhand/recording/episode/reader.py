"""Reads an episode folder, also one whose recorder was killed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, identity, make_transform, matrix_from_quaternion
from deskhand.recording.episode import messages
from deskhand.recording.episode.plain import message_to_json
from deskhand.recording.episode.writer import FILE
from deskhand.recording.pictures import from_jpeg
from deskhand.recording.reader import Recording
from deskhand.types import CameraIntrinsics, Frame, Image


@dataclass(frozen=True)
class Look:
    """One look at the desk: an annotated picture (JPEG bytes) and what was seen."""

    stamp: float
    jpeg: bytes
    objects: tuple[dict[str, Any], ...]

    def image(self) -> Image:
        """(H, W, 3) RGB."""
        return from_jpeg(self.jpeg)


@dataclass
class Episode:
    """What was recorded.

    Attributes:
        complete: False when the file ends without its index, as when the recorder was killed.
        messages: (topic, time [s], decoded message) in the order in which they were written.
        result: ``result.json``, empty while there is none.
        steps: what the agent decided, from ``agent.json``.
    """

    folder: Path
    complete: bool = False
    messages: list[tuple[str, float, Any]] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def on(self, topic: str) -> list[tuple[float, Any]]:
        """(time [s], message) of one topic."""
        return [(stamp, message) for name, stamp, message in self.messages if name == topic]

    def json(self, topic: str) -> list[tuple[float, dict[str, Any]]]:
        """(time [s], data) of a topic that carries JSON, or scenes or safety states, which are made the same plain data."""
        return [(stamp, message_to_json(message)) for stamp, message in self.on(topic)]

    @property
    def events(self) -> list[dict[str, Any]]:
        """Starts, ends and phases of tool calls."""
        return [data for _, data in self.json(messages.EVENTS)]

    @property
    def joints(self) -> list[tuple[float, Any]]:
        """(time [s], sensor_msgs/JointState)."""
        return self.on(messages.JOINTS)

    def looks(self) -> list[Look]:
        """Pictures with the scene of the same moment."""
        scenes = {round(data["stamp"], 3): data["objects"] for _, data in self.json(messages.SCENE)}
        return [Look(stamp, bytes(message.data), tuple(scenes.get(round(stamp, 3), ()))) for stamp, message in self.on(messages.ANNOTATED)]

    def camera(self) -> Frame | None:
        """An empty frame of the camera, for projecting; None when its pose was not recorded."""
        infos = self.on(messages.CAMERA)
        if not infos:
            return None
        info = infos[0][1]
        pose = self._world_T(info.header.frame_id)
        if pose is None:
            return None
        k = CameraIntrinsics(info.width, info.height, info.k[0], info.k[4], info.k[2], info.k[5], info.header.frame_id)
        return Frame(np.zeros((0, 0, 3), np.uint8), np.zeros((0, 0), np.float32), k, pose, infos[0][0])

    def _world_T(self, frame: str) -> Array | None:
        """world_T_frame along the fixed transforms; None where they do not lead to ``world``."""
        parents = {item.child_frame_id: item for _, message in self.on(messages.TF_STATIC) for item in message.transforms}
        pose = identity()
        for _ in range(len(parents)):
            if frame not in parents:
                break
            item = parents[frame]
            t, q = item.transform.translation, item.transform.rotation
            pose = make_transform(matrix_from_quaternion([q.x, q.y, q.z, q.w]), [t.x, t.y, t.z]) @ pose
            frame = item.header.frame_id
        return pose if frame == "world" else None


def read_episode(folder: Path) -> Episode:
    """All that is in an episode folder. A file cut off anywhere is read up to its last whole message.

    Raises:
        DeskhandError: ``invalid_input`` when there is no ``episode.mcap`` or it is of another format.
    """
    folder = Path(folder)
    path = folder / FILE
    if not path.is_file():
        raise DeskhandError("invalid_input", f"there is no {FILE} in {folder}.")
    episode = Episode(folder)
    result = folder / "result.json"
    if result.is_file():
        episode.result = json.loads(result.read_text())
    agent = folder / "agent.json"
    if agent.is_file():
        episode.steps = json.loads(agent.read_text()).get("steps", [])
    recording = Recording(path)
    episode.messages.extend((record.topic, record.stamp, record.message) for record in recording)
    episode.complete = recording.complete
    return episode
