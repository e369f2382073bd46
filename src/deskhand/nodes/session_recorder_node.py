"""Records topics into one MCAP file (docs/cameras.md): what the robot senses and says, as it is; pictures compressed unless told otherwise."""

from __future__ import annotations

import queue
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CompressedImage, Image

from deskhand.errors import DeskhandError
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.node import DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.recording.definitions import definition_of
from deskhand.recording.frames import COLOR, DEPTH, INFO
from deskhand.recording.mcap_file import McapFile
from deskhand.recording.pictures import COLOR_FORMAT, DEPTH_FORMAT, depth_to_png, millimetres, to_jpeg
from deskhand.recording.qos import LATCHED, USUAL, OfferedQos
from deskhand.recording.thinning import Thinner

SENSES = [COLOR, DEPTH, INFO, "joint_states", "/tf", "/tf_static", "/diagnostics"]
"""What perception and memory live on."""
SAID = ["perception/scene", "tools/events", "safety/status"]
"""What the robot made of it."""
CDR_HEADER = 4  # [bytes] before the message itself, which begins with the time of exposure
LATEST = 5.0  # [s] that a picture may be late; one that is later is stamped by another clock
MOST_WAITING = 20  # pictures that wait to be packed
LOOK_AGAIN = 0.5  # [s] between looks for topics that nobody published before
IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"


@dataclass
class Parameters:
    """Parameters of the node.

    Attributes:
        file: to write; empty: a new one in ``recordings``, named by the time.
        topics: recorded; those that nobody publishes are waited for.
        raw: pictures as they are: ten times the size.
        picture_rate: pictures of each topic a second of ROS time, at most [Hz]; 0: all.
        arm: written down for the replay.
    """

    file: str = ""
    topics: list[str] = field(default_factory=lambda: [*SENSES, *SAID])
    raw: bool = False
    picture_rate: float = 0.0
    arm: str = "wx250s"


