"""Reads an episode folder, also one whose recorder was killed."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from mcap.exceptions import McapError
from mcap.records import Channel, Footer, Message, Schema
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory

from deskhand.episode import messages
from deskhand.episode.writer import FILE
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, identity, make_transform, matrix_from_quaternion
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


def from_jpeg(data: bytes) -> Image:
    """(H, W, 3) RGB.

    Raises:
        DeskhandError: ``invalid_input`` when it is no picture.
    """
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise DeskhandError("invalid_input", "these bytes are not a picture.")
    return np.ascontiguousarray(image[..., ::-1], np.uint8)


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
        """(time [s], data) of a topic that carries JSON."""
        return [(stamp, json.loads(message.data)) for stamp, message in self.on(topic)]

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
    with path.open("rb") as stream:
        if stream.read(5) != b"\x89MCAP":
            raise DeskhandError("invalid_input", f"{path} is not an MCAP file.")
        stream.seek(0)
        try:
            episode.messages.extend(_decoded(StreamReader(stream, validate_crcs=True), episode))
        except (McapError, ValueError, EOFError, struct.error):  # the file ends within a record, or a checksum is wrong
            episode.complete = False
    return episode


def _decoded(reader: StreamReader, episode: Episode) -> Iterator[tuple[str, float, Any]]:
    factory = DecoderFactory()
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    for record in reader.records:
        if isinstance(record, Schema):
            schemas[record.id] = record
        elif isinstance(record, Channel):
            channels[record.id] = record
        elif isinstance(record, Message):
            channel = channels[record.channel_id]
            decode = factory.decoder_for(channel.message_encoding, schemas[channel.schema_id])
            if decode is not None:
                yield channel.topic, record.log_time * 1e-9, decode(record.data)
        elif isinstance(record, Footer):
            episode.complete = True
