"""Publishes a recording again, at its own pace, with ``/clock``: perception and memory cannot tell it from the robot."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CompressedImage

from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.node import DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.nodes.session_recorder_node import COMPRESSED, SENSES
from deskhand.recording.frames import color_of, depth_of, stamp_of
from deskhand.recording.reader import Record, Recording

CLOCK_PERIOD = 0.01  # [s] of wall time between ticks of the clock
LONGEST_GAP = 2.0  # [s] of recorded time: the recording was interrupted; the pause is left out
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
USUAL = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)


@dataclass
class Parameters:
    """Parameters of the node.

    Attributes:
        file: recording, or a folder with one.
        rate: 1 for the recorded pace, 2 for twice as fast.
        again: from the beginning when it is at its end.
        everything: also what the robot made of its senses, which nodes that run beside may publish, too.
    """

    file: str = ""
    rate: float = 1.0
    again: bool = False
    everything: bool = False


class ReplayNode(DeskhandNode):
    """Node ``replay``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("replay", **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        if not self.parameters.rate > 0:
            raise DeskhandError("config_error", f"the rate must be positive, got {self.parameters.rate}.")
        self._recording = Recording(Path(self.parameters.file))
        self._ticks = self.create_publisher(Clock, "/clock", QoSProfile(depth=1))
        self._topics: dict[str, Publisher | None] = {}
        self._senses = {name.lstrip("/") for name in SENSES}
        self._stop = threading.Event()
        self.published = 0
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)

    def health(self) -> Health:
        """See base."""
        return Health(values={"recording": str(self._recording.path), "messages": self.published})

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._play()
            if not self.parameters.again:
                break
        if not self._stop.is_set():
            print(f"replayed {self._recording.path}: {self.published} messages", flush=True)
            self.context.try_shutdown()

    def _play(self) -> None:
        now: float | None = None
        wall = time.monotonic()
        for record in self._recording.in_time():
            gap = 0.0 if now is None else record.stamp - now
            if now is None or not -LONGEST_GAP < gap < LONGEST_GAP:
                now, wall = record.stamp, time.monotonic()  # the beginning, or another stretch
                self._tick(now)
            while record.stamp > now:  # let time come to the record, tick by tick
                if self._stop.wait(max(0.0, wall + CLOCK_PERIOD - time.monotonic())):
                    return
                wall += CLOCK_PERIOD
                now = min(record.stamp, now + CLOCK_PERIOD * self.parameters.rate)
                self._tick(now)
            self._publish(record)

    def _tick(self, now: float) -> None:
        self._ticks.publish(Clock(clock=conversions.time_to_msg(now)))

    def _publish(self, record: Record) -> None:
        publisher = self._publisher(record)
        if publisher is None or (record.datatype == COMPRESSED and not publisher.get_subscription_count()):
            return  # unpacking pictures for nobody would cost most of the time
        if publisher.msg_type is not CompressedImage and record.datatype == COMPRESSED:
            message = record.message
            picture = depth_of(message) if record.topic.endswith("/compressedDepth") else color_of(message)
            publisher.publish(conversions.image_to_msg(picture, stamp_of(message), message.header.frame_id))
        else:
            publisher.publish(record.data)
        self.published += 1

    def _publisher(self, record: Record) -> Publisher | None:
        """For the record's topic, that of the whole picture where it was compressed; None for what is not to be replayed."""
        if record.topic not in self._topics:
            plain = record.topic.removesuffix("/compressed").removesuffix("/compressedDepth")
            wanted = self.parameters.everything or any(plain.endswith(f"/{name}") for name in self._senses)
            package, name = ("sensor_msgs", "Image") if plain != record.topic else record.datatype.split("/msg/")
            quality = LATCHED if plain.endswith("/tf_static") else USUAL
            try:
                kind = getattr(import_module(f"{package}.msg"), name)
                self._topics[record.topic] = self.create_publisher(kind, plain, quality) if wanted else None
            except (ImportError, AttributeError) as error:
                self.get_logger().error(f"{record.topic} is not replayed: {error}")
                self._topics[record.topic] = None
        return self._topics[record.topic]


def main() -> int:
    """Run the node."""
    return run_node(ReplayNode, threads=2)


if __name__ == "__main__":
    sys.exit(main())