class SessionRecorderNode(DeskhandNode):
    """Node ``session_recorder``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("session_recorder", **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        self._wanted = {self.resolve_topic_name(name) for name in self.parameters.topics}
        self._thinner = Thinner(self.parameters.picture_rate) if self.parameters.picture_rate else None
        self._kept: dict[tuple[int, int], bool] = {}  # by the time of exposure
        self._pictures: queue.Queue[tuple[str, bytes, float] | None] = queue.Queue()
        self._packer = threading.Thread(target=self._pack, name="packer", daemon=True)
        self._packer.start()
        self._listening: set[str] = set()
        self._offered: dict[str, tuple[OfferedQos, ...]] = {}
        file = self.parameters.file or f"recordings/{time.strftime('%Y-%m-%d_%H-%M-%S')}.mcap"
        self.file = McapFile(Path(file), live=False)
        self.file.open()
        self.file.metadata("deskhand", {"arm": self.parameters.arm})
        self._look()
        self.create_timer(LOOK_AGAIN, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME), callback_group=self.reentrant)
        self.get_logger().info(f"recording to {file}")

    def health(self) -> Health:
        """See base."""
        values = {"file": str(self.file.path), "messages": sum(self.file.counts.values()), "pictures that wait": self._pictures.qsize()}
        full = self._pictures.qsize() >= MOST_WAITING
        return Health("error" if self.file.problem else "warning" if full else "ok", self.file.problem or ("pictures are left out" if full else ""), values)

    def close(self) -> None:
        """End the file with its index, and say what is in it."""
        self._pictures.put(None)
        self._packer.join(timeout=10.0)
        self.file.close()
        counts = ", ".join(f"{topic} {count}" for topic, count in sorted(self.file.counts.items())) or "nothing"
        print(f"recorded {self.file.path}: {counts}", flush=True)

    def _look(self) -> None:
        """Subscribe to what is wanted and published by now."""
        if not self.get_parameter("use_sim_time").value and self.count_publishers("/clock"):
            self.set_parameters([Parameter("use_sim_time", value=True)])
        for topic, kinds in self.get_topic_names_and_types():
            if topic not in self._wanted - self._listening or not self.count_publishers(topic):
                continue
            self._listening.add(topic)
            try:
                self._listen(topic, kinds[0])
            except (DeskhandError, ImportError, AttributeError) as error:
                self.get_logger().error(f"{topic} is not recorded: {error}")

    def _listen(self, topic: str, datatype: str) -> None:
        package, name = datatype.split("/msg/")
        offered = tuple(_offered(info.qos_profile) for info in self.get_publishers_info_by_topic(topic))
        latched = any(qos.latched for qos in offered)
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        reliability = ReliabilityPolicy.RELIABLE if latched else ReliabilityPolicy.BEST_EFFORT
        quality = QoSProfile(depth=100 if latched else 20, durability=durability, reliability=reliability)
        small = datatype == IMAGE and not self.parameters.raw
        take: Callable[[bytes], None] = partial(self._on_picture, topic) if datatype == IMAGE else partial(self._write, topic, datatype)
        if small:
            definition_of(COMPRESSED)
        definition_of(datatype)
        self._offered[topic] = offered or (USUAL,)
        self.create_subscription(getattr(import_module(f"{package}.msg"), name), topic, take, quality, raw=True)

    def _write(self, topic: str, datatype: str, data: bytes) -> None:
        self.file.write_bytes(topic, datatype, definition_of(datatype), bytes(data), self.seconds(), self._offered[topic])

    def _on_picture(self, topic: str, data: bytes) -> None:
        """Taken at once and packed in another thread; what is too much for it is left out, colour and depth of one exposure together.

        It is recorded at the time of its exposure, so that in a replay it does not come later than it could.
        """
        exposed = struct.unpack_from("<iI", data, CDR_HEADER)
        stamp = exposed[0] + 1e-9 * exposed[1]
        if exposed not in self._kept:
            keep = self._pictures.qsize() < MOST_WAITING and (self._thinner is None or self._thinner.keeps(stamp))
            self._kept[exposed] = keep
            while len(self._kept) > 4 * MOST_WAITING:
                del self._kept[next(iter(self._kept))]
        if self._kept[exposed]:
            self._pictures.put((topic, bytes(data), stamp if abs(self.seconds() - stamp) < LATEST else self.seconds()))

    def _pack(self) -> None:
        while (job := self._pictures.get()) is not None:
            topic, data, stamp = job
            qos = self._offered[topic]
            small = None if self.parameters.raw else compressed(deserialize_message(data, Image))
            if small is None:
                self.file.write_bytes(topic, IMAGE, definition_of(IMAGE), data, stamp, qos)
            else:
                self.file.write_bytes(f"{topic}/{small[0]}", COMPRESSED, definition_of(COMPRESSED), serialize_message(small[1]), stamp, qos)


def _offered(profile: QoSProfile) -> OfferedQos:
    """Of a publisher; how many messages it keeps is not told to everybody by every middleware: the usual number then."""
    reliable, latched = profile.reliability != ReliabilityPolicy.BEST_EFFORT, profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    return OfferedQos(profile.depth or (LATCHED.depth if latched else USUAL.depth), reliable, latched)


def compressed(message: Image) -> tuple[str, CompressedImage] | None:
    """The end of the topic's name and the smaller message, as ROS's image transports have them; None for an encoding that has none.

    Depth in metres becomes whole millimetres.
    """
    pixels = {"rgb8": 3, "bgr8": 3, "16UC1": 2, "mono16": 2, "32FC1": 4}.get(message.encoding)
    if pixels is None or message.is_bigendian:
        return None
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)[:, : pixels * message.width]
    if pixels == 3:
        picture = rows.reshape(message.height, message.width, 3)
        data = to_jpeg(picture if message.encoding == "rgb8" else picture[..., ::-1])
        small = CompressedImage(header=message.header, format=COLOR_FORMAT)
    else:
        depth = np.ascontiguousarray(rows).view(np.uint16 if pixels == 2 else np.float32)
        data = depth_to_png(np.asarray(depth, np.uint16) if pixels == 2 else millimetres(depth))
        small = CompressedImage(header=message.header, format=DEPTH_FORMAT)
    small.data.frombytes(data)
    return ("compressed" if pixels == 3 else "compressedDepth"), small


def main() -> int:
    """Run the node."""
    return run_node(SessionRecorderNode, threads=2)


if __name__ == "__main__":
    sys.exit(main())
