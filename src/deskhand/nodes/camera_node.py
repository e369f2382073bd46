"""Publishes a camera while the node is active (nodes/managed.py): camera_info with every exposure, colour and aligned depth while somebody listens.

What became of its frames is on ``/diagnostics``. Colour is rgb8, depth 16UC1 in millimetres where the camera counts so, else 32FC1 in metres (REP 118);
the frame is the optical one: x right, y down, z forward (REP 103).
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, fields, replace
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from deskhand.cameras.base import CameraHealth, Exposure, RgbdDriver, StreamSettings
from deskhand.cameras.config import load_camera
from deskhand.cameras.drivers import make_driver
from deskhand.cameras.rectify import Rectifier
from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.managed import ManagedNode
from deskhand.nodes.node import run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.recording.frames import COLOR, DEPTH, INFO
from deskhand.types import CameraIntrinsics

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
PICTURES = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
SILENT = 2.0  # [s] without a picture: the camera is taken to be gone
RETRY = 1.0  # [s] between attempts to get it back
READER_ENDS = 5.0  # [s] that a deactivation waits for the camera's library; what it gives later is published no more


@dataclass(frozen=True)
class Parameters(StreamSettings):
    """Parameters of the node, besides those of StreamSettings.

    Attributes:
        driver: one of cameras/drivers.py.
        file: recording or folder for the driver ``file``.
        mount: name in config/cameras or file: published on /tf_static, and its intrinsics, if it has any, replace the driver's; empty: neither.
    """

    driver: str = "realsense"
    file: str = ""
    mount: str = ""


class CameraNode(ManagedNode):
    """Node ``camera``; configured, the camera is open and streams, and nobody reads."""

    def __init__(self, driver: RgbdDriver | None = None, **kwargs: Any) -> None:
        super().__init__("camera", **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        settings = StreamSettings(**{item.name: getattr(self.parameters, item.name) for item in fields(StreamSettings)})
        mount = load_camera(self.parameters.mount) if self.parameters.mount else None
        settings = replace(settings, frame_id=mount.child) if mount is not None else settings
        self._driver = driver or make_driver(self.parameters.driver, settings, self.parameters.file)
        self.frames = CameraHealth()
        self._own = Rectifier(mount.intrinsics, mount.distortion) if mount is not None and mount.intrinsics is not None else None
        self._intrinsics: CameraIntrinsics | None = None  # of the newest picture that was made
        self._color, self._depth = (self.create_publisher(Image, topic, PICTURES) for topic in (COLOR, DEPTH))
        self._info = self.create_publisher(CameraInfo, INFO, PICTURES)
        if mount is not None:
            self._static = self.create_publisher(TFMessage, "/tf_static", LATCHED)
            self._static.publish(TFMessage(transforms=[conversions.transform_to_msg(mount.parent, mount.child, mount.pose, 0.0)]))
        self._stop = threading.Event()  # of the reader: each has its own
        self._reader: threading.Thread | None = None
        self._publishing = threading.Lock()
        self._told = (time.monotonic(), 0)

    def configure(self) -> None:
        """Open the camera and let it stream; one that is not there yet is waited for when the node is active.

        Raises:
            DeskhandError: ``missing_dependency``, ``config_error``, ``invalid_input``: what waiting does not mend.
        """
        try:
            self._driver.connect()
        except DeskhandError as error:
            if not error.retry:
                self._driver.close()
                raise
            self._lost(error)

    def activate(self) -> None:
        """Publish what the camera sees. Raises ``busy`` while the last reader still waits for the camera's library."""
        if self._reader is not None and self._reader.is_alive():
            raise DeskhandError("busy", "the camera is still being waited for, since the node was deactivated.", retry=True)
        self._stop = threading.Event()
        self._reader = threading.Thread(target=self._run, args=(self._stop,), name="camera", daemon=True)
        self._reader.start()

    def deactivate(self) -> None:
        """Publish nothing more."""
        self._stop.set()
        if self._reader is not None:
            self._reader.join(timeout=READER_ENDS)
        with self._publishing:
            self.frames.paused()

    def cleanup(self) -> None:
        """Let the camera go."""
        self._driver.close()
        self._intrinsics = None  # the next one may be another

    def _run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self._take(self._driver.read(SILENT), stop)
            except DeskhandError as error:
                if error.code == "cancelled":
                    self.frames.lost(str(error))
                    self.get_logger().info(str(error))
                    return
                self._lost(error)
                self._recover(stop)

    def _take(self, taken: Exposure, stop: threading.Event) -> None:
        with self._publishing:
            if not stop.is_set() and self.frames.takes(taken, time.time()):
                self._publish(taken)

    def _publish(self, taken: Exposure) -> None:
        """camera_info with every exposure; pictures to those who listen: one for nobody is not even aligned, but for the first, which tells the intrinsics."""
        color, depth, stamp = self._color.get_subscription_count(), self._depth.get_subscription_count(), taken.stamp
        if not color and not depth and self._intrinsics is not None:
            self._info.publish(conversions.camera_info_to_msg(self._intrinsics, stamp))
            return
        image = taken.image()
        if self._own is not None:
            image = self._own.apply(image)
        self._intrinsics = k = image.intrinsics
        self._info.publish(conversions.camera_info_to_msg(k, stamp))
        if color:
            self._color.publish(conversions.image_to_msg(image.color, stamp, k.frame_id))
        if depth:
            in_millimetres = abs(image.unit - 0.001) < 1e-9
            self._depth.publish(conversions.image_to_msg(image.depth if in_millimetres else image.metres(), stamp, k.frame_id))

    def _lost(self, error: DeskhandError) -> None:
        if not self.frames.error:
            self.get_logger().error(f"the camera is silent: {error}")
        self.frames.lost(str(error))

    def _recover(self, stop: threading.Event) -> None:
        while not stop.wait(RETRY):
            try:
                self._driver.recover()
            except DeskhandError as error:
                self._lost(error)
                continue
            self.frames.back()
            self._intrinsics = None  # it may be another one
            self.get_logger().info("the camera streams again")
            return

    def device_health(self) -> Health:
        """See base."""
        health, now = self.frames, time.monotonic()
        before, published = self._told
        rate, self._told = (health.published - published) / (now - before), (now, health.published)
        slow = rate < 0.7 * self.parameters.rate and health.published > 0
        level = "error" if health.error else "warning" if slow else "ok"
        counts = {"rate": f"{rate:.2f}", "published": health.published, "dropped": health.dropped, "stale": health.stale, "reconnects": health.reconnects}
        return Health(level, health.error or f"{rate:.1f} Hz of {self.parameters.rate}", counts, self.parameters.serial or self.parameters.driver)


def main() -> int:
    """Run the node."""
    return run_node(CameraNode, threads=2)


if __name__ == "__main__":
    sys.exit(main())
